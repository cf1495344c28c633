/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must be known about a process before the agent is loaded into it, or why it must not be.
 * Only reads; the process notices nothing. Any thread.
 */
#ifndef CUDA_TRACE_INJECT_INJECTION_TARGET_H
#define CUDA_TRACE_INJECT_INJECTION_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARGET_ENTRIES_MAX  2048 /* libcuda 13.0 exports 674 functions */
#define TARGET_FREQUENT_MAX 64
#define TARGET_REASON_SIZE  160
#define TARGET_PATH_SIZE    256

/* A range of addresses that the process has mapped. */
struct address_range {
	uint64_t start, end;
};

struct injection_target {
	uint32_t pid;
	int memory;	  /* /proc/PID/mem, or -1 */
	char libcuda[64]; /* a path of the mapped file that this process can open */
	uint64_t entries[TARGET_ENTRIES_MAX]; /* addresses of what libcuda exports */
	uint64_t offsets[TARGET_ENTRIES_MAX]; /* the same in its file */
	uint32_t entry_count;
	/* Indices of the few that programs call all the time, or that make graphs: for kernels that
	 * take a probe of its own for each. */
	uint32_t frequent[TARGET_FREQUENT_MAX];
	uint32_t frequent_count;
	struct address_range loader; /* code of ld.so */
	uint64_t dlopen, dlsym, errno_location;
	uint64_t code;	 /* at least TARGET_CODE_SIZE unused bytes in executable pages */
	uint32_t signal; /* one that the process ignores */
	uint64_t start;	 /* of the process, in clock ticks after boot: its number may be reused */
	char agent[TARGET_PATH_SIZE]; /* the library, as the process has mapped it; "" = it has not
				       */
	bool filtered;		      /* by seccomp: see seccomp_filter.h */
	bool forked; /* without an exec after that, by a process that maps the same libcuda */
	char reason[TARGET_REASON_SIZE]; /* why it cannot be done; plain text */
};

#define TARGET_CODE_SIZE 256

/* 0, or -errno with target->reason set: -EAGAIN where another attempt may succeed,
 * -EALREADY where another tool attaches. */
int injection_target__open(struct injection_target *target, uint32_t pid);
/* Why a thread of it may not be seized: as injection_target__open(). */
int injection_target__refused(struct injection_target *target);
void injection_target__close(struct injection_target *target);
/* Whether the address is at (or within the first instructions of) a function that libcuda exports.
 */
bool injection_target__is_entry(const struct injection_target *target, uint64_t address);
/* ns of CPU time that the thread has used; 0 = not known. */
uint64_t injection_target__thread_cpu(uint32_t pid, int thread);

#endif
