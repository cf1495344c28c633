// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines by the text of call and caller: ids of names are a process's own. calls.c says who made
 * whom. A driver call of which only that is known, that a runtime call made it, is kept under
 * UNKNOWN: whether that call is in the table is seen at the end.
 */
#include "cuda-trace/stat/stat_calls.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/capture/api_correlation.h"

#define MAX	2048 /* lines: the API has some 1,000 calls */
#define SLOTS	(2 * MAX)
#define UNKNOWN "[a runtime call]"
#define REST	"[other calls]"

static bool is_wanted(const struct stat_calls *calls, const char *name)
{
	return !calls->glob || !fnmatch(calls->glob, name, 0);
}

static uint32_t hash_of(const struct stat_call *key)
{
	uint32_t hash = 2166136261u ^ key->domain;

	for (const char *at = key->name; *at; at++)
		hash = (hash ^ (uint8_t)*at) * 16777619u;
	hash *= 16777619u;
	for (const char *at = key->parent; *at; at++)
		hash = (hash ^ (uint8_t)*at) * 16777619u;
	return hash;
}

static struct stat_call *add_line(struct stat_calls *calls, const struct stat_call *key)
{
	if (!array_grow__for_one(calls->lines, calls->capacity, calls->count))
		return NULL;
	calls->lines[calls->count] = *key;
	return &calls->lines[calls->count++];
}

/* One line is left for names that are too many, as a hostile program may make up its own. */
static struct stat_call *line_of(struct stat_calls *calls, struct stat_call *key)
{
	struct stat_call *line;
	uint32_t at;

	for (;;) {
		for (at = hash_of(key) % SLOTS; calls->slots[at]; at = (at + 1) % SLOTS) {
			line = &calls->lines[calls->slots[at] - 1];
			if (line->domain == key->domain && !strcmp(line->name, key->name) &&
			    !strcmp(line->parent, key->parent))
				return line;
		}
		if (calls->count < MAX || !strcmp(key->name, REST))
			break;
		*key = (struct stat_call){.name = REST, .parent = {*key->parent}};
		if (*key->parent)
			strcpy(key->parent, UNKNOWN);
	}
	line = add_line(calls, key);
	if (line)
		calls->slots[at] = calls->count;
	return line;
}

static const char *name_of(const struct process *process, const struct cuda_api *call)
{
	const char *name = process__name(process, call->name);

	return name ? name : "[unknown call]";
}

static void take(void *context, struct process *process, const struct cuda_api *call,
		 const struct cuda_api *parent)
{
	struct stat_calls *calls = context;
	struct stat_call key = {.domain = call->domain}, *line;
	const char *name = name_of(process, call);
	const char *made_by = parent ? name_of(process, parent) : NULL;

	if (!is_wanted(calls, name))
		return;
	strncpy(key.name, name, sizeof(key.name) - 1);
	if (made_by && is_wanted(calls, made_by))
		strncpy(key.parent, made_by, sizeof(key.parent) - 1);
	else if (!made_by && call->domain == CUDA_DOMAIN_DRIVER && call->flags & CUDA_API_NESTED)
		strcpy(key.parent, UNKNOWN);
	line = line_of(calls, &key);
	if (!line)
		return;
	stat_span__add(&line->span, call->end > call->start ? call->end - call->start : 0);
	line->failed += call->result != 0;
}

struct stat_calls *stat_calls__new(const char *glob)
{
	struct stat_calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	calls->glob = glob;
	calls->held = api_correlation__new(take, calls);
	calls->slots = calloc(SLOTS, sizeof(*calls->slots));
	if (calls->held && calls->slots)
		return calls;
	stat_calls__free(calls);
	return NULL;
}

void stat_calls__free(struct stat_calls *calls)
{
	if (!calls)
		return;
	api_correlation__free(calls->held);
	free(calls->lines);
	free(calls->slots);
	free(calls);
}

/* What failed comes a second time where failures are listened to. */
void stat_calls__record(struct stat_calls *calls, struct process *process,
			const struct cuda_api *call)
{
	if (calls && process->group != CUDA_GROUP_API_ERROR)
		api_correlation__add(calls->held, process, call);
}

void stat_calls__tick(struct stat_calls *calls)
{
	if (calls)
		api_correlation__tick(calls->held);
}

void stat_calls__end(struct stat_calls *calls, struct process *process)
{
	if (calls)
		api_correlation__end(calls->held, process);
}

static bool has_runtime_calls(const struct stat_calls *calls)
{
	for (uint32_t i = 0; i < calls->count; i++)
		if (calls->lines[i].domain == CUDA_DOMAIN_RUNTIME)
			return true;
	return false;
}

static int64_t find(const struct stat_calls *calls, const char *name)
{
	for (uint32_t i = 0; i < calls->count; i++)
		if (calls->lines[i].domain == CUDA_DOMAIN_RUNTIME &&
		    !strcmp(calls->lines[i].name, name))
			return i;
	return -1;
}

/* Without runtime calls in the table nobody counts the time of what they made. */
static void free_orphans(struct stat_calls *calls)
{
	if (has_runtime_calls(calls))
		return;
	for (uint32_t i = 0; i < calls->count; i++)
		calls->lines[i].parent[0] = 0;
}

static void sum_up(struct stat_calls *calls)
{
	for (uint32_t i = 0; i < calls->count; i++) {
		struct stat_call *line = &calls->lines[i];

		line->own_ns += line->span.total_ns;
		if (!*line->parent) {
			calls->host_ns += line->span.total_ns;
			continue;
		}
		int64_t parent = find(calls, line->parent);

		if (parent >= 0)
			calls->lines[parent].own_ns -= line->span.total_ns;
	}
}

/* A line's place: that of its family, which is the parent's total, then itself. */
struct place {
	struct stat_call line;
	uint64_t family_ns;
};

static int by_place(const void *one, const void *two)
{
	const struct place *a = one, *b = two;
	const char *of_a = *a->line.parent ? a->line.parent : a->line.name;
	const char *of_b = *b->line.parent ? b->line.parent : b->line.name;

	if (a->family_ns != b->family_ns)
		return a->family_ns < b->family_ns ? 1 : -1;
	if (strcmp(of_a, of_b))
		return strcmp(of_a, of_b);
	if (!*a->line.parent != !*b->line.parent)
		return *a->line.parent ? 1 : -1;
	if (a->line.span.total_ns != b->line.span.total_ns)
		return a->line.span.total_ns < b->line.span.total_ns ? 1 : -1;
	return strcmp(a->line.name, b->line.name);
}

void stat_calls__sort(struct stat_calls *calls)
{
	struct place *places = calls ? calloc(calls->count + 1, sizeof(*places)) : NULL;

	if (!calls)
		return;
	free_orphans(calls);
	sum_up(calls);
	for (uint32_t i = 0; places && i < calls->count; i++) {
		const struct stat_call *line = &calls->lines[i];
		int64_t parent = *line->parent ? find(calls, line->parent) : i;

		places[i].line = *line;
		places[i].family_ns = parent < 0 ? 0 : calls->lines[parent].span.total_ns;
	}
	if (places)
		qsort(places, calls->count, sizeof(*places), by_place);
	for (uint32_t i = 0; places && i < calls->count; i++)
		calls->lines[i] = places[i].line;
	free(places);
}
