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
/* The same of any thread of it. */
char process_stat__thread_state(uint32_t pid, uint32_t thread);
/* Does that state mean that it runs no code any more? Its number is in use until it is reaped. */
bool process_stat__is_end(char state);
/* When it began, in clock ticks after boot; 0 = it has gone. With the number, this identifies a
 * process. */
uint64_t process_stat__start(uint32_t pid);
/* The same in ns on CLOCK_MONOTONIC, at most one process_stat__tick_ns() too early; 0 = it has
 * gone, 1 = before that clock began. */
uint64_t process_stat__start_ns(uint32_t pid);
uint64_t process_stat__tick_ns(void);

#endif
