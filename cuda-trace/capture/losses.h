/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints what was lost, by reason, as text and JSON. Nothing is lost silently.
 */
#ifndef CUDA_TRACE_CAPTURE_LOSSES_H
#define CUDA_TRACE_CAPTURE_LOSSES_H

#include <stdio.h>
#include "cuda-trace/capture/session.h"
#include "cuda-trace/cli/sheet.h"

const char *losses__key(enum session_lost reason);
const char *losses__text(enum session_lost reason);
const char *losses__agent_key(enum cuda_lost_reason reason);
const char *losses__agent_text(enum cuda_lost_reason reason);
/* True if losses__total() includes the reason. */
bool losses__is_in_total(enum session_lost reason);
bool losses__agent_is_in_total(enum cuda_lost_reason reason);
/* The sum of the reasons that count records, and one for each process that was not observed or
 * late: it is 0 only if no record is known to be missing. Not included: killed processes, names and
 * states, and parts that are missing in a record that arrived. */
uint64_t losses__total(const struct session_lost_counts *lost);
/* True if anything was lost, for whatever reason. */
bool losses__any(const struct session_lost_counts *lost);
/* True if nobody knows how much is missing of a process: a GPU that seems idle may have been busy.
 */
bool losses__unseen(const struct session_lost_counts *lost);
/* One line per reason; nothing if nothing was lost. */
void losses__say(FILE *file, const struct session_lost_counts *lost);
/* JSON: "lost": {"total": N, "reason": N, ...} with every reason. */
void losses__put(struct sheet *sheet, const struct session_lost_counts *lost);
/* "left_out": [{"kind": "files", "user": N, "count": N, "first": N, "reason": "..."}, ...] */
void losses__put_left_out(struct sheet *sheet, const struct left_out *left_out);
/* {"event":"lost", ...} */
void losses__write_json_line(FILE *file, const struct session_lost_counts *lost);
/* A sink's process_error: one line on stderr, at most three for a process. */
void losses__say_error(void *context, struct process *process, int code, const char *component,
		       const char *message);

/* Why a session has seen no CUDA process. started: the tool started a PROGRAM, and watched it. */
const char *losses__no_activity(bool started, const struct session_lost_counts *lost);

#endif
