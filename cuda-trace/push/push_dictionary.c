// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/export/export_frames.h"

#define MAX_DEPTH 1024 /* frames of a stack; those of launches have some 100 */

static const char *const type_words[] = {
	[PUSH_FRAME_NATIVE] = "native",
	[PUSH_FRAME_PYTHON] = "cpython",
	/* OpenTelemetry has no word for code of a GPU. */
	[PUSH_FRAME_CUDA] = "cuda",
};

/* A new element at the end; 0 = no memory. */
static int32_t append(struct push_dictionary *dictionary, struct push_table *table, void *element,
		      uint64_t key)
{
	if (!element || !array_grow__for_one(table->list, table->capacity, table->count) ||
	    !key_index__add(&table->index, key, table->count)) {
		dictionary->failed = true;
		return 0;
	}
	table->list[table->count] = element;
	return table->count++;
}

int32_t push_dictionary__string(struct push_dictionary *dictionary, const char *text)
{
	struct push_table *table = &dictionary->strings;
	uint64_t key = key_index__mix_text(0, text);
	ssize_t known = key_index__match(&table->index, key, i, !strcmp(table->list[i], text));

	return known >= 0
		       ? known
		       : append(dictionary, table, push_arena__text(&dictionary->arena, text), key);
}

static uint64_t key_of(const ProtobufCMessage *message, uint8_t *packed, size_t size)
{
	protobuf_c_message_pack(message, packed);
	return key_index__mix(size,
			      (uint64_t)crc32(0, packed, size) << 32 | adler32(1, packed, size));
}

static bool is_same(const ProtobufCMessage *message, const uint8_t *packed, size_t size)
{
	uint8_t *other;
	bool same = false;

	if (protobuf_c_message_get_packed_size(message) != size)
		return false;
	other = malloc(size + 1);
	if (other) {
		protobuf_c_message_pack(message, other);
		same = !memcmp(other, packed, size);
	}
	free(other);
	return same;
}

/* The place of a message that is equal to this one, which is added if there is none; it must live
 * as long as the dictionary. */
static int32_t place_of(struct push_dictionary *dictionary, struct push_table *table,
			ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *packed = malloc(size + 1);
	int32_t place;
	ssize_t known;
	uint64_t key;

	if (!packed) {
		dictionary->failed = true;
		return 0;
	}
	key = key_of(message, packed, size);
	known = key_index__match(&table->index, key, i, is_same(table->list[i], packed, size));
	place = known >= 0 ? known : append(dictionary, table, message, key);
	free(packed);
	return place;
}

/* A message of the arena, with its defaults. */
#define NEW(dictionary, type, init)                                                        \
	({                                                                                 \
		type *message_ = push_arena__get(&(dictionary)->arena, sizeof(*message_)); \
                                                                                           \
		if (message_)                                                              \
			init(message_);                                                    \
		else                                                                       \
			(dictionary)->failed = true;                                       \
		message_;                                                                  \
	})

static int32_t *new_number(struct push_dictionary *dictionary, int32_t number)
{
	int32_t *list = push_arena__get(&dictionary->arena, sizeof(*list));

	if (list)
		*list = number;
	return list;
}

static int32_t attribute(struct push_dictionary *dictionary, const char *key, const char *text,
			 int64_t number)
{
	Otlp__Attribute *attribute = NEW(dictionary, Otlp__Attribute, otlp__attribute__init);
	Otlp__AnyValue *value = NEW(dictionary, Otlp__AnyValue, otlp__any_value__init);

	if (!attribute || !value)
		return 0;
	attribute->key_strindex = push_dictionary__string(dictionary, key);
	attribute->value = value;
	if (text) {
		value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		value->string_value = push_arena__text(&dictionary->arena, text);
	} else {
		value->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
		value->int_value = number;
	}
	return text && !value->string_value
		       ? 0
		       : place_of(dictionary, &dictionary->attributes, &attribute->base);
}

int32_t push_dictionary__number(struct push_dictionary *dictionary, const char *key, int64_t number)
{
	return attribute(dictionary, key, NULL, number);
}

static int32_t mapping_of(struct push_dictionary *dictionary, const struct mapped_file *file)
{
	Otlp__Mapping *mapping = NEW(dictionary, Otlp__Mapping, otlp__mapping__init);

	if (!mapping)
		return 0;
	mapping->memory_start = file->start;
	mapping->memory_limit = file->limit;
	mapping->file_offset = file->offset;
	mapping->filename_strindex = push_dictionary__string(dictionary, file->module);
	mapping->attribute_indices =
		new_number(dictionary, attribute(dictionary, "process.executable.build_id.gnu",
						 file->build_id, 0));
	mapping->n_attribute_indices = mapping->attribute_indices != NULL;
	return place_of(dictionary, &dictionary->mappings, &mapping->base);
}

/* The file's texts are those of a tree: they must live as long as the dictionary. */
static void put_mapping(struct push_dictionary *dictionary, Otlp__Location *location,
			const struct stacks_node *node)
{
	int file;
	const char *module, *build_id;

	if (!node->module || !node->build_id)
		return;
	module = push_arena__text(&dictionary->arena, node->module);
	build_id = push_arena__text(&dictionary->arena, node->build_id);
	if (!module || !build_id)
		return;
	file = export_mappings__find(&dictionary->files, module, build_id, node->address);
	if (file < 0)
		return;
	location->mapping_index = mapping_of(dictionary, &dictionary->files.list[file]);
	location->address = dictionary->files.list[file].base + node->address;
}

