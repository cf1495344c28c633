/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --at: a moment of the wall clock. No state.
 */
#ifndef CUDA_TRACE_CLI_START_TIME_H
#define CUDA_TRACE_CLI_START_TIME_H

#include <stddef.h>
#include <stdint.h>

/* "14:30[:05[.25]]" (local time, the next one), "@1790000000.5" (Unix time), "+2.5" (seconds from
 * `now`) or RFC 3339. `now` and *time: UTC, ns. 0; -EINVAL: none of these; -ERANGE: too far away;
 * -ETIME: in the past. */
int start_time__parse(const char *text, uint64_t now, uint64_t *time);
/* RFC 3339, in UTC, with nanoseconds. */
const char *start_time__utc(char *text, size_t size, uint64_t time);
/* "14:30:05", with the date if that is not the day of `now`; local time. */
const char *start_time__local(char *text, size_t size, uint64_t time, uint64_t now);

#endif
