/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The causes, and what was found of each.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_CAUSES_H
#define CUDA_TRACE_IDLE_IDLE_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

/* X(enumerator, stable key, text). Their numbers are in recordings: only append. */
#define IDLE_CAUSES(X)                                                     \
	X(UNEXPLAINED, "unexplained", "unexplained")                       \
	X(CPU, "cpu", "the launching thread was on the CPU")               \
	X(PREEMPTED, "preempted", "another task had its CPU")              \
	X(LOCK, "lock", "waiting for a lock or a condition")               \
	X(GIL_WAIT, "gil", "waiting for Python's global interpreter lock") \
	X(IO, "io", "waiting for I/O")                                     \
	X(PROCESS, "process", "waiting for another process or thread")     \
	X(CALL, "cuda_call", "in a CUDA call")                             \
	X(LAUNCH, "launch", "launch-bound: in the launch itself")          \
	X(NO_WORK, "no_work", "no work to do: waiting for a request")      \
	X(SLEEP, "sleep", "asleep on purpose")                             \
	X(QUEUED, "queued", "between operations that were queued")         \
	X(COLLECTIVE, "collective", "waiting for the last rank of a collective")

enum idle_cause {
#define IDLE_CAUSE_ENUMERATOR(name, key, text) IDLE_##name,
	IDLE_CAUSES(IDLE_CAUSE_ENUMERATOR)
#undef IDLE_CAUSE_ENUMERATOR
		IDLE_CAUSE_COUNT
};

extern const char *const idle_cause_keys[IDLE_CAUSE_COUNT];
extern const char *const idle_cause_texts[IDLE_CAUSE_COUNT];

#define IDLE_PLACE_LEN	  160
#define IDLE_PLACES_SHOWN 8

/* Where: a call, a function, a file, a process; untrusted. */
struct idle_place_sum {
	char text[IDLE_PLACE_LEN];
	uint64_t ns;
	uint64_t gaps;
};

struct idle_cause_sum {
	enum idle_cause cause;
	uint64_t ns;	  /* of all gaps with this cause */
	uint64_t path_ns; /* of these, how long the path was in it */
	uint64_t gaps;
	uint32_t place_count;
	struct idle_place_sum places[IDLE_PLACES_SHOWN]; /* longest first */
};

#endif
