/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code objects of one Python process: which function, and which line an instruction belongs to.
 */
#ifndef CUDA_TRACE_SYMBOLS_PYTHON_CODE_H
#define CUDA_TRACE_SYMBOLS_PYTHON_CODE_H

#include <stddef.h>
#include <stdint.h>
#include "bpf/event.h"

struct python_codes;
struct python_code;

/* `left`: bytes that this and other processes' may still take. */
struct python_codes *python_codes__new(size_t *left);
/* A later one with the same key is the same: the first stays. Beyond the limit none is kept. */
void python_codes__add(struct python_codes *codes, const struct event_code *event);
/* NULL = it has not come. */
const struct python_code *python_codes__find(const struct python_codes *codes, uint64_t code,
					     uint64_t key);
void python_codes__free(struct python_codes *codes);

/* Untrusted UTF-8; "" = could not be read. */
const char *python_code__file(const struct python_code *code);
const char *python_code__name(const struct python_code *code);
/* 0 = not known. */
int32_t python_code__line(const struct python_code *code, int32_t instruction);

#endif
