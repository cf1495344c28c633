/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record --when: a flight recorder (--last) that ends some time after its trigger has fired. One
 * thread.
 */
#ifndef CUDA_TRACE_TRIGGER_TRIGGER_RECORDING_H
#define CUDA_TRACE_TRIGGER_TRIGGER_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/recording/store.h"
#include "cuda-trace/trigger/trigger.h"

struct trigger_recording {
	struct trigger_wanted wanted;
	struct trigger *trigger; /* NULL = the file is written at the end, whatever comes */
	uint64_t last, after;	 /* ns before and after it */
	uint32_t said;		 /* version of what fired that was said and stored */
	uint64_t until;		 /* ns: it has fired, and recording ends then; 0 = not yet */
};

/* After wanted was read; last, after: of the options, 0 = the defaults. False: no memory. */
bool trigger_recording__start(struct trigger_recording *recording, uint64_t last, uint64_t after);
/* Several times a second, before store__tick(), which drops what is older than is kept: whether
 * recording is over. `lost`: records, so far. */
bool trigger_recording__watch(struct trigger_recording *recording, struct store *store,
			      uint64_t lost);
/* At the end: whether a file is to be written; if not, says so. */
bool trigger_recording__fired(const struct trigger_recording *recording,
			      const struct session_lost_counts *lost);

#endif
