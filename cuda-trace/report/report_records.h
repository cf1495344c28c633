/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording played to a sink, as if its events came from a session again: so `report` sums with
 * the same code as `stat`, and equal sums are no accident.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_RECORDS_H
#define CUDA_TRACE_REPORT_REPORT_RECORDS_H

#include "cuda-trace/report/report_file.h"
#include "cuda-trace/capture/session.h"

/* Times of a file may be negative; those of records are not. A day is enough for any session that
 * was running when the recording began. */
#define REPLAY_EPOCH (86400ull * 1000000000)

/* 0 or -errno, printed. Processes are made and freed inside. */
int report_records__run(const struct report_file *file, const struct sink *sink);
/* What the recording says was lost; zeros for files that do not say. */
void report_records__lost(const struct report_file *file, struct session_lost_counts *lost);
/* How long was recorded, ns. */
uint64_t report_records__duration(const struct report_file *file);

#endif
