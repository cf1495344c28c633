// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/capture/observations.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/proc/process_stat.h"

#define MISSED_MAX    256
#define LATE_NAMED    16
#define SAID_MAX      16
#define PROCESSES_MAX 65536

struct observation {
	uint32_t pid;
	uint64_t start; /* process_stat__start(), 0 = it was gone */
	uint64_t since; /* 0 = whole */
	const char *no_agent;
	bool is_lost; /* what it called before is a loss */
	char comm[16];
};

/* One that was observed late, and has ended. */
struct late_process {
	uint32_t pid;
	char comm[16];
};

struct observations {
	struct observation *processes;
	uint32_t count, capacity;
	struct unobserved missed[MISSED_MAX];
	uint32_t missed_count;
	uint64_t missed_before;		      /* losses that were in `missed`, and have ended */
	struct late_process late[LATE_NAMED]; /* the first ones */
	uint64_t late_count, forgotten;	      /* had no place */
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

/* Others are not meant to be observed. */
static bool is_loss(enum unobserved_reason reason)
{
	return reason != UNOBSERVED_STILL_RUNS && reason != UNOBSERVED_NOT_STARTED;
}

static void count_late(struct observations *observations, const struct observation *known)
{
	uint64_t at = observations->late_count++;

	if (at >= LATE_NAMED)
		return;
	observations->late[at].pid = known->pid;
	snprintf(observations->late[at].comm, sizeof(observations->late[at].comm), "%s",
		 known->comm);
}

/* Of these all calls are missing. */
static bool is_unobserved(const struct observations *observations, uint32_t pid)
{
	for (uint32_t i = 0; i < observations->missed_count; i++)
		if (observations->missed[i].pid == pid && is_loss(observations->missed[i].reason))
			return true;
	return false;
}

static bool is_late(const struct observations *observations, const struct observation *known)
{
	return known->is_lost && !is_unobserved(observations, known->pid);
}

static void remove_at(struct observations *observations, struct observation *known)
{
	*known = observations->processes[--observations->count];
}

/* Nothing reports the end of a process that sent nothing. */
static void remove_gone(struct observations *observations)
{
	for (uint32_t i = observations->count; i--;) {
		struct observation *known = &observations->processes[i];

		if (!kill(known->pid, 0) || errno != ESRCH)
			continue;
		if (is_late(observations, known))
			count_late(observations, known);
		remove_at(observations, known);
	}
}

static void put(struct observations *observations, uint32_t pid, uint64_t since)
{
	const struct observation added = {
		.pid = pid, .start = process_stat__start(pid), .since = since};

	if (observations->count == observations->capacity)
		remove_gone(observations);
	if (observations->count < PROCESSES_MAX &&
	    array_grow__for_one(observations->processes, observations->capacity,
				observations->count))
		observations->processes[observations->count++] = added;
	else /* it would count as observed from its first call */
		observations->forgotten += since != 0;
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

void observations__note_anew(struct observations *observations, uint32_t pid)
{
	observations__forget(observations, pid);
	put(observations, pid, 0);
}

static void note_lost(struct observation *known)
{
	struct inspection seen;

	known->is_lost = true;
	if (!*known->comm && !process_maps__process(known->pid, &seen))
		snprintf(known->comm, sizeof(known->comm), "%s", seen.comm);
}

void observations__note_late(struct observations *observations, uint32_t pid,
			     enum observed_late how)
{
	uint64_t start = process_stat__start(pid);
	struct observation *known = find(observations, pid);
	bool was_late;

	/* The number of a process that has ended. */
	if (known && start && known->start != start) {
		if (is_late(observations, known))
			count_late(observations, known);
		remove_at(observations, known);
		known = NULL;
	}
	was_late = known && known->since;
	if (!known) {
		put(observations, pid, monotonic__ns());
		known = find(observations, pid);
	}
	if (!known)
		return;
	known->since = monotonic__ns();
	if (how == LATE_LOST && !was_late)
		note_lost(known);
}

void observations__note_attached(struct observations *observations, uint32_t pid, bool gapless)
{
	struct observation *known = find(observations, pid);

	if (!known || (!known->since && gapless))
		return;
	if (!known->since)
		note_lost(known);
	known->since = monotonic__ns();
}

void observations__forget(struct observations *observations, uint32_t pid)
{
	struct observation *known = find(observations, pid);

	if (known)
		remove_at(observations, known);
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

	/* Its agent has spoken, before the tool came to look at the process. */
	if (process->source != EVENT_SOURCE_DRIVER && process->status.version &&
	    !agent_state__was_inert(&process->status))
		observations__found(observations, process->pid);
	if (!known)
		return;
	process->observed_since = known->since;
	if (known->is_lost)
		count_late(observations, known);
	if (process->source == EVENT_SOURCE_DRIVER)
		process->no_agent = known->no_agent;
	observations__forget(observations, process->pid);
}

/* A number without a start is that of the process that had it last. */
static bool has_missed(const struct observations *observations, uint32_t pid, uint64_t start,
		       enum unobserved_reason reason)
{
	for (uint32_t i = 0; i < observations->missed_count; i++) {
		const struct unobserved *missed = &observations->missed[i];

		if (missed->pid == pid && missed->reason == reason &&
		    (!start || missed->start == start))
			return true;
	}
	return false;
}

/* Makes space, where the tool runs for long: those that have ended remain as a number. */
static void remove_ended(struct observations *observations)
{
	uint32_t kept = 0;

	/* First, as those that were not observed at all must not count as late, too. */
	remove_gone(observations);
	for (uint32_t i = 0; i < observations->missed_count; i++) {
		const struct unobserved *missed = &observations->missed[i];

		if (process_stat__start(missed->pid) == missed->start && missed->start)
			observations->missed[kept++] = *missed;
		else
			observations->missed_before += is_loss(missed->reason);
	}
	observations->missed_count = kept;
}

void observations__miss(struct observations *observations, uint32_t pid,
			enum unobserved_reason reason)
{
	uint64_t start = process_stat__start(pid);
	struct unobserved *missed;
	struct inspection seen;

	if (has_missed(observations, pid, start, reason))
		return;
	if (observations->missed_count == MISSED_MAX)
		remove_ended(observations);
	if (observations->missed_count == MISSED_MAX)
		return;
	missed = &observations->missed[observations->missed_count];
	if (process_maps__process(pid, &seen)) {
		/* Nothing of it is missing, or it has no name any more. */
		if (reason == UNOBSERVED_STILL_RUNS)
			return;
		*seen.comm = 0;
	}
	*missed = (struct unobserved){
		.pid = pid, .start = start, .reason = reason, .since = monotonic__ns()};
	snprintf(missed->comm, sizeof(missed->comm), "%s", seen.comm);
	observations->missed_count++;
}

void observations__found(struct observations *observations, uint32_t pid)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < observations->missed_count; i++)
		if (observations->missed[i].pid != pid || !is_loss(observations->missed[i].reason))
			observations->missed[kept++] = observations->missed[i];
	observations->missed_count = kept;
}

