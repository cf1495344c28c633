/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report without options: what stat would have printed.
 */
#ifndef CUDA_TRACE_COMMANDS_REPORT_SUMMARY_H
#define CUDA_TRACE_COMMANDS_REPORT_SUMMARY_H

#include "cuda-trace/report/report_file.h"
#include "cuda-trace/report/report_output.h"

/* At most so many rows of a table. 0 or -errno, printed. */
int report_summary__write(const struct report_file *file, enum report_format format, uint64_t most,
			  FILE *out);
/* Only why GPUs were idle, where the recording says what threads did; nothing as CSV. */
int report_summary__idle(const struct report_file *file, enum report_format format, FILE *out);

/* Joules by kernel and process, as stat --energy prints them. */
int report_summary__energy(const struct report_file *file, enum report_format format, uint64_t most,
			   FILE *out);

#endif
