/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether an MPS server runs on this machine: then kernels of several processes may run on a GPU at
 * once, instead of taking turns. It is a process of that name, which anybody may give a process of
 * his own; what hangs on it is only how shares of a GPU are estimated (bpf/time_slice.h). A server
 * in a PID namespace that this one does not see is not found.
 */
#ifndef CUDA_TRACE_PROC_MPS_SERVER_H
#define CUDA_TRACE_PROC_MPS_SERVER_H

#include <stdbool.h>

/* Whether one runs now. Looks at every process, but not more often than that takes a tenth of the
 * time: then the answer is the last one. The tool's one thread. */
bool mps_server__runs(void);

#endif
