// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways to go wrong:
 * 1. A step never ends, or a rank hangs: a step that is open is judged, too, but GRACE_NS later, as
 *    the record of its end may be on its way. Where records were lost, it may have ended: then only
 *    steps that end are judged.
 * 2. The name of a call that failed comes after the call, and it may be one that only hands out
 * what an earlier call returned: the call waits for its name, at most GRACE_NS.
 * 3. A rank is late for a moment: a verdict counts that is true of a whole window of
 *    comm_windows.h.
 * 4. Several conditions become true: the first one stays.
 */
#include "cuda-trace/trigger/trigger.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/api_names.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/result_names.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/process_windows.h"
#include "cuda-trace/cli/windows_seen.h"
#include "cuda-trace/collectives/comm_windows.h"
#include "cuda-trace/live/live_collectives.h"
#include "cuda-trace/trigger/step_times.h"

#define GRACE_NS   1000000000ull
#define RANGE_MARK 1
#define MAX_RANKS  4096

/* process->data */
struct watched {
	struct watched *next;
	struct process *process;
	struct step_times *steps; /* NULL = none has begun */
};

/* A call that failed and has no name yet. */
struct nameless {
	struct process *process; /* NULL = there is none */
	struct cuda_api call;
	uint64_t since;
};

struct trigger {
	const struct trigger_wanted *wanted;
	struct watched *list;
	struct live_collectives *collectives; /* NULL = not watched */
	struct windows_seen seen;
	struct nameless nameless;
	struct trigger_fired fired; /* .condition NULL = none */
	struct process *unended;    /* has the step that fired, and that has not ended; or NULL */
	uint64_t lost;
	uint64_t steps, usual; /* for why_not(): all of them; the latest that was known */
};

static bool has_kind(const struct trigger_wanted *wanted, enum trigger_kind kind)
{
	for (uint32_t i = 0; i < wanted->count; i++)
		if (wanted->list[i].kind == kind)
			return true;
	return false;
}

struct trigger *trigger__new(const struct trigger_wanted *wanted)
{
	struct trigger *trigger = calloc(1, sizeof(*trigger));
	struct session_options unused = {};

	if (!trigger)
		return NULL;
	trigger->wanted = wanted;
	if (!has_kind(wanted, TRIGGER_LATE))
		return trigger;
	trigger->collectives = live_collectives__open(&unused, MAX_RANKS);
	if (trigger->collectives)
		return trigger;
	free(trigger);
	return NULL;
}

void trigger__free(struct trigger *trigger)
{
	if (!trigger)
		return;
	/* Of a session that never ran: its processes are gone. */
	while (trigger->list) {
		struct watched *watched = trigger->list;

		trigger->list = watched->next;
		free(watched->steps);
		free(watched);
	}
	live_collectives__free(trigger->collectives);
	free(trigger);
}

const struct trigger_fired *trigger__fired(const struct trigger *trigger)
{
	return trigger && trigger->fired.condition ? &trigger->fired : NULL;
}

