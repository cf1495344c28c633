/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top on a terminal: draws pages and reads keys.
 */
#ifndef CUDA_TRACE_TOP_TOP_SCREEN_H
#define CUDA_TRACE_TOP_TOP_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/top/top_page.h"

/* Runs until the user quits, *stopped, or `count` intervals were shown (0 = no limit). 0 or -errno;
 * the terminal is as it was before. */
int top_screen__run(struct top_model *model, struct top_view *view, uint64_t interval_ns,
		    uint64_t count, bool colour, volatile sig_atomic_t *stopped);

#endif