uint64_t observations__late(const struct observations *observations)
{
	uint64_t count = observations->late_count + observations->forgotten;

	for (uint32_t i = 0; i < observations->count; i++)
		count += is_late(observations, &observations->processes[i]);
	return count;
}

uint64_t observations__unobserved(const struct observations *observations)
{
	uint64_t count = observations->missed_before;

	for (uint32_t i = 0; i < observations->missed_count; i++)
		count += is_loss(observations->missed[i].reason);
	return count;
}

static void say_one(FILE *file, uint32_t pid, const char *comm, const char *what)
{
	char shown[64];

	fprintf(file, "cuda-trace: process %u (%s): %s\n", pid,
		*comm ? text__show(shown, sizeof(shown), comm, 0) : "ended", what);
}

void observations__say(const struct observations *observations, FILE *file)
{
	static const char late[] = "observed late: calls that it made before are missing";
	uint32_t named = 0;

	for (uint32_t i = 0; i < observations->missed_count && named < SAID_MAX; i++) {
		const struct unobserved *missed = &observations->missed[i];

		if (!is_loss(missed->reason))
			continue;
		say_one(file, missed->pid, missed->comm, observations__text(missed->reason));
		named++;
	}
	for (uint32_t i = 0; i < observations->late_count && i < LATE_NAMED; i++)
		say_one(file, observations->late[i].pid, observations->late[i].comm, late);
	named = 0;
	for (uint32_t i = 0; i < observations->count && named < SAID_MAX; i++) {
		const struct observation *known = &observations->processes[i];

		if (!is_late(observations, known))
			continue;
		say_one(file, known->pid, known->comm, late);
		named++;
	}
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
