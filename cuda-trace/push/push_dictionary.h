/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of an OTLP request with profiles: equal elements are in them once, and element 0 is
 * the empty one. One thread.
 */
#ifndef CUDA_TRACE_PUSH_PUSH_DICTIONARY_H
#define CUDA_TRACE_PUSH_PUSH_DICTIONARY_H

#include "cuda-trace/base/key_index.h"
#include "cuda-trace/export/export_mappings.h"
#include "cuda-trace/export/export_stack_tree.h"
#include "cuda-trace/push/push_arena.h"
#include "generated/otlp.pb-c.h"

/* Elements are compared by their packed form. */
struct push_table {
	void **list;
	size_t count, capacity;
	struct key_index index;
};

struct push_dictionary {
	struct push_arena arena; /* its user may take from it, too */
	struct push_table strings, functions, locations, attributes, stacks, mappings;
	struct mapped_files files;
	bool failed;
};

enum push_frame_type { PUSH_FRAME_NATIVE, PUSH_FRAME_PYTHON, PUSH_FRAME_CUDA };

/* 0 or -ENOMEM. */
int push_dictionary__init(struct push_dictionary *dictionary);
int32_t push_dictionary__string(struct push_dictionary *dictionary, const char *text);
int32_t push_dictionary__number(struct push_dictionary *dictionary, const char *key,
				int64_t number);
/* The path from a leaf to its process, without it. `locations` has a place for each node of the
 * tree, 0 at first: so each becomes a location once. */
int32_t push_dictionary__stack(struct push_dictionary *dictionary, const struct stacks *stacks,
			       uint32_t leaf, int32_t *locations);
/* Into the message, which lives as long as the dictionary. 0 or -ENOMEM, also where something
 * before found no memory. */
int push_dictionary__finish(struct push_dictionary *dictionary, Otlp__Dictionary *message);
void push_dictionary__free(struct push_dictionary *dictionary);

#endif
