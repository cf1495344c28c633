/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads DWARF's numbers from bytes that are not trusted. */
#ifndef CUDA_TRACE_SYMBOLS_DWARF_CURSOR_H
#define CUDA_TRACE_SYMBOLS_DWARF_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

struct dwarf_cursor {
	const uint8_t *at, *end;
	uint64_t end_address; /* where `end` is when the file is loaded */
};

/* Each returns false, and may have read some bytes, where the bytes do not hold such a number. */
bool dwarf_cursor__unsigned(struct dwarf_cursor *cursor, uint64_t *value);
bool dwarf_cursor__signed(struct dwarf_cursor *cursor, int64_t *value);
/* Of that many bytes, 8 at most. */
bool dwarf_cursor__fixed(struct dwarf_cursor *cursor, int size, uint64_t *value);
/* 0 at the end. */
uint8_t dwarf_cursor__byte(struct dwarf_cursor *cursor);
/* NULL = it has no end. */
const char *dwarf_cursor__text(struct dwarf_cursor *cursor);
bool dwarf_cursor__skip(struct dwarf_cursor *cursor, uint64_t bytes);
/* DW_EH_PE_*: absolute, relative to itself, or to `data`. Indirect ones are not followed. */
bool dwarf_cursor__pointer(struct dwarf_cursor *cursor, uint8_t encoding, uint64_t data,
			   uint64_t *value);

#endif
