/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table reports: one file report/NAME.sql each, carried inside the tool. A file begins with
 * comments that say what it is, and has sections, each of one statement:
 *   -- Title: what the table shows
 *   -- Needs: TABLE ...   without these the report is skipped, with a message
 *   -- Sampled: yes       with record --sample, the rows are of its windows, which a message says
 *   -- Group: NAME        the statement's rows are grouped into temp.NAME, see groups__make_table()
 *   -- Spans: NAME        the union of the statement's spans goes to temp.NAME
 *   -- Table:             the statement that makes the report
 */
#ifndef CUDA_TRACE_REPORT_REPORT_SECTIONS_H
#define CUDA_TRACE_REPORT_REPORT_SECTIONS_H

#include <stdio.h>
#include "cuda-trace/report/report_file.h"
#include "cuda-trace/report/report_output.h"

/* The n-th report's name, NULL after the last. */
const char *sections__name(size_t n);
/* Writes the report; a table that the file lacks is said on stderr. 0 or -errno, printed. */
int sections__report(const struct report_file *file, const char *name, FILE *out,
		     enum report_format format, int64_t limit);
/* Has the file any rows for this report? */
bool sections__any(const struct report_file *file, const char *name);

#endif
