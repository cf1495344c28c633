/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payloads of NVTX events of one process, put together from the parts that come before the event of
 * the same thread. Bounded: of a thread the last is kept, and of so many threads.
 */
#ifndef CUDA_TRACE_BASE_PAYLOAD_PARTS_H
#define CUDA_TRACE_BASE_PAYLOAD_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include "libcupti-usdt/probes.h"

struct names;
struct payload_parts;

void payload_parts__free(struct payload_parts *parts);
/* Makes *parts when needed. */
void payload_parts__add(struct payload_parts **parts, const struct cuda_nvtx_payload *part);
/* The event's payloads as JSON: an object, or an array of them if there are several. NULL: it has
 * none of that kind, or not all parts came. To be freed. */
char *payload_parts__json(const struct payload_parts *parts, const struct names *names,
			  const struct cuda_nvtx *event);

/* A payload that is a number, if it is a signed one or a real one; else it is as it stands. */
bool payload_parts__is_whole(const struct cuda_nvtx *event, int64_t *value);
bool payload_parts__is_real(const struct cuda_nvtx *event, double *value);

#endif
