/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interned names of one process: id → mangled and demangled text. Bounded, because a process
 * can send whatever it likes: what exceeds its budget stays without a name, and is counted.
 */
#ifndef CUDA_TRACE_BASE_NAMES_H
#define CUDA_TRACE_BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct names;

struct names *names__new(void);
void names__free(struct names *names);
/* Keeps a copy; the first text of an id stays, so that pointers to it stay valid. */
void names__put(struct names *names, uint32_t id, const char *text, size_t length);
/* An id is shown without its name: counts it, once. names__missing() has also those whose text was
 * not kept. */
void names__note_missing(struct names *names, uint32_t id);
uint32_t names__missing(const struct names *names);
/* The handle behind an id, as long as it has no text: the first one stays. 0 = none. */
void names__note_handle(struct names *names, uint32_t id, uint64_t handle);
uint64_t names__handle(const struct names *names, uint32_t id);
/* NULL = unknown. */
const char *names__get(const struct names *names, uint32_t id);
/* Demangled at the first call; NULL = unknown. */
const char *names__pretty(struct names *names, uint32_t id);

#endif
