// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/capture/observations.h"

#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/proc/process_stat.h"

#define MISSED_MAX    256
#define PROCESSES_MAX 65536

struct observation {
	uint32_t pid;
	uint64_t since; /* 0 = whole */
	const char *no_agent;
};

struct observations {
	struct observation *processes;
	uint32_t count, capacity;
	struct unobserved missed[MISSED_MAX];
	uint32_t missed_count;
};

struct observations *observations__new(void)
{
	return calloc(1, sizeof(struct observations));
}

void observations__free(struct observations *observations)
{
	if (!observations)
		return;
	free(observations->processes);
	free(observations);
}

static struct observation *find(const struct observations *observations, uint32_t pid)
{
	for (uint32_t i = 0; i < observations->count; i++)
		if (observations->processes[i].pid == pid)
			return &observations->processes[i];
	return NULL;
}

static void put(struct observations *observations, uint32_t pid, uint64_t since)
{
	if (observations->count < PROCESSES_MAX &&
	    array_grow__for_one(observations->processes, observations->capacity,
				observations->count))
		observations->processes[observations->count++] =
			(struct observation){pid, since, NULL};
}

void observations__note(struct observations *observations, uint32_t pid, uint64_t since)
{
	uint64_t start;

	if (find(observations, pid))
		return;
	start = process_stat__start_ns(pid);
	if (start)
		put(observations, pid, start >= since ? 0 : since);
}

void observations__note_whole(struct observations *observations, uint32_t pid)
{
	if (!find(observations, pid))
		put(observations, pid, 0);
}

void observations__note_late(struct observations *observations, uint32_t pid)
{
	observations__forget(observations, pid);
	put(observations, pid, monotonic__ns());
}

void observations__note_attached(struct observations *observations, uint32_t pid, bool gapless)
{
	struct observation *known = find(observations, pid);

	if (known && (known->since || !gapless))
		known->since = monotonic__ns();
}

void observations__forget(struct observations *observations, uint32_t pid)
{
	struct observation *known = find(observations, pid);

	if (known)
		*known = observations->processes[--observations->count];
}

void observations__note_reason(struct observations *observations, uint32_t pid, const char *reason)
{
	struct observation *known = find(observations, pid);

	if (known)
		known->no_agent = reason;
}

void observations__end(struct observations *observations, struct process *process)
{
	const struct observation *known = find(observations, process->pid);

	if (!known)
		return;
	process->observed_since = known->since;
	if (process->source == EVENT_SOURCE_DRIVER)
		process->no_agent = known->no_agent;
	observations__forget(observations, process->pid);
}

void observations__miss(struct observations *observations, uint32_t pid,
			enum unobserved_reason reason)
{
	struct unobserved *missed = &observations->missed[observations->missed_count];
	struct inspection seen;

	for (uint32_t i = 0; i < observations->missed_count; i++)
		if (observations->missed[i].pid == pid && observations->missed[i].reason == reason)
			return;
	if (observations->missed_count == MISSED_MAX)
		return;
	if (process_maps__process(pid, &seen)) {
		/* Nothing of it is missing, or it has no name any more. */
		if (reason == UNOBSERVED_STILL_RUNS)
			return;
		*seen.comm = 0;
	}
	*missed = (struct unobserved){.pid = pid, .reason = reason, .since = monotonic__ns()};
	snprintf(missed->comm, sizeof(missed->comm), "%s", seen.comm);
	observations->missed_count++;
}

const struct unobserved *observations__missed(const struct observations *observations, uint32_t n)
{
	return n < observations->missed_count ? &observations->missed[n] : NULL;
}

const char *observations__key(enum unobserved_reason reason)
{
	static const char *const keys[] = {
#define UNOBSERVED_KEY(name, key, text) [UNOBSERVED_##name] = key,
		UNOBSERVED_REASONS(UNOBSERVED_KEY)};

	return keys[reason];
}

const char *observations__text(enum unobserved_reason reason)
{
	static const char *const texts[] = {
#define UNOBSERVED_TEXT(name, key, text) [UNOBSERVED_##name] = text,
		UNOBSERVED_REASONS(UNOBSERVED_TEXT)};

	return texts[reason];
}
