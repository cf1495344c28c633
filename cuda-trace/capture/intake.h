/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From events of the ring buffer to processes and records for the sink; counts what is missing.
 * Everything that comes from a process is checked here: it can send any bytes it likes.
 */
#ifndef CUDA_TRACE_CAPTURE_INTAKE_H
#define CUDA_TRACE_CAPTURE_INTAKE_H

#include <stddef.h>
#include "cuda-trace/capture/session.h"

struct intake;

struct observations;

/* observations: read as a process ends, which is forgotten then. */
struct intake *intake__new(const struct sink *sink, struct observations *observations);
void intake__free(struct intake *intake);
void intake__event(struct intake *intake, const struct event *event, size_t size);
/* True once the self-test's event has come. */
bool intake__selftest_came(const struct intake *intake);
/* What begins from this time on (ns) is not handed on. */
void intake__close_window(struct intake *intake, uint64_t end);
/* Every process has said that all it recorded before that time is sent. */
bool intake__has_all(const struct intake *intake);
/* Processes of which more can come. */
unsigned int intake__running(const struct intake *intake);
void intake__each(struct intake *intake, void (*visit)(void *context, struct process *process),
		  void *context);
/* Ends every process that is left. */
void intake__end_all(struct intake *intake);
/* Those whose end was kept back, see ends_last. */
void intake__tell_ends(struct intake *intake);
/* Agent's and own losses; `kernel` = the sums of the eBPF program's counters, `groups` what was
 * asked for (0: by somebody else). */
void intake__lost(const struct intake *intake, const struct stream_counters *kernel,
		  uint32_t groups, struct session_lost_counts *counts);

#endif
