// SPDX-License-Identifier: BSD-2-Clause
/*
 * Losses and the agent's troubles. Called by the commands at their end; one thread.
 */
#include "cuda-trace/capture/losses.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/foreign/left_out.h"

static const char *const agent_keys[] = {
#define KEY(name, key, text) key,
	CUDA_LOST_REASONS(KEY)};

static const char *const session_keys[] = {SESSION_LOST_REASONS(KEY)
#undef KEY
};

static const char *const agent_texts[] = {
#define TEXT(name, key, text) text,
	CUDA_LOST_REASONS(TEXT)};

static const char *const session_texts[] = {SESSION_LOST_REASONS(TEXT)
#undef TEXT
};

static void say_one(FILE *file, uint64_t n, const char *key, const char *text)
{
	char number[32];

	if (n)
		fprintf(file, "cuda-trace: lost %s (%s): %s\n", text__count(number, n), key, text);
}

const char *losses__key(enum session_lost reason)
{
	return session_keys[reason];
}

const char *losses__text(enum session_lost reason)
{
	return session_texts[reason];
}

const char *losses__agent_key(enum cuda_lost_reason reason)
{
	return agent_keys[reason];
}

const char *losses__agent_text(enum cuda_lost_reason reason)
{
	return agent_texts[reason];
}

/* Nobody knows how many records are missing of a process that was not observed: it counts as one.
 */
bool losses__is_in_total(enum session_lost reason)
{
	switch (reason) {
	case SESSION_LOST_RING_FULL:
	case SESSION_LOST_UNREADABLE:
	case SESSION_LOST_MISSED:
	case SESSION_LOST_MALFORMED:
	case SESSION_LOST_UNSENT:
	case SESSION_LOST_UNOBSERVED:
	case SESSION_LOST_LATE:
		return true;
	default:
		return false;
	}
}

bool losses__agent_is_in_total(enum cuda_lost_reason reason)
{
	return reason != CUDA_LOST_NAMES_FULL && reason != CUDA_LOST_PAYLOADS;
}

uint64_t losses__total(const struct session_lost_counts *lost)
{
	uint64_t total = 0;

	for (int i = 0; i < CUDA_LOST_COUNT; i++)
		if (losses__agent_is_in_total(i))
			total += lost->agent[i];
	for (int i = 0; i < SESSION_LOST_COUNT; i++)
		if (losses__is_in_total(i))
			total += lost->session[i];
	return total;
}

static bool any(const uint64_t *counts, int count)
{
	for (int i = 0; i < count; i++)
		if (counts[i])
			return true;
	return false;
}

bool losses__any(const struct session_lost_counts *lost)
{
	return any(lost->agent, CUDA_LOST_COUNT) || any(lost->session, SESSION_LOST_COUNT);
}

bool losses__unseen(const struct session_lost_counts *lost)
{
	static const enum session_lost reasons[] = {
		SESSION_LOST_YIELDED,	SESSION_LOST_FILES,	 SESSION_LOST_DRIVERS,
		SESSION_LOST_PROCESSES, SESSION_LOST_UNOBSERVED, SESSION_LOST_LATE,
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (lost->session[reasons[i]])
			return true;
	return false;
}

void losses__say(FILE *file, const struct session_lost_counts *lost)
{
	for (int i = 0; i < CUDA_LOST_COUNT; i++)
		say_one(file, lost->agent[i], agent_keys[i], agent_texts[i]);
	for (int i = 0; i < SESSION_LOST_COUNT; i++)
		say_one(file, lost->session[i], session_keys[i], session_texts[i]);
}

void losses__put(struct sheet *sheet, const struct session_lost_counts *lost)
{
	sheet__open(sheet, "lost", '{');
	sheet__put(sheet, "total", cell_number(lost->total));
	for (int i = 0; i < CUDA_LOST_COUNT; i++)
		sheet__put(sheet, agent_keys[i], cell_number(lost->agent[i]));
	for (int i = 0; i < SESSION_LOST_COUNT; i++)
		sheet__put(sheet, session_keys[i], cell_number(lost->session[i]));
	sheet__close(sheet);
}

void losses__put_left_out(struct sheet *sheet, const struct left_out *left_out)
{
	sheet__open(sheet, "left_out", '[');
	for (uint32_t i = 0; left_out && i < left_out->group_count; i++) {
		const struct left_out_group *group = &left_out->groups[i];

		if (!group->count)
			continue;
		sheet__open(sheet, NULL, '{');
		sheet__put(sheet, "kind", cell_text(left_out__key(group->kind)));
		sheet__put(sheet, "user", cell_number(group->user));
		sheet__put(sheet, "count", cell_number(group->count));
		sheet__put(sheet, "first", cell_number(group->first));
		sheet__put(sheet, "reason", cell_text(group->reason));
		sheet__close(sheet);
	}
	sheet__close(sheet);
}

void losses__write_json_line(FILE *file, const struct session_lost_counts *lost)
{
	struct sheet sheet = {.file = file, .json = true};

	sheet__open(&sheet, NULL, '{');
	sheet__put(&sheet, "event", cell_text("lost"));
	losses__put(&sheet, lost);
	sheet__close(&sheet);
}

void losses__say_error(void *context, struct process *process, int code, const char *component,
		       const char *message)
{
	char comm[64], where[128], what[512];

	/* A program can fire this probe as often as it likes. */
	if (process->troubles++ >= 3)
		return;
	fprintf(stderr, "cuda-trace: injection library in %u (%s): %s: %s (%d)\n", process->pid,
		text__show(comm, sizeof(comm), process->comm, 0),
		text__show(where, sizeof(where), component, 30),
		text__show(what, sizeof(what), message, 120), code);
}

const char *losses__no_activity(bool started, const struct session_lost_counts *lost)
{
	const char *off = getenv("CUDA_TRACE");

	/* Files that are left out are no events. */
	if (lost->total || lost->session[SESSION_LOST_KILLED])
		return "all that there was is lost";
	if (!started)
		return "no selected process made a CUDA call in this time (see cuda-trace list)";
	if (off && !strcmp(off, "off"))
		return "CUDA_TRACE=off is set";
	return "neither PROGRAM nor any process that it started made a CUDA call";
}
