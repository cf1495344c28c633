// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/symbols/dwarf_cursor.h"

#include <stddef.h>
#include <string.h>

#define RELATIVE_TO_ITSELF 0x10 /* DW_EH_PE_pcrel */
#define RELATIVE_TO_DATA   0x30 /* DW_EH_PE_datarel */

/* Bits that fit nowhere are dropped; `bits` = how many were read. */
static bool read_leb128(struct dwarf_cursor *cursor, uint64_t *value, unsigned int *bits)
{
	*value = 0;
	for (*bits = 0; cursor->at < cursor->end;) {
		uint8_t byte = *cursor->at++;

		if (*bits < 64)
			*value |= (uint64_t)(byte & 0x7f) << *bits;
		*bits += *bits < 64 ? 7 : 0;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

bool dwarf_cursor__unsigned(struct dwarf_cursor *cursor, uint64_t *value)
{
	unsigned int bits;

	return read_leb128(cursor, value, &bits);
}

bool dwarf_cursor__signed(struct dwarf_cursor *cursor, int64_t *value)
{
	unsigned int bits;
	uint64_t raw;

	if (!read_leb128(cursor, &raw, &bits))
		return false;
	if (bits < 64 && raw >> (bits - 1) & 1)
		raw |= ~0ull << bits;
	*value = raw;
	return true;
}

bool dwarf_cursor__fixed(struct dwarf_cursor *cursor, int size, uint64_t *value)
{
	*value = 0;
	if (cursor->end - cursor->at < size)
		return false;
	memcpy(value, cursor->at, (size_t)size);
	cursor->at += size;
	return true;
}

uint8_t dwarf_cursor__byte(struct dwarf_cursor *cursor)
{
	uint64_t value;

	return dwarf_cursor__fixed(cursor, 1, &value) ? (uint8_t)value : 0;
}

const char *dwarf_cursor__text(struct dwarf_cursor *cursor)
{
	const uint8_t *end = memchr(cursor->at, 0, (size_t)(cursor->end - cursor->at));
	const char *found = (const char *)cursor->at;

	if (!end)
		return NULL;
	cursor->at = end + 1;
	return found;
}

bool dwarf_cursor__skip(struct dwarf_cursor *cursor, uint64_t bytes)
{
	if (bytes > (uint64_t)(cursor->end - cursor->at))
		return false;
	cursor->at += bytes;
	return true;
}

/* DW_EH_PE_*: bytes of a number, below 0 = with a sign. 0 = none that has a fixed size. */
static int size_of(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case 0x00: /* DW_EH_PE_absptr */
	case 0x04: /* DW_EH_PE_udata8 */
		return 8;
	case 0x02:
		return 2;
	case 0x03:
		return 4;
	case 0x0a: /* DW_EH_PE_sdata2 */
		return -2;
	case 0x0b:
		return -4;
	case 0x0c:
		return -8;
	}
	return 0;
}

bool dwarf_cursor__pointer(struct dwarf_cursor *cursor, uint8_t encoding, uint64_t data,
			   uint64_t *value)
{
	uint64_t itself = cursor->end_address - (cursor->end - cursor->at);
	int size = size_of(encoding);
	ptrdiff_t bytes = size < 0 ? -size : size;

	/* A personality routine is indirect: where it lies is not needed. */
	if (!size || cursor->end - cursor->at < bytes)
		return false;
	*value = 0;
	memcpy(value, cursor->at, bytes);
	cursor->at += bytes;
	if (size < 0 && bytes < 8 && *value >> (8 * bytes - 1))
		*value |= ~0ull << (8 * bytes);
	switch (encoding & 0x70) {
	case 0:
		break;
	case RELATIVE_TO_ITSELF:
		*value += itself;
		break;
	case RELATIVE_TO_DATA:
		*value += data;
		break;
	default:
		return false;
	}
	return true;
}
