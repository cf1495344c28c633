/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "reading big.db: 41 million rows" on a terminal, while a report takes longer than a moment. One
 * per file; for the thread that reads it.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_PROGRESS_H
#define CUDA_TRACE_REPORT_REPORT_PROGRESS_H

#include <stdint.h>

struct progress;

/* NULL where nobody would see it, which all others take. */
struct progress *progress__new(const char *path);
void progress__rows(struct progress *progress, uint64_t rows);
/* Takes the line away, for what is printed next. */
void progress__clear(struct progress *progress);
void progress__free(struct progress *progress);

#endif
