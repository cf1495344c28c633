/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When to read an energy counter, and from readings to steps. The driver updates a counter from
 * time to time, and a step that ends where it did so has the energy of its own time. Reading takes
 * 3 ms on an H100, so that looking for updates all the time is too much. But that driver updates
 * the counter every 100 ms exactly. So the first updates are looked for, and if they come
 * regularly, the counter is read right after each one that is expected: docs/internals/energy.md.
 * Otherwise it is read often, as far as a twentieth of a CPU allows, and a step ends where it was
 * seen to change.
 */
#ifndef CUDA_TRACE_ENERGY_ENERGY_READING_H
#define CUDA_TRACE_ENERGY_ENERGY_READING_H

#include <stdbool.h>
#include <stdint.h>

enum energy_reading_kind {
	ENERGY_NO_STEP,
	ENERGY_STEP,
	ENERGY_BACKWARDS, /* the counter began anew: the driver was reloaded */
};

enum energy_updates { ENERGY_UPDATES_UNKNOWN, ENERGY_UPDATES_REGULAR, ENERGY_UPDATES_IRREGULAR };

/* Times in ns. All 0 at first. */
struct energy_reading {
	uint64_t time; /* where the last step ended; 0 = not read yet */
	uint64_t millijoules;
	uint64_t due;  /* the next reading */
	uint64_t read; /* the last one, */
	uint64_t seen; /* its value, */
	uint64_t cost; /* and how long it took: a mean */
	bool missed;   /* it came too early */
	bool near;     /* it was after all updates but the one that ends the step */
	bool waits;    /* set by the caller: another one's updates are looked for */
	enum energy_updates updates;
	uint64_t update;	   /* the last one, as far as is known */
	uint64_t period;	   /* between two */
	uint64_t since;		   /* updates are looked for, */
	uint64_t first;		   /* the first one, */
	uint32_t found;		   /* how many since, */
	uint64_t nearest, longest; /* and the time between two */
	int64_t margin; /* the reading after an update that is expected: it varies, to find both
			   sides of the update */
};

struct energy_span {
	uint64_t from, to, millijoules;
};

/* A reading from `began` to `ended`. least: so long are steps at least (energy_reading__least()).
 * `last`: a step ends here in any case. */
enum energy_reading_kind energy_reading__next(struct energy_reading *reading, uint64_t began,
					      uint64_t ended, uint64_t millijoules, uint64_t least,
					      bool last, struct energy_span *step);
/* With readings of all counters that together take so long. */
uint64_t energy_reading__least(uint64_t cost);

#endif
