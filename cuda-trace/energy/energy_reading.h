/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From readings of a counter to steps. A driver updates the counter every 20 to 100 ms. It is read
 * more often, and a step ends where the counter was seen to change, so that the step has the energy
 * of its own time but for some milliseconds. Steps have at least 80 ms, to be few.
 */
#ifndef CUDA_TRACE_ENERGY_ENERGY_READING_H
#define CUDA_TRACE_ENERGY_ENERGY_READING_H

#include <stdbool.h>
#include <stdint.h>

#define ENERGY_READ_MS 10

enum energy_reading_kind {
	ENERGY_NO_STEP,
	ENERGY_STEP,
	ENERGY_BACKWARDS, /* the counter began anew: the driver was reloaded */
};

struct energy_reading {
	uint64_t time; /* ns, where the last step ended; 0 = not read yet */
	uint64_t millijoules;
	uint64_t seen; /* by the last reading */
};

/* `last`: a step ends here in any case. */
enum energy_reading_kind energy_reading__next(struct energy_reading *reading, uint64_t time,
					      uint64_t millijoules, bool last);
/* How long to wait when reading took `ns`: at most a fiftieth of a CPU is used. */
int energy_reading__pause_ms(uint64_t ns);

#endif
