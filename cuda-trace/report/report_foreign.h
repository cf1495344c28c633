/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nsight Systems' own exports name NVTX ranges otherwise than recordings of ours do: a text stands
 * in the row unless the program registered it, and `domainId` is a number that a row of type 75
 * names. Temporary views give such a file our form: both are ids of StringIds.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_FOREIGN_H
#define CUDA_TRACE_REPORT_REPORT_FOREIGN_H

#include "cuda-trace/report/report_file.h"

/* On this handle; nothing for a file of ours or one without ranges. 0 or -EIO, printed. */
int report_foreign__adapt(const struct report_file *file);
/* The file as it is again. */
void report_foreign__undo(const struct report_file *file);

#endif
