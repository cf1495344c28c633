/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles of an interval as one request of OTLP. One thread. */
#ifndef CUDA_TRACE_PUSH_PUSH_OTLP_H
#define CUDA_TRACE_PUSH_PUSH_OTLP_H

#include "cuda-trace/push/push_labels.h"

#define PUSH_OTLP_PROFILES 2 /* of a source, at most */

struct push_otlp;

/* Times in ns since 1970. NULL = no memory. */
struct push_otlp *push_otlp__new(const struct push_common_labels *labels, uint64_t from,
				 uint64_t until);
/* How many profiles a tree becomes: GPU time and kernels, or PC samples. */
size_t push_otlp__profiles(const struct stacks *stacks);
int push_otlp__add(struct push_otlp *otlp, const struct push_source *source,
		   const struct stacks *stacks);
/* Frees it; the body is the caller's. */
int push_otlp__end(struct push_otlp *otlp, uint8_t **body, size_t *size);

/* How many profiles the receiver did not take, as its answer says. */
uint64_t push_otlp__rejected(const uint8_t *answer, size_t size);

#endif
