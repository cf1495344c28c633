/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Since when each process was observed, and which processes were not: without this, a report could
 * not claim that nothing was lost. Used by the session; one thread.
 */
#ifndef CUDA_TRACE_CAPTURE_OBSERVATIONS_H
#define CUDA_TRACE_CAPTURE_OBSERVATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct observations;
struct process;

/* X(enumerator, stable key, text) */
#define UNOBSERVED_REASONS(X)                                                                \
	X(STILL_RUNS, "still_runs",                                                          \
	  "started by PROGRAM and still running: from now on not observed (-p PID does)")    \
	X(NOT_STARTED, "not_started_by_program",                                             \
	  "called cuInit() meanwhile and not started by PROGRAM, maybe by a daemon on its "  \
	  "behalf: not observed (-p PID or -a does)")                                        \
	X(ENDED_FIRST, "ended_first",                                                        \
	  "loaded libcuda and ended before its calls could be observed")                     \
	X(UNPROBED, "not_probed",                                                            \
	  "uses libcuda without a working injection library, and no probes could be set "    \
	  "in that libcuda: not observed")                                                   \
	X(UNATTACHED, "not_attached",                                                        \
	  "the probes of its injection library could not be attached to: not observed")      \
	X(NOT_YET, "not_yet",                                                                \
	  "the end came before its injection library was at work: not observed (observe it " \
	  "for longer, or run cuda-trace attach before)")

enum unobserved_reason {
#define UNOBSERVED_ENUMERATOR(name, key, text) UNOBSERVED_##name,
	UNOBSERVED_REASONS(UNOBSERVED_ENUMERATOR)
#undef UNOBSERVED_ENUMERATOR
};

/* A process whose calls are missing. */
struct unobserved {
	uint32_t pid;
	enum unobserved_reason reason;
	uint64_t start; /* process_stat__start(), 0 = it had ended */
	uint64_t since; /* ns, monotonic */
	char comm[16];	/* untrusted */
};

struct observations *observations__new(void);
/* Accepts NULL. */
void observations__free(struct observations *observations);
/* Its probes were attached at `since` (ns, monotonic); the first call for a process counts. A
 * process that started later is observed from its start. */
void observations__note(struct observations *observations, uint32_t pid, uint64_t since);
/* It waited, before its first call, until its probes were attached; the first call counts. */
void observations__note_whole(struct observations *observations, uint32_t pid);
/* The same, whatever was noted of it before. */
void observations__note_anew(struct observations *observations, uint32_t pid);
/* It was observed neither from its first call nor from its start: only from now on. */
enum observed_late {
	LATE_AS_MEANT, /* it was running before, or found by polling as this command does */
	LATE_LOST,     /* it should have been observed earlier: a loss, unless it was late before */
};
void observations__note_late(struct observations *observations, uint32_t pid,
			     enum observed_late how);
/* The agent was loaded just now, or it is certain that none will be: the process is observed from
 * now on, unless it was from its first call and no call came between (gapless). */
void observations__note_attached(struct observations *observations, uint32_t pid, bool gapless);
/* It has executed another program, or ended. */
void observations__forget(struct observations *observations, uint32_t pid);
/* Why it has no agent: a constant text. */
void observations__note_reason(struct observations *observations, uint32_t pid, const char *reason);
/* Fills in what is known of a process that ends, and forgets it. */
void observations__end(struct observations *observations, struct process *process);
/* Each process once a reason. */
void observations__miss(struct observations *observations, uint32_t pid,
			enum unobserved_reason reason);
/* It is observed after all: its agent has spoken, or its libcuda is probed. */
void observations__found(struct observations *observations, uint32_t pid);
/* Processes that should have been observed, and were not: from their first call, or at all. */
uint64_t observations__late(const struct observations *observations);
uint64_t observations__unobserved(const struct observations *observations);
/* A line for each of them; to be called at the end. */
void observations__say(const struct observations *observations, FILE *file);
/* The n-th process that was missed; NULL = there are no more. */
const struct unobserved *observations__missed(const struct observations *observations, uint32_t n);
const char *observations__key(enum unobserved_reason reason);
const char *observations__text(enum unobserved_reason reason);

#endif
