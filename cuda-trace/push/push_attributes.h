/* SPDX-License-Identifier: BSD-2-Clause */
/* Who does something, as attributes of an OTLP resource, with OpenTelemetry's names. */
#ifndef CUDA_TRACE_PUSH_PUSH_ATTRIBUTES_H
#define CUDA_TRACE_PUSH_PUSH_ATTRIBUTES_H

#include "cuda-trace/push/push_arena.h"
#include "cuda-trace/push/push_labels.h"
#include "generated/otlp.pb-c.h"

#define PUSH_ATTRIBUTES_MAX 64

struct push_attributes {
	struct push_arena *arena;
	Otlp__KeyValue **list;
	size_t count;
};

/* False: no memory. */
bool push_attributes__begin(struct push_attributes *attributes, struct push_arena *arena);
/* Empty texts are left out; the first of a key stays. */
void push_attributes__text(struct push_attributes *attributes, const char *key, const char *text);
void push_attributes__number(struct push_attributes *attributes, const char *key, int64_t number);
/* source NULL: the host. NULL = no memory. */
Otlp__Resource *push_attributes__resource(struct push_arena *arena,
					  const struct push_common_labels *labels,
					  const struct push_source *source);

#endif
