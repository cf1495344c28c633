/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands return: one of these, or the exit status of the program that they ran. */
#ifndef CUDA_TRACE_BASE_EXIT_STATUS_H
#define CUDA_TRACE_BASE_EXIT_STATUS_H

enum { EXIT_OK = 0, EXIT_TROUBLE = 1, EXIT_USAGE = 2 };

#endif