static int32_t function_of(struct push_dictionary *dictionary, const char *name, const char *file)
{
	Otlp__Function *function = NEW(dictionary, Otlp__Function, otlp__function__init);

	if (!function)
		return 0;
	function->name_strindex = push_dictionary__string(dictionary, name);
	function->system_name_strindex = function->name_strindex;
	if (file)
		function->filename_strindex = push_dictionary__string(dictionary, file);
	return place_of(dictionary, &dictionary->functions, &function->base);
}

/* -1 = it is not known, or no code: "[no stack]", and what warps waited for. */
static int type_of(const struct stacks_node *node, bool is_python)
{
	if (node->kernel)
		return PUSH_FRAME_CUDA;
	if (is_python)
		return PUSH_FRAME_PYTHON;
	return node->module ? PUSH_FRAME_NATIVE : -1;
}

static int32_t location_of(struct push_dictionary *dictionary, const struct stacks_node *node)
{
	Otlp__Location *location = NEW(dictionary, Otlp__Location, otlp__location__init);
	Otlp__Line *line = NEW(dictionary, Otlp__Line, otlp__line__init);
	Otlp__Line **lines = push_arena__get(&dictionary->arena, sizeof(Otlp__Line *));
	struct python_frame python;
	bool is_python = export_frames__python(node->name, node->module, &python);
	int type = type_of(node, is_python);

	if (!location || !line || !lines)
		return 0;
	*lines = line;
	location->lines = lines;
	location->n_lines = 1;
	if (is_python) {
		line->function_index = function_of(dictionary, python.function, node->module);
		line->line = python.line;
	} else {
		line->function_index = function_of(dictionary, node->name, NULL);
		put_mapping(dictionary, location, node);
	}
	if (type >= 0) {
		location->attribute_indices =
			new_number(dictionary, attribute(dictionary, "profile.frame.type",
							 type_words[type], 0));
		location->n_attribute_indices = location->attribute_indices != NULL;
	}
	return place_of(dictionary, &dictionary->locations, &location->base);
}

int32_t push_dictionary__stack(struct push_dictionary *dictionary, const struct stacks *stacks,
			       uint32_t leaf, int32_t *locations)
{
	Otlp__Stack *stack = NEW(dictionary, Otlp__Stack, otlp__stack__init);
	size_t depth = stacks->nodes[leaf].depth;
	int32_t *list;

	list = push_arena__get(&dictionary->arena,
			       (depth < MAX_DEPTH ? depth : MAX_DEPTH) * sizeof(*list));
	if (!stack || !list) {
		dictionary->failed = true;
		return 0;
	}
	stack->location_indices = list;
	for (uint32_t at = leaf;
	     stacks->nodes[at].depth > 1 && stack->n_location_indices < MAX_DEPTH;
	     at = stacks->nodes[at].parent) {
		if (stacks->nodes[at].place)
			continue;
		if (!locations[at])
			locations[at] = location_of(dictionary, &stacks->nodes[at]);
		list[stack->n_location_indices++] = locations[at];
	}
	return place_of(dictionary, &dictionary->stacks, &stack->base);
}

static void put_empty(struct push_dictionary *dictionary)
{
	push_dictionary__string(dictionary, "");
#define PUT_EMPTY(table, type, init)                                             \
	do {                                                                     \
		type *empty_ = NEW(dictionary, type, init);                      \
                                                                                 \
		if (empty_)                                                      \
			place_of(dictionary, &dictionary->table, &empty_->base); \
	} while (0)
	PUT_EMPTY(mappings, Otlp__Mapping, otlp__mapping__init);
	PUT_EMPTY(locations, Otlp__Location, otlp__location__init);
	PUT_EMPTY(functions, Otlp__Function, otlp__function__init);
	PUT_EMPTY(attributes, Otlp__Attribute, otlp__attribute__init);
	PUT_EMPTY(stacks, Otlp__Stack, otlp__stack__init);
#undef PUT_EMPTY
}

int push_dictionary__init(struct push_dictionary *dictionary)
{
	memset(dictionary, 0, sizeof(*dictionary));
	put_empty(dictionary);
	return dictionary->failed ? -ENOMEM : 0;
}

int push_dictionary__finish(struct push_dictionary *dictionary, Otlp__Dictionary *message)
{
	Otlp__Link *link = NEW(dictionary, Otlp__Link, otlp__link__init);
	Otlp__Link **links = push_arena__get(&dictionary->arena, sizeof(Otlp__Link *));

	if (dictionary->failed || dictionary->arena.failed || !links)
		return -ENOMEM;
	*links = link;
	message->link_table = links;
	message->n_link_table = 1;
#define PUT_TABLE(table, field)                       \
	message->n_##field = dictionary->table.count; \
	message->field = (__typeof__(message->field))dictionary->table.list
	PUT_TABLE(strings, string_table);
	PUT_TABLE(mappings, mapping_table);
	PUT_TABLE(locations, location_table);
	PUT_TABLE(functions, function_table);
	PUT_TABLE(attributes, attribute_table);
	PUT_TABLE(stacks, stack_table);
#undef PUT_TABLE
	return 0;
}

static void free_table(struct push_table *table)
{
	free(table->list);
	key_index__free(&table->index);
}

void push_dictionary__free(struct push_dictionary *dictionary)
{
	free_table(&dictionary->strings);
	free_table(&dictionary->mappings);
	free_table(&dictionary->locations);
	free_table(&dictionary->functions);
	free_table(&dictionary->attributes);
	free_table(&dictionary->stacks);
	export_mappings__free(&dictionary->files);
	push_arena__free(&dictionary->arena);
}
