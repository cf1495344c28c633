/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line of kernels of a backward pass: PyTorch's autograd launches them from threads of its own,
 * on which no Python runs, while the thread that called backward() waits.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_BACKWARD_H
#define CUDA_TRACE_EXPORT_EXPORT_BACKWARD_H

#include "cuda-trace/export/export_callstacks.h"

/* In temp.launch_callstacks, gives such launches the chain of the call of backward() where it is
 * known. 0 or -errno, printed. */
int export_backward__find_calls(const struct report_file *file,
				const struct export_callstacks *callstacks);

#endif
