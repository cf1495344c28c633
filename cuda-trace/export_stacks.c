// SPDX-License-Identifier: BSD-2-Clause
/* Building the tree of GPU time. */
#include "cuda-trace/export_stacks.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "cuda-trace/export_names.h"
#include "cuda-trace/report_group.h"

static uint32_t *slot_of(const struct stacks *stacks, uint32_t parent, const char *name)
{
	uint64_t hash = crc32(parent, (const Bytef *)name, strlen(name));
	size_t i = hash * 0x9e3779b97f4a7c15ull >> 32 & (stacks->table_room - 1);

	for (; stacks->table[i]; i = (i + 1) & (stacks->table_room - 1)) {
		const struct stacks_node *node = &stacks->nodes[stacks->table[i] - 1];

		if (node->parent == parent && !strcmp(node->name, name))
			break;
	}
	return &stacks->table[i];
}

static int grow(struct stacks *stacks)
{
	size_t room = stacks->room ? stacks->room * 2 : 64;
	struct stacks_node *nodes = realloc(stacks->nodes, room * sizeof(*nodes));
	uint32_t *table = calloc(room * 2, sizeof(*table));

	if (nodes)
		stacks->nodes = nodes;
	if (!nodes || !table) {
		free(table);
		return -ENOMEM;
	}
	free(stacks->table);
	stacks->table = table;
	stacks->table_room = room * 2;
	stacks->room = room;
	for (size_t i = 1; i < stacks->count; i++)
		*slot_of(stacks, nodes[i].parent, nodes[i].name) = i + 1;
	return 0;
}

/* The child of that name, made if there is none; UINT32_MAX without memory. */
static uint32_t child(struct stacks *stacks, uint32_t parent, const char *name)
{
	struct stacks_node *node;
	uint32_t *slot = NULL;

	if (stacks->count == stacks->room && grow(stacks))
		return UINT32_MAX;
	if (stacks->count) {
		slot = slot_of(stacks, parent, name);
		if (*slot)
			return *slot - 1;
	}
	node = &stacks->nodes[stacks->count];
	memset(node, 0, sizeof(*node));
	node->name = strdup(name);
	if (!node->name)
		return UINT32_MAX;
	node->parent = parent;
	node->depth = slot ? stacks->nodes[parent].depth + 1 : 0;
	if (slot)
		*slot = stacks->count + 1;
	return stacks->count++;
}

static int add_leaf(struct stacks *stacks, struct names_of_file *names, const struct group *group)
{
	int64_t global = group->keys[0], device = group->keys[1], stream = group->keys[2];
	uint32_t node = 0;
	char text[160];
	const char *frames[4];

	frames[0] = export_names__process(names, global);
	for (int depth = 0; depth < 4; depth++) {
		if (depth == 1)
			snprintf(text, sizeof(text), "GPU %lld", (long long)device);
		if (depth == 2)
			snprintf(text, sizeof(text), "stream %lld", (long long)stream);
		frames[depth] = depth == 0   ? frames[0]
				: depth == 3 ? export_names__string(names, group->keys[3])
					     : text;
		node = child(stacks, node, frames[depth]);
		if (node == UINT32_MAX)
			return -ENOMEM;
	}
	stacks->nodes[node].leaf = true;
	stacks->nodes[node].pid = global >> 24 & 0xffffff;
	stacks->nodes[node].device = device;
	stacks->nodes[node].stream = stream;
	for (uint32_t up = node;; up = stacks->nodes[up].parent) {
		stacks->nodes[up].ns += group->durations.sum;
		stacks->nodes[up].count += group->durations.count;
		if (!up)
			return 0;
	}
}

int stacks__read(struct stacks *stacks, const struct report_file *file)
{
	struct names_of_file *names = NULL;
	struct groups groups = {0};
	int err;

	memset(stacks, 0, sizeof(*stacks));
	err = export_names__open(&names, file);
	if (!err && report_file__has(file, "CUPTI_ACTIVITY_KIND_KERNEL", NULL))
		err = groups__read(&groups, file,
				   "SELECT globalPid, deviceId, streamId, demangledName, "
				   "end - start AS ns FROM CUPTI_ACTIVITY_KIND_KERNEL");
	if (!err && child(stacks, 0, "all"))
		err = -ENOMEM;
	for (size_t i = 0; !err && i < groups.count; i++)
		err = add_leaf(stacks, names, groups.list[i]);
	groups__free(&groups);
	export_names__close(names);
	if (err)
		stacks__free(stacks);
	return err;
}

void stacks__free(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->count; i++)
		free(stacks->nodes[i].name);
	free(stacks->nodes);
	free(stacks->table);
	memset(stacks, 0, sizeof(*stacks));
}
