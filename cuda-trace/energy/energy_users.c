// SPDX-License-Identifier: BSD-2-Clause
/*
 * A table by process and name id, open addressing. Names come in when a process ends.
 */
#include "cuda-trace/energy/energy_users.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/intern.h"

#define MAX_USERS     16384
#define SLOTS	      (MAX_USERS * 2)
#define MAX_PROCESSES 8192
#define MAX_NAMES     (4u << 20) /* bytes */

struct energy_process {
	uint32_t pid;
	uint32_t number; /* from 1 */
	char comm[32];
};

struct user {
	uint32_t process; /* its number; 0 = others */
	uint32_t id;	  /* 0 = copies */
	uint32_t name;	  /* in `names`; 0 = not known */
	uint64_t ns;
	double joules, moved;
};

struct energy_users {
	struct user users[MAX_USERS]; /* the first: others */
	uint32_t count;
	uint16_t slots[SLOTS]; /* 0 = empty */
	struct energy_process **processes;
	uint32_t process_count, process_capacity;
	struct interned *names;
};

struct energy_users *energy_users__new(void)
{
	struct energy_users *users = calloc(1, sizeof(*users));

	if (!users)
		return NULL;
	users->count = 1;
	users->names = intern__new(MAX_USERS, MAX_NAMES);
	return users;
}

void energy_users__free(struct energy_users *users)
{
	for (uint32_t i = 0; i < users->process_count; i++)
		free(users->processes[i]);
	free(users->processes);
	if (users->names)
		intern__free(users->names);
	free(users);
}

struct energy_process *energy_users__start(struct energy_users *users, uint32_t pid)
{
	struct energy_process *process;

	if (users->process_count == MAX_PROCESSES ||
	    !array_grow__for_one(users->processes, users->process_capacity, users->process_count))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	users->processes[users->process_count++] = process;
	process->number = users->process_count;
	return process;
}

uint32_t energy_users__find(struct energy_users *users, struct energy_process *process, uint32_t id)
{
	uint32_t at;
	uint16_t *slot;

	if (!process)
		return 0;
	at = (id ^ process->number * 2246822519u) * 2654435761u >> 12;
	for (;; at++) {
		slot = &users->slots[at % SLOTS];
		if (!*slot)
			break;
		if (users->users[*slot].process == process->number && users->users[*slot].id == id)
			return *slot;
	}
	if (users->count == MAX_USERS)
		return 0;
	*slot = (uint16_t)users->count++;
	users->users[*slot] = (struct user){.process = process->number, .id = id};
	return *slot;
}

void energy_users__add(struct energy_users *users, uint32_t number, double joules, uint64_t ns)
{
	users->users[number].joules += joules;
	users->users[number].ns += ns;
}

void energy_users__move(struct energy_users *users, uint32_t number, double joules)
{
	users->users[number].moved += joules;
}

void energy_users__end(struct energy_users *users, struct energy_process *process, const char *comm,
		       const char *(*name_of)(void *context, uint32_t name), void *context)
{
	if (!process || !users->names)
		return;
	snprintf(process->comm, sizeof(process->comm), "%s", comm);
	for (uint32_t i = 1; i < users->count; i++) {
		struct user *user = &users->users[i];
		const char *name;

		if (user->process != process->number || !user->id)
			continue;
		name = name_of(context, user->id);
		if (name && *name)
			user->name = intern__number(users->names, name, strlen(name) + 1, NULL);
	}
}

static int by_energy(const void *left, const void *right)
{
	const struct energy_line *a = left, *b = right;

	if (a->joules != b->joules)
		return a->joules < b->joules ? 1 : -1;
	return a->pid != b->pid ? (a->pid < b->pid ? -1 : 1) : strcmp(a->name, b->name);
}

static uint32_t keep_used(struct energy_line *lines, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (lines[i].ns)
			lines[kept++] = lines[i];
	if (kept)
		qsort(lines, kept, sizeof(*lines), by_energy);
	return kept;
}

/* The lines of what has no name come first. */
enum unnamed { OTHERS, COPIES, NO_NAME, UNNAMED };

static uint32_t kernel_line(const struct user *user)
{
	if (!user->process)
		return OTHERS;
	if (!user->id)
		return COPIES;
	return user->name ? UNNAMED + user->name - 1 : NO_NAME;
}

static uint32_t process_line(const struct user *user)
{
	return user->process;
}

static void set_error(struct energy_line *line, const struct energy_line_part *part)
{
	line->basis = part->basis;
	/* Some of it is in no regression. */
	if ((double)part->ns < 0.99 * (double)line->ns)
		line->basis = ENERGY_BY_TIME;
	if (line->basis == ENERGY_REGRESSION && line->ns)
		line->error = sqrt(part->squares) * 1e9 / (double)line->ns;
}

/* Without memory, lines have no errors. */
static void add_errors(struct energy_line *lines, uint32_t count, const uint32_t *line_of,
		       const struct energy_line_source *source)
{
	struct energy_line_part *parts = calloc(count, sizeof(*parts));

	if (!parts)
		return;
	for (uint32_t i = 0; i < count; i++)
		parts[i].basis = ENERGY_REGRESSION;
	source->add(source->context, &(struct energy_line_parts){line_of, parts});
	for (uint32_t i = 0; i < count; i++)
		set_error(&lines[i], &parts[i]);
	free(parts);
}

static void add_users(const struct energy_users *users, struct energy_line *lines, uint32_t count,
		      uint32_t (*line)(const struct user *user),
		      const struct energy_line_source *source)
{
	uint32_t *line_of = calloc(MAX_USERS, sizeof(*line_of));

	for (uint32_t i = 0; i < users->count; i++) {
		const struct user *user = &users->users[i];
		struct energy_line *to = &lines[line(user)];

		to->ns += user->ns;
		to->joules += user->joules + user->moved;
		to->joules_by_time += user->joules;
		if (line_of)
			line_of[i] = line(user);
	}
	if (line_of)
		add_errors(lines, count, line_of, source);
	free(line_of);
}

struct energy_line *energy_users__kernels(const struct energy_users *users,
					  const struct energy_line_source *source, uint32_t *count)
{
	static const char *const unnamed[] = {"[others]", "[copies]", "[no name]"};
	uint32_t all = UNNAMED + (users->names ? intern__count(users->names) : 0);
	struct energy_line *lines = calloc(all, sizeof(*lines));

	*count = 0;
	if (!lines)
		return NULL;
	for (uint32_t i = 0; i < all; i++) {
		size_t size;

		lines[i].name =
			i < UNNAMED ? unnamed[i] : intern__at(users->names, i - UNNAMED + 1, &size);
	}
	add_users(users, lines, all, kernel_line, source);
	*count = keep_used(lines, all);
	return lines;
}

struct energy_line *energy_users__processes(const struct energy_users *users,
					    const struct energy_line_source *source,
					    uint32_t *count)
{
	uint32_t all = users->process_count + 1;
	struct energy_line *lines = calloc(all, sizeof(*lines));

	*count = 0;
	if (!lines)
		return NULL;
	lines[0].name = "[others]";
	for (uint32_t i = 1; i < all; i++) {
		lines[i].name = users->processes[i - 1]->comm;
		lines[i].pid = users->processes[i - 1]->pid;
	}
	add_users(users, lines, all, process_line, source);
	*count = keep_used(lines, all);
	return lines;
}
