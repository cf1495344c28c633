/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What /proc/PID/stat says of a process. Any thread.
 */
#ifndef CUDA_TRACE_PROC_PROCESS_STAT_H
#define CUDA_TRACE_PROC_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>

/* 'R', 'S', 'Z' ... of its first thread; 0 = the process has gone. */
char process_stat__state(uint32_t pid);
/* The same for any of its threads. */
char process_stat__thread_state(uint32_t pid, uint32_t thread);
/* True if it runs no code any more in that state. Its pid is in use until it is reaped. */
bool process_stat__is_end(char state);
static inline bool process_stat__has_ended(uint32_t pid)
{
	return process_stat__is_end(process_stat__state(pid));
}
/* True if it runs none until somebody continues it. */
bool process_stat__is_stop(char state);
/* Its start time, in clock ticks after boot; 0 = it has ended. With the pid, this identifies a
 * process. */
uint64_t process_stat__start(uint32_t pid);
/* The same in ns on CLOCK_MONOTONIC, at most one process_stat__tick_ns() too early; 0 = it has
 * ended, 1 = before that clock began. */
uint64_t process_stat__start_ns(uint32_t pid);
uint64_t process_stat__tick_ns(void);

#endif
