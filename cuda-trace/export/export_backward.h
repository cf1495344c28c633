/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line of kernels of a backward pass: PyTorch's autograd launches them from threads of its own,
 * on which no Python runs, while the thread that called backward() waits.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_BACKWARD_H
#define CUDA_TRACE_EXPORT_EXPORT_BACKWARD_H

#include "cuda-trace/export/export_callstacks.h"

/* Makes temp.backward_calls (correlation, pid, chain) of such launches: the chain is that of the
 * call of backward(), where it is known. 0 or -errno, printed. */
int export_backward__find_calls(const struct report_file *file,
				const struct export_callstacks *callstacks);
/* An SQL expression: the chain that has the line of the row of table alias k, or NULL. */
#define LINE_CHAIN_OF_K                                                               \
	"coalesce((SELECT chain FROM temp.backward_calls AS l WHERE l.correlation = " \
	"k.correlationId AND l.pid = k.globalPid / 0x1000000), " CHAIN_OF_K ")"

#endif
