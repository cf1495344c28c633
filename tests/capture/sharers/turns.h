/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A GPU whose driver gives it to one process at a time, as measured on an H100
 * (docs/measurements/h100/energy-2026-11-26.txt): 2.14 ms for one, then 0.14 ms to change to the
 * next that has work, in a fixed order; at once if the one has none. Four processes: one always has
 * a kernel of 4 ms, the others have shorter ones than a slice, with pauses. All times in us.
 */
#ifndef TESTS_SHARERS_TURNS_H
#define TESTS_SHARERS_TURNS_H

#define TURNS_PROCESSES 4
#define TURNS_MAX_US	100000 /* no kernel ends so long after the last time */

struct turns_span {
	unsigned long from, to;
};

/* A process: spans of its kernels, and how long it really had the GPU. */
struct turns {
	struct turns_span *spans;
	unsigned int count;
	double ran;
};

void turns__add(struct turns *process, unsigned long from, unsigned long to);
/* What each of them did from time 0 to `until`. */
void turns__plan(struct turns processes[TURNS_PROCESSES], unsigned long until);

#endif
