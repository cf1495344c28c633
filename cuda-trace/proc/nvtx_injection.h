/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVTX_INJECTION64_PATH for the PROGRAMs that a command starts. Called on the tool's one thread.
 */
#ifndef CUDA_TRACE_PROC_NVTX_INJECTION_H
#define CUDA_TRACE_PROC_NVTX_INJECTION_H

/* Sets the variable to the companion library beside the agent, unless the user has set it. Prints a
 * message on stderr if that library is not installed. */
void nvtx_injection__offer(const char *agent);

#endif
