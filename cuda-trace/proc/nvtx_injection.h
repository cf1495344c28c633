/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVTX_INJECTION64_PATH for the PROGRAMs that a command starts. Called on the tool's one thread.
 */
#ifndef CUDA_TRACE_PROC_NVTX_INJECTION_H
#define CUDA_TRACE_PROC_NVTX_INJECTION_H

/* Puts the agent's companion for NVTX, which lies beside the agent, into the environment, unless
 * the user put something there himself. Says so on stderr where it is not installed. */
void nvtx_injection__offer(const char *agent);

#endif
