// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/foreign/left_out.h"

#include <stdlib.h>
#include <string.h>

#define PLACES 16

static const char *const keys[] = {
#define LEFT_OUT_KEY(name, key, one, several) key,
	LEFT_OUT_KINDS(LEFT_OUT_KEY)
#undef LEFT_OUT_KEY
};

static const char *const words[][2] = {
#define LEFT_OUT_WORDS(name, key, one, several) {one, several},
	LEFT_OUT_KINDS(LEFT_OUT_WORDS)
#undef LEFT_OUT_WORDS
};

const char *left_out__key(enum left_out_kind kind)
{
	return keys[kind];
}

uint64_t left_out__sum(const struct left_out *left_out)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < LEFT_OUT_COUNT; kind++)
		sum += left_out->counts[kind];
	return sum;
}

/* The same file is found by each of its processes, and at each look. Keys that share a place take
 * one of the next. NULL = no memory. */
static uint64_t *place_of(struct left_out *left_out, uint64_t key)
{
	uint64_t *place, *empty = NULL;

	if (!left_out->recent)
		left_out->recent = calloc(LEFT_OUT_RECENT, sizeof(*left_out->recent));
	if (!left_out->recent)
		return NULL;
	for (uint64_t i = 0; i < PLACES; i++) {
		place = &left_out->recent[((key >> 1) + i) % LEFT_OUT_RECENT];
		if ((*place & ~1ull) == key)
			return place;
		if (!*place && !empty)
			empty = place;
	}
	return empty ? empty : &left_out->recent[(key >> 1) % LEFT_OUT_RECENT];
}

/* The lowest bit is set in its place while it is left out for LEFT_OUT_LATER. */
static uint64_t key_of(enum left_out_kind kind, uint64_t id)
{
	return ((id + 1) * LEFT_OUT_COUNT + kind) << 1;
}

void left_out__free(struct left_out *left_out)
{
	free(left_out->recent);
	left_out->recent = NULL;
}

static struct left_out_group *group_of(struct left_out *left_out, enum left_out_kind kind,
				       uid_t user, const char *reason)
{
	struct left_out_group *group = left_out->groups;

	for (uint32_t i = 0; i < left_out->group_count; i++, group++)
		if (group->kind == kind && group->user == user && !strcmp(group->reason, reason))
			return group;
	if (left_out->group_count == LEFT_OUT_NAMED)
		return NULL;
	left_out->group_count++;
	*group = (struct left_out_group){.kind = kind, .user = user, .reason = reason};
	return group;
}

void left_out__add(struct left_out *left_out, enum left_out_kind kind, uid_t user, uint64_t id,
		   const char *reason)
{
	uint64_t key = key_of(kind, id), *place = place_of(left_out, key);
	struct left_out_group *group;

	if (!place || (*place & ~1ull) == key)
		return;
	*place = key | !strcmp(reason, LEFT_OUT_LATER);
	left_out->counts[kind]++;
	group = group_of(left_out, kind, user, reason);
	if (!group || group->count++)
		return;
	group->first = id;
	fprintf(stderr, "cuda-trace: left out: a %s of user %u (%s %llu): %s\n", words[kind][0],
		user, kind == LEFT_OUT_PROCESSES ? "pid" : "inode", (unsigned long long)id, reason);
}

void left_out__return(struct left_out *left_out, enum left_out_kind kind, uid_t user, uint64_t id)
{
	uint64_t key = key_of(kind, id), *place = place_of(left_out, key);
	struct left_out_group *group;

	if (!place || *place != (key | 1))
		return;
	*place = 0;
	left_out->counts[kind]--;
	group = group_of(left_out, kind, user, LEFT_OUT_LATER);
	if (group && group->count)
		group->count--;
}

void left_out__print(const struct left_out *left_out, FILE *file, const char *prefix)
{
	uint64_t named = 0, all = left_out__sum(left_out);

	for (uint32_t i = 0; i < left_out->group_count; i++) {
		const struct left_out_group *group = &left_out->groups[i];

		if (!group->count)
			continue;
		fprintf(file, "%sleft out: %llu %s of user %u (%s %llu%s): %s\n", prefix,
			(unsigned long long)group->count, words[group->kind][group->count != 1],
			group->user, group->kind == LEFT_OUT_PROCESSES ? "pid" : "inode",
			(unsigned long long)group->first, group->count > 1 ? " ..." : "",
			group->reason);
		named += group->count;
	}
	if (all > named)
		fprintf(file, "%sleft out: %llu more, of other users\n", prefix,
			(unsigned long long)(all - named));
}
