/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -k REGEX: is a kernel's name wanted?
 */
#ifndef CUDA_TRACE_BASE_PATTERN_H
#define CUDA_TRACE_BASE_PATTERN_H

#include <stdbool.h>

struct pattern;

/* expression NULL = everything matches. NULL after a line on stderr if it is invalid. */
struct pattern *pattern__new(const char *expression);
void pattern__free(struct pattern *pattern);
bool pattern__matches(struct pattern *pattern, const char *text);

#endif
