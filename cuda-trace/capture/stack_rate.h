/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides how many launches get a call stack, so that stacks take no more than a share of any
 * thread's time. One thread.
 */
#ifndef CUDA_TRACE_CAPTURE_STACK_RATE_H
#define CUDA_TRACE_CAPTURE_STACK_RATE_H

#include <stdint.h>

/* What it begins with, until rate and cost have been seen. */
#define STACK_PACE_FIRST 1000

struct stack_pace;

/* -g[=N]: one in so many launches; 0 = there is no probe for that. */
uint32_t stack_rate__parse(const char *text);
struct stack_pace *stack_rate__new(double percent);
/* A launch call of that thread. */
void stack_rate__launch(struct stack_pace *pace, uint32_t pid, uint32_t tid);
/*
 * Call it a few times a second, with what a stack takes of its thread's time. Answers one in how
 * many launches is to give its stack from now on: after the first second with launches as many as
 * are allowed, later only fewer, because a part of a recording with more of them would outweigh the
 * rest.
 */
uint32_t stack_rate__period(struct stack_pace *pace, uint64_t now_ns, uint64_t cost_ns);
void stack_rate__free(struct stack_pace *pace);

#endif
