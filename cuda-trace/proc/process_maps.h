/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be seen of a process from outside, without tracing it.
 */
#ifndef CUDA_TRACE_PROC_PROCESS_MAPS_H
#define CUDA_TRACE_PROC_PROCESS_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct inspection {
	bool readable;	/* its maps could be read */
	bool refused;	/* they may not be: another user's, without CAP_SYS_PTRACE */
	bool cuda;	/* maps libcuda.so, */
	bool cuda_code; /* and its code, as a linker or a debugger does not */
	bool agent;	/* maps libcupti-usdt.so */
	bool asleep;	/* which has no thread yet: no tool has attached */
	bool cupti;	/* maps some libcupti.so */
	uint32_t uid;
	char comm[16];		/* untrusted */
	char libcuda[256];	/* untrusted; as the process names it */
	char libcuda_range[40]; /* where it is mapped, as in /proc/PID/map_files */
	char nccl[256]; /* libnccl, or a libtorch that may contain it; the same; "" = none */
	char nccl_range[40];
};

/* 0, or -ESRCH. */
int process_maps__process(uint32_t pid, struct inspection *inspection);
/* Prints a line on stderr if nothing, or less than usual, can be traced of this process.
 * attaches: the agent is being loaded into it. */
void process_maps__remark(uint32_t pid, bool attaches);

#endif
