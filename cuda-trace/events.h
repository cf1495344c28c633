/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "kernels,copies" → the probe groups that have to be on. Used by metrics and top.
 */
#ifndef CUDA_TRACE_EVENTS_H
#define CUDA_TRACE_EVENTS_H

#include <stdint.h>

#define EVENTS_DEFAULT "kernels,copies,memory,sync"

/* groups: bits (1 << enum cuda_group). NULL, or the word that is not known. */
const char *events__parse(const char *list, uint32_t *groups);
/* All words, for messages. */
const char *events__words(void);

#endif
