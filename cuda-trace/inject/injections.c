// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/inject/injections.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/inject/injection.h"
#include "cuda-trace/proc/injection_variable.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/proc/process_stat.h"
#include "libcupti-usdt/probes.h"

#define AT_ONCE	      4 /* each has a helper process */
#define ATTEMPTS      8
#define RETRY_MS      250
#define LATE_MS	      3000
#define SETTLE_MS     100  /* a start takes 50 ms while it waits for an answer */
#define PROCESSES_MAX 4096 /* that are kept in mind; the oldest that have ended go first */

enum attempt_state {
	ATTEMPT_PLANNED,
	ATTEMPT_RUNS,
	ATTEMPT_LATE, /* the threads go on, but the library has not begun yet */
	ATTEMPT_OVER,
};

struct attempt {
	struct injection injection;
	enum attempt_state state;
	enum injection_need need;
	uint32_t count;
	uint64_t due; /* ms */
	struct injection_result late;
};

struct injections {
	char agent[PATH_MAX];
	bool unprepared, verbose, is_full;
	injections_ended ended;
	void *context;
	struct attempt *attempts;
	uint32_t count, capacity, running;
};

struct injections *injections__new(const char *agent, bool unprepared, bool verbose,
				   injections_ended ended, void *context)
{
	struct injections *injections = calloc(1, sizeof(*injections));

	if (!injections)
		return NULL;
	snprintf(injections->agent, sizeof(injections->agent), "%s", agent);
	injections->unprepared = unprepared;
	injections->verbose = verbose;
	injections->ended = ended;
	injections->context = context;
	return injections;
}

void injections__free(struct injections *injections)
{
	if (!injections)
		return;
	free(injections->attempts);
	free(injections);
}

const char *injections__agent(const struct injections *injections)
{
	return injections->agent;
}

static struct attempt *find(const struct injections *injections, uint32_t pid)
{
	uint64_t start = process_stat__start(pid);

	for (uint32_t i = 0; i < injections->count; i++)
		if (injections->attempts[i].injection.pid == pid &&
		    injections->attempts[i].injection.start == start)
			return &injections->attempts[i];
	return NULL;
}

bool injections__tried(const struct injections *injections, uint32_t pid)
{
	const struct attempt *attempt = find(injections, pid);

	return attempt && (attempt->state != ATTEMPT_OVER || attempt->count);
}

bool injections__includes(const struct injections *injections, uint32_t pid)
{
	const struct attempt *attempt = injections ? find(injections, pid) : NULL;

	return attempt && attempt->state != ATTEMPT_OVER;
}

bool injections__is_trying(const struct injections *injections, uint32_t pid)
{
	const struct attempt *attempt = injections ? find(injections, pid) : NULL;

	return attempt && attempt->state != ATTEMPT_OVER && attempt->count;
}

bool injections__wants(const struct injections *injections, uint32_t pid)
{
	struct inspection seen;

	if (process_maps__process(pid, &seen) || !seen.cuda || find(injections, pid))
		return false;
	if (seen.agent)
		return seen.asleep;
	/* Where the variable names it, the driver will load the agent by itself, in cuInit(). */
	return injections->unprepared && injection_variable__of(pid) != INJECTION_VARIABLE_OURS;
}

static void forget_ended(struct injections *injections)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < injections->count; i++) {
		const struct attempt *attempt = &injections->attempts[i];

		if (attempt->state != ATTEMPT_OVER || attempt->injection.helper ||
		    process_stat__start(attempt->injection.pid) == attempt->injection.start)
			injections->attempts[kept++] = *attempt;
	}
	injections->count = kept;
}

static void conclude(struct injections *injections, struct attempt *attempt,
		     const struct injection_result *result)
{
	uint32_t pid = attempt->injection.pid;
	struct injection_result known = *result;

	attempt->state = ATTEMPT_OVER;
	known.started = attempt->need != INJECTION_LOADS;
	injections->ended(injections->context, pid, &known);
}

/* False: it has woken up by itself, or has ended. */
static bool is_needed(const struct attempt *attempt)
{
	struct inspection seen;

	return !process_maps__process(attempt->injection.pid, &seen) &&
	       (attempt->need == INJECTION_PRIMES || !seen.agent || seen.asleep);
}

static bool has_ended(const struct attempt *attempt)
{
	uint32_t pid = attempt->injection.pid;

	return process_stat__start(pid) != attempt->injection.start || process_stat__has_ended(pid);
}

/* Before another attempt. */
static void stop_trying(struct injections *injections, struct attempt *attempt)
{
	bool ended = has_ended(attempt);

	conclude(injections, attempt,
		 &(struct injection_result){.met = !ended,
					    .error = ended ? -ESRCH : 0,
					    .attempts = attempt->count,
					    .reason = "the process has ended"});
}

