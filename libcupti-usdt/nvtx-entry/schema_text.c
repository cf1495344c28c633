// SPDX-License-Identifier: BSD-2-Clause
/*
 * Descriptions of payloads. What is inside of another schema is written where it is used, so that
 * a description needs no other.
 *
 * Failure modes: 1. a program's description makes no sense (sizes that overflow, thousands of
 * entries): all sums are bounded, and the text has an end. 2. what cannot be described (unions,
 * arrays whose length is in another entry, pointers to anything but text): an entry of type "?",
 * and what comes after one of unknown size is left out.
 */
#include "libcupti-usdt/nvtx-entry/schema_text.h"

#include <string.h>

#define SIZE_LIMIT	65536U
#define UNIT		8U

#define FIELD_NAME	(1 << 1)
#define FIELD_TYPE	(1 << 2)
#define FIELD_ENTRIES	(1 << 4)
#define FIELD_COUNT	(1 << 5)
#define FIELD_SIZE	(1 << 6)
#define FIELD_ALIGNMENT (1 << 7)

#define ENUM_NAME	(1 << 1)
#define ENUM_ENTRIES	(1 << 2)
#define ENUM_COUNT	(1 << 3)
#define ENUM_SIZE	(1 << 4)

#define SCHEMA_STATIC	1
#define ENTRY_POINTS	(1 << 1 | 1 << 2 | 1 << 3) /* pointer, or offset to where the data is */
#define ENTRY_ARRAY	(7 << 4)
#define ENTRY_FIXED	(1 << 4)
#define ENTRY_HIDDEN	(1 << 9)
#define ENTRY_MESSAGE	(1 << 10)

/* Types as nvToolsExtPayload.h numbers them. */
#define TYPE_CSTRING	75
#define TYPE_UTF8	76
#define TYPE_REGISTERED 80

struct type {
	char letter; /* 0 = there is none such */
	uint8_t size;
};

static const struct type types[] = {
	[1] = {'c', 1},	  [2] = {'u', 1},  [3] = {'i', 2},  [4] = {'u', 2},   [5] = {'i', 4},
	[6] = {'u', 4},	  [7] = {'i', 8},  [8] = {'u', 8},  [9] = {'i', 8},   [10] = {'u', 8},
	[11] = {'i', 1},  [12] = {'u', 1}, [13] = {'i', 2}, [14] = {'u', 2},  [15] = {'i', 4},
	[16] = {'u', 4},  [17] = {'i', 8}, [18] = {'u', 8}, [19] = {'f', 4},  [20] = {'f', 8},
	[21] = {'?', 16}, [22] = {'u', 8}, [23] = {'x', 8}, [24] = {'w', 4},  [25] = {'c', 1},
	[26] = {'w', 2},  [27] = {'w', 4}, [32] = {'x', 1}, [33] = {'?', 16}, [34] = {'?', 16},
	[42] = {'f', 2},  [43] = {'f', 4}, [44] = {'f', 8}, [45] = {'?', 16}, [50] = {'b', 2},
	[52] = {'f', 4},  [68] = {'u', 4}, [69] = {'x', 4}, [70] = {'u', 8},  [71] = {'u', 4},
	[72] = {'u', 8},  [73] = {'u', 4}, [74] = {'u', 8}, [75] = {'s', 8},  [76] = {'s', 8},
	[77] = {'?', 8},  [78] = {'?', 8}, [80] = {'s', 8},
};

static void put_char(struct schema_text *to, char c)
{
	if (to->at < to->end)
		*to->at++ = c;
	else
		to->is_full = true;
}

static void put_text(struct schema_text *to, const char *text)
{
	while (*text && !to->is_full)
		put_char(to, *text++);
}

static void put_number(struct schema_text *to, uint64_t value)
{
	char digits[24], *at = digits + sizeof(digits) - 1;

	*at = 0;
	do
		*--at = '0' + value % 10;
	while (value /= 10);
	put_text(to, at);
}

/* What has a meaning in the text, and control characters, as %XX. */
static void put_name(struct schema_text *to, const char *name)
{
	static const char hex[] = "0123456789abcdef";

	for (; name && *name && !to->is_full; name++) {
		unsigned char c = *name;

		if (c >= 0x20 && c != 0x7f && !strchr("%;{}=", c)) {
			put_char(to, c);
			continue;
		}
		put_char(to, '%');
		put_char(to, hex[c >> 4]);
		put_char(to, hex[c & 15]);
	}
}

/* One entry as it is laid out. */
struct laid_out {
	struct type type;
	uint64_t size, alignment; /* of all its elements; of one */
	uint64_t count;		  /* elements of an array, 0 = it is none */
	const struct nvtx_schema *schema;
};

static const struct nvtx_schema *find(const struct nvtx_shared *shared, uint64_t domain,
				      uint64_t id)
{
	uint32_t used = atomic_load(&shared->used);

	for (uint32_t i = 0; i < used && i < NVTX_SCHEMAS; i++)
		if (atomic_load_explicit(&shared->schemas[i].ready, memory_order_acquire) &&
		    shared->schemas[i].id == id && shared->schemas[i].domain == domain)
			return &shared->schemas[i];
	return NULL;
}

static bool is_string(uint64_t type)
{
	return type == TYPE_CSTRING || type == TYPE_UTF8;
}