/* `time`: when it was true. */
static void fire(struct trigger *trigger, const struct trigger_condition *condition, uint64_t time,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

static void fire(struct trigger *trigger, const struct trigger_condition *condition, uint64_t time,
		 const char *format, ...)
{
	struct trigger_fired *fired = &trigger->fired;
	uint64_t now = monotonic__ns();
	va_list arguments;

	fired->condition = condition->text;
	fired->monotonic = time < now ? time : now;
	fired->utc = realtime__ns() - (now - fired->monotonic);
	fired->version++;
	va_start(arguments, format);
	vsnprintf(fired->text, sizeof(fired->text), format, arguments);
	va_end(arguments);
}

/* NULL: it is not watched for, or has fired already. */
static const struct trigger_condition *next_condition(const struct trigger *trigger,
						      enum trigger_kind kind)
{
	for (uint32_t i = 0; i < trigger->wanted->count && !trigger->fired.condition; i++)
		if (trigger->wanted->list[i].kind == kind)
			return &trigger->wanted->list[i];
	return NULL;
}

/* "python3 (pid 4711, rank 3)" */
static const char *describe_process(const struct process *process, char *out, size_t size)
{
	char comm[EVENT_COMM_LEN + 1], shown[80], rank[32] = "";

	snprintf(comm, sizeof(comm), "%.*s", EVENT_COMM_LEN, process->comm);
	if (process->rank.known)
		snprintf(rank, sizeof(rank), ", rank %u", process->rank.rank);
	snprintf(out, size, "%s (pid %u%s)", text__show(shown, sizeof(shown), comm, 16),
		 process->pid, rank);
	return out;
}

/* ---- steps ---- */

static uint64_t limit_of(const struct trigger_condition *condition, uint64_t usual)
{
	double limit = condition->factor * usual;

	if (!(condition->factor > 0))
		return condition->limit;
	return usual && limit < 1e18 ? (uint64_t)limit : UINT64_MAX;
}

static void fire_step(struct trigger *trigger, const struct trigger_condition *condition,
		      struct process *process, const struct cuda_nvtx *range, uint64_t ns,
		      bool ended)
{
	const struct step_times *times = ((const struct watched *)process->data)->steps;
	uint64_t usual = step_times__usual(times);
	const char *name = process__name(process, range->text);
	char who[128], shown[168], took[16], often[16] = "", more[48] = "";

	if (usual)
		snprintf(more, sizeof(more), ", usually %s", text__ns(often, usual));
	fire(trigger, condition, range->start + ns, "step %" PRIu64 " ('%s') of %s %s %s%s%s",
	     times->steps + !ended, text__show(shown, sizeof(shown), name ? name : "?", 40),
	     describe_process(process, who, sizeof(who)), ended ? "took" : "has taken",
	     text__ns(took, ns), ended ? "" : " and goes on", more);
	trigger->fired.step_ns = ns;
	trigger->unended = ended ? NULL : process;
}

/* Of a step that goes on, `ns` is its duration so far. */
static void check_step(struct trigger *trigger, struct process *process,
		       const struct cuda_nvtx *range, uint64_t ns, bool ended)
{
	uint64_t usual = step_times__usual(((const struct watched *)process->data)->steps);
	uint64_t grace = ended ? 0 : GRACE_NS;

	for (uint32_t i = 0; i < trigger->wanted->count && !trigger->fired.condition; i++) {
		const struct trigger_condition *condition = &trigger->wanted->list[i];

		if (condition->kind == TRIGGER_STEP && ns > grace &&
		    ns - grace > limit_of(condition, usual))
			fire_step(trigger, condition, process, range, ns, ended);
	}
}

/* The step that had not ended when it fired. */
static void complete(struct trigger *trigger, struct process *process,
		     const struct cuda_nvtx *range)
{
	const struct trigger_fired fired = trigger->fired;

	for (uint32_t i = 0; i < trigger->wanted->count; i++)
		if (trigger->wanted->list[i].text == fired.condition)
			fire_step(trigger, &trigger->wanted->list[i], process, range,
				  range->end - range->start, true);
	trigger->fired.monotonic = fired.monotonic;
	trigger->fired.utc = fired.utc;
}

static void end_step(struct trigger *trigger, struct process *process,
		     const struct cuda_nvtx *range)
{
	struct step_times *times = ((struct watched *)process->data)->steps;
	bool was_open = times->is_open;

	if (!step_times__end(times, range))
		return;
	if (trigger->unended == process && was_open)
		complete(trigger, process, range);
	check_step(trigger, process, range, range->end - range->start, true);
	step_times__add(times, range->end - range->start);
	trigger->steps++;
	if (step_times__usual(times))
		trigger->usual = step_times__usual(times);
}

static bool is_step(struct trigger *trigger, struct process *process, const struct cuda_nvtx *range)
{
	const char *name = process__name(process, range->text);
	const char *domain = range->domain ? process__name(process, range->domain) : "";

	if (range->kind == RANGE_MARK || !name)
		return false;
	trigger->seen.any = true;
	if (process_windows__is_range(&trigger->wanted->steps, name, domain))
		return true;
	if (*name)
		windows_seen__other(&trigger->seen, name);
	return false;
}

static void handle_range(struct trigger *trigger, struct process *process,
			 const struct cuda_nvtx *range)
{
	struct watched *watched = process->data;

	if (!watched || !is_step(trigger, process, range))
		return;
	trigger->seen.begun = true;
	if (!watched->steps)
		watched->steps = calloc(1, sizeof(*watched->steps));
	if (!watched->steps)
		return;
	if (range->head.kind == CUDA_RECORD_NVTX_OPEN)
		step_times__begin(watched->steps, range);
	else
		end_step(trigger, process, range);
}

static void check_open_steps(struct trigger *trigger, uint64_t lost, uint64_t now)
{
	bool uncertain = lost != trigger->lost;

	trigger->lost = lost;
	for (struct watched *watched = trigger->list; watched; watched = watched->next) {
		struct step_times *times = watched->steps;

		if (!times || !times->is_open)
			continue;
		if (uncertain)
			step_times__forget_open(times);
		else if (now > times->open.start)
			check_step(trigger, watched->process, &times->open, now - times->open.start,
				   false);
	}
}

/* ---- failed calls ---- */

static void fire_error(struct trigger *trigger, const struct process *process,
		       const struct cuda_api *call, const char *name)
{
	const struct trigger_condition *condition = next_condition(trigger, TRIGGER_ERROR);
	const char *result = result_names__name(call->domain, call->result);
	char shown[260], who[128];

	if (!condition)
		return;
	fire(trigger, condition, call->end ? call->end : monotonic__ns(),
	     "%s of %s failed: %s (%d)",
	     text__show(shown, sizeof(shown), name ? name : "a call", 64),
	     describe_process(process, who, sizeof(who)), result ? result : "unknown result",
	     call->result);
}

static void handle_call(struct trigger *trigger, struct process *process,
			const struct cuda_api *call)
{
	const char *name = process__name(process, call->name);

	if (!result_names__is_failure(call->domain, call->result, name))
		return;
	if (name || call->domain != CUDA_DOMAIN_RUNTIME)
		fire_error(trigger, process, call, name);
	else if (!trigger->nameless.process)
		trigger->nameless = (struct nameless){process, *call, monotonic__ns()};
}

static void handle_launch(struct trigger *trigger, const struct process *process,
			  const struct cuda_launch *launch)
{
	const struct cuda_api call = {
		.end = launch->end, .domain = launch->domain, .result = launch->result};
	char name[128];

	if (result_names__is_failure(launch->domain, launch->result, NULL))
		fire_error(trigger, process, &call,
			   store__call_name(name, sizeof(name), launch->domain, launch->cbid));
}

/* `last`: its name does not come any more. */
static void name_call(struct trigger *trigger, bool last)
{
	struct nameless *nameless = &trigger->nameless;
	const char *name;

	if (!nameless->process)
		return;
	name = process__name(nameless->process, nameless->call.name);
	if (!name && !last)
		return;
	if (result_names__is_failure(nameless->call.domain, nameless->call.result, name))
		fire_error(trigger, nameless->process, &nameless->call, name);
	nameless->process = NULL;
}

/* ---- late ranks ---- */

static void check_ranks(struct trigger *trigger, uint64_t now)
{
	const struct nccl_comms *comms = live_collectives__comms(trigger->collectives);
	const struct trigger_condition *condition = next_condition(trigger, TRIGGER_LATE);
	struct nccl_comm_late late;
	char by[16];

	for (uint32_t i = 0; comms && condition && i < comms->count; i++) {
		const struct nccl_comm *comm = &comms->list[i];

		if (!comm_windows__is_settled(comm, now) ||
		    nccl_comms__verdict_here(comm, &late) != NCCL_COMM_LATE)
			continue;
		fire(trigger, condition, now,
		     "rank %d (pid %u) came last to %" PRIu64 " of %" PRIu64
		     " collectives of communicator %016" PRIx64 ", on average %s after the others",
		     late.rank->rank, late.rank->pid, late.count, comm->met, comm->id,
		     text__ns(by, late.ns / late.count));
		break;
	}
	/* Begins new windows, without what this one had. */
	live_collectives__follow(trigger->collectives);
}

/* ---- what comes ---- */

void trigger__process_start(struct trigger *trigger, struct process *process)
{
	struct watched *watched = trigger ? calloc(1, sizeof(*watched)) : NULL;

	if (!trigger)
		return;
	process->data = watched;
	if (!watched)
		return;
	watched->process = process;
	watched->next = trigger->list;
	trigger->list = watched;
}

void trigger__record(struct trigger *trigger, struct process *process,
		     const struct cuda_record *record)
{
	if (!trigger)
		return;
	live_collectives__record(trigger->collectives, process, record);
	switch (record->kind) {
	case CUDA_RECORD_NVTX:
	case CUDA_RECORD_NVTX_OPEN:
		handle_range(trigger, process, (const void *)record);
		break;
	case CUDA_RECORD_API:
		handle_call(trigger, process, (const void *)record);
		break;
	case CUDA_RECORD_LAUNCH:
		handle_launch(trigger, process, (const void *)record);
		break;
	}
}

void trigger__collective(struct trigger *trigger, struct process *process,
			 const struct event_collective *call)
{
	if (trigger)
		live_collectives__call(trigger->collectives, process, call);
}

void trigger__process_end(struct trigger *trigger, struct process *process)
{
	struct watched *watched = trigger ? process->data : NULL;
	struct watched **link = trigger ? &trigger->list : NULL;

	if (!watched)
		return;
	if (trigger->nameless.process == process)
		name_call(trigger, true);
	if (trigger->unended == process)
		trigger->unended = NULL;
	live_collectives__end(trigger->collectives, process);
	while (*link != watched)
		link = &(*link)->next;
	*link = watched->next;
	free(watched->steps);
	free(watched);
	process->data = NULL;
}

void trigger__tick(struct trigger *trigger, uint64_t lost)
{
	uint64_t now = monotonic__ns();

	if (!trigger)
		return;
	name_call(trigger, now - trigger->nameless.since > GRACE_NS);
	check_open_steps(trigger, lost, now);
	check_ranks(trigger, now);
}

/* ---- why none ---- */

static void explain_steps(const struct trigger *trigger, FILE *out)
{
	char shown[168], usual[16];

	if (trigger->steps) {
		fprintf(out, ": %" PRIu64 " steps", trigger->steps);
		if (trigger->usual)
			fprintf(out, ", usually %s", text__ns(usual, trigger->usual));
		else
			fprintf(out, ", of each process %d are needed",
				STEP_TIMES_SKIPPED + STEP_TIMES_LEAST);
		return;
	}
	text__show(shown, sizeof(shown), trigger->wanted->steps.name, 40);
	if (!trigger->seen.any) {
		fprintf(out, ": no NVTX range was seen at all");
		return;
	}
	fprintf(out, ": no NVTX range '%s' %s (--step-range names another one", shown,
		trigger->seen.begun ? "ended" : "was seen");
	for (int i = 0; i < WINDOWS_SEEN_OTHERS && *trigger->seen.others[i]; i++)
		fprintf(out, "%s'%s'", i ? ", " : "; others: ",
			text__show(shown, sizeof(shown), trigger->seen.others[i], 40));
	fprintf(out, ")");
}

const char *trigger__why_not(const struct trigger *trigger, char *out, size_t size)
{
	FILE *text = fmemopen(out, size, "w");

	*out = 0;
	if (!text)
		return out;
	if (has_kind(trigger->wanted, TRIGGER_STEP))
		explain_steps(trigger, text);
	if (trigger->collectives && !live_collectives__comms(trigger->collectives)->count)
		fprintf(text, "; no communicator of NCCL was seen");
	fclose(text);
	out[size - 1] = 0;
	return out;
}
