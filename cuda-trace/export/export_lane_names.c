// SPDX-License-Identifier: BSD-2-Clause
/* Names by category and number, so that each is in the page once. */
#include "cuda-trace/export/export_lane_names.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *name_text(const struct lane_names *names, char category, int64_t number)
{
	static const char *const copies[] = {
		"?",	"HtoD", "DtoH", "HtoA", "AtoH",		"AtoA",		"AtoD",
		"DtoA", "DtoD", "HtoH", "PtoP", "unified HtoD", "unified DtoH", "unified DtoD"};
	static const char *const waits[] = {"?", "event", "stream for event", "stream", "context"};
	char *text = NULL;
	int n = 0;

	if (category == 'c')
		n = asprintf(&text, "Memcpy %s", copies[number > 0 && number < 14 ? number : 0]);
	else if (category == 's')
		n = asprintf(&text, "Memset");
	else if (category == 'g')
		n = asprintf(&text, "CUDA graph %lld", (long long)number);
	else if (category == 'w')
		n = asprintf(&text, "wait: %s", waits[number > 0 && number < 5 ? number : 0]);
	else
		text = strdup(export_names__string(names->strings, number));
	return n < 0 ? NULL : text;
}

static size_t slot_of(const struct lane_names *names, int64_t key)
{
	size_t i = ((uint64_t)key * 0x9e3779b97f4a7c15ull) >> 32 & (names->table_capacity - 1);

	while (names->table[i] && names->keys[i] != key)
		i = (i + 1) & (names->table_capacity - 1);
	return i;
}

static int grow_names(struct lane_names *names)
{
	struct lanes *lanes = names->lanes;
	size_t capacity = lanes->name_capacity ? lanes->name_capacity * 2 : 1024,
	       old_capacity = names->table_capacity;
	struct lane_name *list = realloc(lanes->names, capacity * sizeof(*list));
	uint32_t *table = calloc(capacity * 2, sizeof(*table)), *old = names->table;
	int64_t *keys = calloc(capacity * 2, sizeof(*keys)), *old_keys = names->keys;

	if (list)
		lanes->names = list;
	if (!list || !table || !keys) {
		free(table);
		free(keys);
		return -ENOMEM;
	}
	lanes->name_capacity = capacity;
	names->table = table;
	names->keys = keys;
	names->table_capacity = capacity * 2;
	for (size_t i = 0; i < old_capacity; i++) {
		if (old[i]) {
			size_t slot = slot_of(names, old_keys[i]);

			table[slot] = old[i];
			keys[slot] = old_keys[i];
		}
	}
	free(old);
	free(old_keys);
	return 0;
}

int64_t lane_names__find(struct lane_names *names, char category, int64_t number)
{
	struct lanes *lanes = names->lanes;
	int64_t key = (uint64_t)number << 8 | (uint8_t)category;
	size_t slot;

	if (lanes->name_count >= lanes->name_capacity && grow_names(names))
		return -ENOMEM;
	slot = slot_of(names, key);
	if (!names->table[slot]) {
		struct lane_name *name = &lanes->names[lanes->name_count];

		name->category = category;
		name->text = name_text(names, category, number);
		if (!name->text)
			return -ENOMEM;
		names->keys[slot] = key;
		names->table[slot] = ++lanes->name_count;
	}
	return names->table[slot] - 1;
}

void lane_names__free(struct lane_names *names)
{
	free(names->table);
	free(names->keys);
}