static struct laid_out lay_out(const struct nvtx_shared *shared, uint64_t domain,
			       const struct nvtx_schema_entry *entry)
{
	uint64_t array = entry->flags & ENTRY_ARRAY;
	struct laid_out out = {.type = {'?', 0}, .alignment = 1};

	if (entry->type < sizeof(types) / sizeof(types[0]) && types[entry->type].letter) {
		out.type = types[entry->type];
		out.size = out.alignment = out.type.size;
	} else {
		out.schema = find(shared, domain, entry->type);
		if (out.schema) {
			out.size = out.schema->size;
			out.alignment = out.schema->alignment;
		}
	}
	if (is_string(entry->type) && entry->detail && (!array || array == ENTRY_FIXED)) {
		out.type = (struct type){'c', 1};
		out.alignment = 1;
		out.size = out.count = entry->detail < SIZE_LIMIT ? entry->detail : SIZE_LIMIT;
	} else if (entry->flags & ENTRY_POINTS && !is_string(entry->type)) {
		out = (struct laid_out){.type = {'?', 8}, .size = 8, .alignment = 8};
	} else if (array == ENTRY_FIXED) {
		out.count = entry->detail < SIZE_LIMIT ? entry->detail : SIZE_LIMIT;
		out.size *= out.count;
	} else if (array && !is_string(entry->type)) {
		out = (struct laid_out){.type = {'?', 0}, .alignment = 1};
	}
	return out;
}

static void note_text(struct nvtx_schema *schema, const struct nvtx_schema_text *text)
{
	if (schema->text_count < NVTX_SCHEMA_TEXTS)
		schema->texts[schema->text_count++] = *text;
}

static void put_type(struct schema_text *to, struct nvtx_schema *schema,
		     const struct nvtx_schema_entry *entry, const struct laid_out *out,
		     uint64_t offset)
{
	struct nvtx_schema_text text = {.offset = offset,
					.is_message = entry->flags & ENTRY_MESSAGE};

	if (out->schema) {
		put_text(to, out->schema->text);
		for (uint32_t i = 0; !out->count && i < out->schema->text_count; i++) {
			text = out->schema->texts[i];
			text.offset += offset;
			note_text(schema, &text);
		}
	} else {
		put_char(to, out->type.letter);
		put_number(to, out->type.size);
	}
	if (out->type.letter == 's' && !out->schema) {
		text.kind =
			entry->type == TYPE_REGISTERED ? NVTX_TEXT_REGISTERED : NVTX_TEXT_CSTRING;
		note_text(schema, &text);
	}
	if (out->count) {
		put_char(to, '*');
		put_number(to, out->count);
	}
}

static uint64_t aligned(uint64_t offset, uint64_t alignment)
{
	return alignment ? (offset + alignment - 1) / alignment * alignment : offset;
}

/* Where it is; 0 for any but the first: where it comes to lie naturally. */
static uint64_t offset_of(const struct nvtx_schema_entry *entry, const struct laid_out *out,
			  size_t number, uint64_t end, uint64_t packed)
{
	uint64_t alignment = packed && packed < out->alignment ? packed : out->alignment;

	if (!number || entry->offset)
		return entry->offset < SIZE_LIMIT ? entry->offset : SIZE_LIMIT;
	return aligned(end, alignment);
}

static void put_entries(struct schema_text *to, const struct nvtx_shared *shared,
			struct nvtx_schema *schema, const struct nvtx_schema_attributes *from)
{
	uint64_t packed = from->fields & FIELD_ALIGNMENT ? from->alignment : 0, end = 0;

	for (size_t i = 0; i < from->count && !to->is_full; i++) {
		const struct nvtx_schema_entry *entry = &from->entries[i];
		struct laid_out out = lay_out(shared, schema->domain, entry);
		uint64_t offset = offset_of(entry, &out, i, end, packed);

		if (!(entry->flags & ENTRY_HIDDEN)) {
			put_number(to, offset);
			put_char(to, ' ');
			put_type(to, schema, entry, &out, offset);
			put_char(to, ' ');
			put_name(to, entry->name);
			put_char(to, ';');
		}
		if (!out.size || offset + out.size > SIZE_LIMIT)
			return;
		end = offset + out.size > end ? offset + out.size : end;
		if (out.alignment > schema->alignment)
			schema->alignment = out.alignment;
	}
	schema->size =
		aligned(end, packed && packed < schema->alignment ? packed : schema->alignment);
}

void schema_text__structure(struct schema_text *to, const struct nvtx_shared *shared,
			    struct nvtx_schema *schema, const struct nvtx_schema_attributes *from)
{
	bool known = from->fields & FIELD_ENTRIES && from->fields & FIELD_COUNT && from->entries;
	uint64_t type = from->fields & FIELD_TYPE ? from->type : SCHEMA_STATIC;

	schema->alignment = 1;
	put_char(to, '{');
	put_name(to, from->fields & FIELD_NAME ? from->name : NULL);
	put_char(to, ';');
	/* Of a union nobody says here which member there is. */
	if (known && type <= SCHEMA_STATIC + 1)
		put_entries(to, shared, schema, from);
	if (from->fields & FIELD_SIZE && from->static_size && from->static_size < SIZE_LIMIT)
		schema->size = from->static_size;
	put_char(to, '}');
	put_number(to, schema->size);
}

void schema_text__enum(struct schema_text *to, struct nvtx_schema *schema,
		       const struct nvtx_enum_attributes *from)
{
	bool known = from->fields & ENUM_ENTRIES && from->fields & ENUM_COUNT && from->entries;
	uint64_t size = from->fields & ENUM_SIZE ? from->size : 4;

	schema->size = schema->alignment = size == 1 || size == 2 || size == 8 ? size : 4;
	put_char(to, 'e');
	put_number(to, schema->size);
	put_char(to, '{');
	for (size_t i = 0; known && i < from->count && !to->is_full; i++) {
		put_number(to, from->entries[i].value);
		put_char(to, from->entries[i].is_flag ? '|' : '=');
		put_name(to, from->entries[i].name);
		put_char(to, ';');
	}
	put_char(to, '}');
}
