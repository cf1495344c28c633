/* SPDX-License-Identifier: BSD-2-Clause */
/* What warps wait for, in CUPTI's words. */
#ifndef CUDA_TRACE_PROFILE_PC_PC_REASON_H
#define CUDA_TRACE_PROFILE_PC_PC_REASON_H

#include <stdbool.h>

#define PC_MAX_REASONS	64
#define PC_REASON_BYTES 1024

/* "long_scoreboard": the name without what all of them have in common. CUPTI counts a sample a
 * second time, under another name, if the scheduler had nothing to issue: the same word, and true.
 */
bool pc_reason__split(const char *name, char word[PC_REASON_BYTES]);

#endif
