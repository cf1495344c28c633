/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a process that reads a foreign file may take. What counts is what the file can cause:
 * the processor's time, and the time for which a read blocks. Waiting for a processor is the
 * machine's load, so only a bound that no load reaches ends it.
 */
#ifndef CUDA_TRACE_FOREIGN_FOREIGN_ALLOWANCE_H
#define CUDA_TRACE_FOREIGN_FOREIGN_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct foreign_allowance {
	uint32_t cpu_ms; /* what it may use */
	uint64_t begin;	 /* ms, monotonic */
	uint64_t seen;	 /* ms: when it was looked at last */
	uint64_t blocked_ms;
};

/* What is known of the process at one look. */
struct foreign_progress {
	uint64_t now;	 /* ms, monotonic */
	uint64_t cpu_ms; /* used so far */
	char state;	 /* as in /proc/PID/stat; 'R' also waits for a processor; 0 = unknown */
};

/* Between two looks, in ms. */
#define FOREIGN_ALLOWANCE_SLICE 50

void foreign_allowance__begin(struct foreign_allowance *allowance, uint32_t cpu_ms, uint64_t now);
/* False: the time is over. To be called after each slice in which nothing came. */
bool foreign_allowance__charge(struct foreign_allowance *allowance,
			       const struct foreign_progress *progress);
/* Reads what is known of a child. */
struct foreign_progress foreign_allowance__look(pid_t child, uint64_t now);

#endif