static bool begin(struct injections *injections, struct attempt *attempt)
{
	uint64_t start = attempt->injection.start;

	if (!is_needed(attempt)) {
		attempt->state = ATTEMPT_OVER;
		if (attempt->count)
			stop_trying(injections, attempt);
		return true;
	}
	if (injection__start(&attempt->injection, attempt->injection.pid, injections->agent))
		return false;
	attempt->injection.start = start;
	attempt->state = ATTEMPT_RUNS;
	attempt->count++;
	injections->running++;
	return true;
}

bool injections__start(struct injections *injections, uint32_t pid, enum injection_need need)
{
	if (injections->count >= PROCESSES_MAX)
		forget_ended(injections);
	if (injections->count >= PROCESSES_MAX) {
		if (!injections->is_full)
			fprintf(stderr,
				"cuda-trace: the injection library was loaded into %d processes, "
				"which is the limit: others get it when some of these have ended\n",
				PROCESSES_MAX);
		injections->is_full = true;
		return false;
	}
	if (!array_grow__for_one(injections->attempts, injections->capacity, injections->count))
		return false;
	injections->attempts[injections->count] = (struct attempt){
		.injection = {.pid = pid, .start = process_stat__start(pid), .results = -1},
		.need = need,
		.due = need == INJECTION_WAKES ? monotonic__ms() + SETTLE_MS : 0,
	};
	injections->count++;
	injections__poll(injections);
	return true;
}

void injections__report(const struct injections *injections, uint32_t pid,
			const struct injection_result *result)
{
	struct inspection seen;
	char comm[64];

	if (process_maps__process(pid, &seen) || result->error == -ESRCH ||
	    result->error == -ECHILD)
		return;
	text__show(comm, sizeof(comm), seen.comm, 0);
	if (result->error)
		fprintf(stderr,
			"cuda-trace: process %u (%s) does not get the injection library, so its "
			"GPU times are missing: %s\n",
			pid, comm, result->reason);
	else if (injections->verbose && result->met)
		fprintf(stderr, "cuda-trace: process %u (%s) has the injection library by now\n",
			pid, comm);
	else if (injections->verbose)
		fprintf(stderr,
			"cuda-trace: process %u (%s): %s the injection library; %u of %u threads "
			"stopped for up to %.1f ms (%.1f ms of it to load the library)\n",
			pid, comm, result->present ? "woke" : "loaded",
			result->stopped + result->idle, result->threads, result->stop_us / 1e3,
			result->call_us / 1e3);
}

static void end(struct injections *injections, struct attempt *attempt,
		const struct injection_result *result)
{
	uint32_t pid = attempt->injection.pid;

	injections->running--;
	if ((result->error == -EAGAIN || result->error == -EALREADY) && attempt->count < ATTEMPTS) {
		attempt->state = ATTEMPT_PLANNED;
		attempt->due = monotonic__ms() + RETRY_MS;
		if (injections->verbose)
			fprintf(stderr, "cuda-trace: process %u: %s; trying again\n", pid,
				result->reason);
		return;
	}
	if (result->error == -ETIMEDOUT) {
		attempt->state = ATTEMPT_LATE;
		attempt->due = monotonic__ms() + LATE_MS;
		attempt->late = *result;
		return;
	}
	conclude(injections, attempt, result);
}

/* The call may end later: on a busy machine, or as the threads that go on now let it. */
static void look_late(struct injections *injections, struct attempt *attempt, uint64_t now)
{
	if (!is_needed(attempt))
		attempt->late.error = has_ended(attempt) ? -ESRCH : 0;
	else if (now < attempt->due)
		return;
	conclude(injections, attempt, &attempt->late);
}

void injections__each_open(const struct injections *injections,
			   void (*handle)(void *context, uint32_t pid), void *context)
{
	for (uint32_t i = 0; injections && i < injections->count; i++) {
		const struct attempt *attempt = &injections->attempts[i];

		if (attempt->state != ATTEMPT_OVER && !has_ended(attempt))
			handle(context, attempt->injection.pid);
	}
}

bool injections__is_armed(const struct injections *injections, uint32_t pid)
{
	const struct attempt *attempt = injections ? find(injections, pid) : NULL;

	return attempt && attempt->state == ATTEMPT_RUNS && attempt->injection.armed;
}

void injections__poll(struct injections *injections)
{
	uint64_t now = monotonic__ms();

	for (uint32_t i = 0; i < injections->count; i++) {
		struct attempt *attempt = &injections->attempts[i];
		struct injection_result result;

		if (attempt->state != ATTEMPT_RUNS)
			injection__reap(&attempt->injection);
		if (attempt->state == ATTEMPT_LATE)
			look_late(injections, attempt, now);
		if (attempt->state != ATTEMPT_RUNS ||
		    !injection__poll(&attempt->injection, &result))
			continue;
		result.attempts = attempt->count;
		end(injections, attempt, &result);
	}
	for (uint32_t i = 0; i < injections->count && injections->running < AT_ONCE; i++) {
		struct attempt *attempt = &injections->attempts[i];

		if (attempt->state == ATTEMPT_PLANNED && now >= attempt->due &&
		    injection__reap(&attempt->injection) && !begin(injections, attempt))
			attempt->due = now + RETRY_MS;
	}
}
