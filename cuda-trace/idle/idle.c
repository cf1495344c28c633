// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collects, and explains when all has come; earlier only where too much is kept. Then what is older
 * than LATE_NS is explained and forgotten.
 */
#include "cuda-trace/idle/idle.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/idle/idle_cost.h"
#include "cuda-trace/idle/idle_gaps.h"
#include "cuda-trace/idle/idle_observed.h"
#include "cuda-trace/idle/idle_threads.h"
#include "cuda-trace/idle/idle_timeline.h"
#include "cuda-trace/idle/open_launches.h"

#define KEPT_MAX (1u << 20)
#define LATE_NS	 1000000000
/* With windows: a timed launch whose kernel comes later counts as an untimed one. */
#define WINDOW_LATE_NS (3 * (uint64_t)LATE_NS)
#define NAMELESS       UINT32_MAX
#define TOO_MUCH       2 /* measurements */

struct idle {
	struct idle_timeline *timeline;
	struct idle_functions *functions;
	struct idle_threads *threads;
	struct idle_gaps *gaps;
	struct idle_observed *observed; /* NULL = all of the time is */
	struct idle_cost cost;
	uint32_t too_much;	      /* times in sequence that it was */
	uint64_t attached, stopped;   /* ns; 0 = not */
	struct process *last_process; /* that a record came of, and */
	struct idle_host *last_host;  /* its host */
	uint64_t last_read, lost;
	uint64_t next_follow; /* ns */
	bool follows, replays;
	struct idle_sums sums;
};

struct idle *idle__new(bool follows)
{
	struct idle *idle = calloc(1, sizeof(*idle));

	if (!idle)
		return NULL;
	idle->follows = follows;
	idle->timeline = idle_timeline__new();
	idle->functions = idle_functions__new();
	if (idle->timeline && idle->functions)
		idle->gaps = idle_gaps__new(idle->timeline, idle->functions);
	if (idle->gaps)
		return idle;
	idle__free(idle);
	return NULL;
}

bool idle__sample(struct idle *idle)
{
	idle->observed = idle_observed__new();
	idle_gaps__sample(idle->gaps, idle->observed, idle->follows);
	return idle->observed;
}

void idle__free(struct idle *idle)
{
	if (!idle)
		return;
	idle_observed__free(idle->observed);
	idle_cost__close(&idle->cost);
	idle_threads__free(idle->threads);
	idle_gaps__free(idle->gaps);
	idle_functions__free(idle->functions);
	idle_timeline__free(idle->timeline);
	free(idle);
}

static void add_evidence(void *context, const struct idle_wait *wait,
			 const struct idle_sample *sample, uint32_t function)
{
	struct idle *idle = context;

	if (wait)
		idle_timeline__wait(idle->timeline, wait, function);
	else
		idle_timeline__sample(idle->timeline, sample, function);
}

void idle__attach(struct idle *idle, const struct session *session)
{
	bool scheduler;

	if (!idle)
		return;
	idle->last_read = idle->attached = monotonic__ns();
	idle->threads = idle_threads__new(session, idle->functions, add_evidence, idle);
	idle->sums.reduced =
		idle_evidence__reduced(idle_threads__evidence(idle->threads), &scheduler);
	idle_gaps__know(idle->gaps)->scheduler = scheduler;
}

static void note_lossy(struct idle *idle, uint64_t from, uint64_t to)
{
	struct idle_known *known = idle_gaps__know(idle->gaps);

	if (known->lossy_count == IDLE_LOSSY_MAX)
		known->lossy_count--;
	else
		known->lossy[known->lossy_count].from = from;
	known->lossy[known->lossy_count++].to = to;
}

/* Waits that were lost since the last time may have been anywhere in between, and some before were
 * not reported yet. */
static void read_evidence(struct idle *idle)
{
	struct idle_known *known = idle_gaps__know(idle->gaps);
	uint64_t now = monotonic__ns();
	struct idle_counters counters;

	idle_evidence__read(idle_threads__evidence(idle->threads));
	idle_evidence__counters(idle_threads__evidence(idle->threads), &counters);
	if (counters.threads_full || counters.unfollowed)
		known->threads_left_out = true;
	if (counters.ring_full > idle->lost)
		note_lossy(idle, idle->last_read, now);
	idle->lost = counters.ring_full;
	idle->sums.left_out = counters.threads_full + counters.unfollowed;
	idle->last_read = now;
}

static bool keeps_too_much(const struct idle *idle)
{
	return idle_timeline__size(idle->timeline) >= KEPT_MAX ||
	       idle_gaps__size(idle->gaps) >= KEPT_MAX ||
	       idle_observed__size(idle->observed) >= KEPT_MAX;
}

/* And forgets it. False: there was no GPU yet. */
static bool explain_until(struct idle *idle, uint64_t until)
{
	uint64_t before;
	bool any = idle_gaps__close(idle->gaps, until, &before);

	idle_timeline__forget(idle->timeline, before);
	return any;
}

void idle__tick(struct idle *idle)
{
	if (!idle)
		return;
	read_evidence(idle);
	if (!keeps_too_much(idle))
		return;
	/* So much in less than that time: then what is late is counted. */
	if (!explain_until(idle, idle->last_read - LATE_NS) ||
	    idle_timeline__size(idle->timeline) >= KEPT_MAX ||
	    idle_gaps__size(idle->gaps) >= KEPT_MAX)
		explain_until(idle, idle->last_read - LATE_NS / 5);
}

static void stop(struct idle *idle)
{
	read_evidence(idle);
	idle_evidence__finish(idle_threads__evidence(idle->threads));
	idle_observed__stop(idle->observed);
	idle->stopped = monotonic__ns();
	if (idle->follows)
		idle->sums.reduced = "scheduler events cost more than --max-overhead: idle time is "
				     "not explained any more";
}

bool idle__limit(struct idle *idle, double limit, double *part)
{
	*part = idle && !idle->stopped ? idle->cost.part : 0;
	if (!idle || !idle->threads || idle->stopped)
		return false;
	if (!idle_cost__tick(&idle->cost, idle_threads__evidence(idle->threads)))
		return false;
	*part = idle->cost.part;
	/* Once may be chance. */
	idle->too_much = *part > limit ? idle->too_much + 1 : 0;
	if (idle->too_much < TOO_MUCH)
		return false;
	stop(idle);
	return true;
}

static struct idle_host *host_of(struct idle *idle, struct process *process)
{
	if (idle->last_process != process) {
		idle->last_host = idle_timeline__host(idle->timeline, process->pid);
		idle->last_process = process;
	}
	if (idle->last_host)
		idle->last_host->process = process;
	return idle->last_host;
}

void idle__start(struct idle *idle, struct process *process)
{
	struct idle_host *host = idle ? host_of(idle, process) : NULL;

	if (!idle)
		return;
	if (host && idle->follows && !host->open)
		host->open = open_launches__new();
	idle_evidence__add(idle_threads__evidence(idle->threads), process->pid);
}

static void add_call(struct idle *idle, struct idle_host *host, uint32_t tid,
		     const struct idle_call *call)
{
	struct idle_line *line = idle_timeline__line(idle->timeline, host, tid, true);

	if (line && call->start && call->end >= call->start)
		idle_timeline__call(idle->timeline, line, call);
}

/* Names in recordings end with the function's version. */
static bool waits_for_context(const char *name)
{
	static const char driver[] = "cuCtxSynchronize", runtime[] = "cudaDeviceSynchronize";

	return !strncmp(name, driver, sizeof(driver) - 1) ||
	       !strncmp(name, runtime, sizeof(runtime) - 1);
}

void idle__record(struct idle *idle, struct process *process, const struct cuda_record *record)
{
	const struct cuda_launch *launch = (const void *)record;
	const struct cuda_api *api = (const void *)record;
	struct idle_host *host;

	if (!idle || process->source == EVENT_SOURCE_DRIVER)
		return;
	host = host_of(idle, process);
	if (!host)
		return;
	switch (record->kind) {
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		if (!launch->result && launch->flags & CUDA_LAUNCH_TIMED)
			open_launches__add(host->open, record->correlation, launch->start);
		idle_observed__launch(idle->observed, host, launch);
		add_call(idle, host, launch->tid,
			 &(struct idle_call){launch->start, launch->end, record->correlation,
					     IDLE_LAUNCH_CALL});
		break;
	case CUDA_RECORD_API:
		if (idle->observed && process->group == CUDA_GROUP_API_SYNC &&
		    waits_for_context(idle_host__name(idle->timeline, host, api->name)))
			idle_observed__sync(idle->observed, host, api);
		if (1u << process->group & IDLE_CALL_GROUPS)
			add_call(idle, host, api->tid,
				 &(struct idle_call){api->start, api->end, record->correlation,
						     api->name ? api->name : NAMELESS});
		return;
	}
	idle_gaps__record(idle->gaps, host, record);
}

void idle__waited(struct idle *idle, const struct collective_wait *wait)
{
	struct idle_host *host = idle_timeline__host(idle->timeline, wait->pid);

	if (host)
		idle_gaps__waited(idle->gaps, host, wait);
}

/* Its number may be another's soon. */
static void forget_process(struct idle *idle, struct idle_host *host)
{
	open_launches__free(host->open);
	host->open = NULL;
	idle_threads__forget(idle->threads, host->pid);
}

/* Of a recording: it may have gone on behind its end. */
static uint64_t end_of(const struct idle *idle, const struct process *process)
{
	if (!idle->replays)
		return monotonic__ns();
	return process->ended_ns ? process->ended_ns : UINT64_MAX - 1;
}

void idle__end(struct idle *idle, struct process *process)
{
	struct idle_host *host = idle ? idle_timeline__host(idle->timeline, process->pid) : NULL;

	if (!host)
		return;
	if (host->process == process)
		idle_host__leave(idle->timeline, host);
	idle_gaps__leave(idle->gaps, host);
	idle_observed__leave(idle->observed, host, end_of(idle, process));
	idle->last_process = NULL;
	if (idle->follows)
		forget_process(idle, host);
}

/* Nothing is claimed of the time whose evidence goes. */
static void forget_more(struct idle *idle, uint64_t before)
{
	uint64_t until = idle->last_read - LATE_NS;

	note_lossy(idle, before, until);
	idle_timeline__forget(idle->timeline, until);
}

/* Returns before when evidence is needed no longer. */
static uint64_t follow(struct idle *idle)
{
	uint64_t before;

	if (idle->observed)
		idle_gaps__close(idle->gaps,
				 idle->last_read -
					 (keeps_too_much(idle) ? LATE_NS : WINDOW_LATE_NS),
				 &before);
	else
		idle_gaps__follow(idle->gaps, idle->last_read - LATE_NS, true, &before);
	return before;
}

bool idle__follow(struct idle *idle)
{
	uint64_t before;

	if (!idle)
		return false;
	read_evidence(idle);
	if (idle->last_read < idle->next_follow)
		return false;
	idle->next_follow = idle->last_read + LATE_NS;
	idle_timeline__provisional(idle->timeline, true);
	idle_evidence__present(idle_threads__evidence(idle->threads));
	before = follow(idle);
	idle_timeline__provisional(idle->timeline, false);
	idle_timeline__forget(idle->timeline, before);
	if (idle_timeline__size(idle->timeline) >= KEPT_MAX)
		forget_more(idle, before);
	idle_gaps__keep(idle->gaps);
	idle_timeline__prune(idle->timeline);
	idle->last_process = NULL;
	return true;
}

const struct idle_sums *idle__sums(struct idle *idle)
{
	idle_gaps__sums(idle->gaps, &idle->sums);
	idle->sums.lost = idle->lost;
	return &idle->sums;
}

uint32_t idle__gpus(const struct idle *idle, struct idle_gpu gpus[GPU_SET_MAX])
{
	return idle_gaps__gpus(idle->gaps, gpus);
}

void idle__recent(const struct idle *idle, uint32_t gpu, enum idle_cause cause,
		  char out[IDLE_PLACE_LEN])
{
	idle_gaps__recent(idle->gaps, gpu, cause, out);
}

void idle__missing(const struct idle *idle, struct idle_missing *missing)
{
	*missing = (struct idle_missing){
		.late = idle_gaps__know(idle->gaps)->late,
		.lost = idle->lost,
		.left_out = idle->sums.left_out,
		.reduced = idle->sums.reduced,
	};
}

void idle__on_gap(struct idle *idle, idle_gap_handler handle, void *context)
{
	idle_gaps__notify(idle->gaps, handle, context);
}

void idle__replay(struct idle *idle, bool scheduler, const char *reduced)
{
	idle->replays = true;
	idle->sums.reduced = reduced;
	idle_gaps__know(idle->gaps)->scheduler = scheduler;
}

void idle__past(struct idle *idle, const struct idle_past *past)
{
	const struct idle_sample sample = {.pid = past->pid, .tid = past->tid, .time = past->start};
	uint32_t function = idle_functions__named(idle->functions, past->function);

	if (past->state)
		idle_timeline__past(idle->timeline, past, function);
	else
		idle_timeline__sample(idle->timeline, &sample, function);
}

void idle__lost(struct idle *idle, uint64_t from, uint64_t to)
{
	note_lossy(idle, from, to);
}

void idle__call(struct idle *idle, uint32_t pid, uint32_t tid, const struct idle_call *call,
		const char *name)
{
	struct idle_host *host = idle_timeline__host(idle->timeline, pid);

	if (!host)
		return;
	idle_host__learn(idle->timeline, host, call->name, name);
	add_call(idle, host, tid, call);
}

void idle__call_in(struct idle *idle, uint32_t pid, uint32_t context, const struct idle_call *call,
		   const char *name)
{
	const struct cuda_api api = {.start = call->start, .end = call->end, .context = context};
	struct idle_host *host = idle_timeline__host(idle->timeline, pid);

	if (host && idle->observed && waits_for_context(name))
		idle_observed__sync(idle->observed, host, &api);
}

void idle__progress(struct idle *idle, uint64_t until)
{
	if (idle_timeline__size(idle->timeline) >= KEPT_MAX ||
	    idle_gaps__size(idle->gaps) >= KEPT_MAX)
		explain_until(idle, until - LATE_NS);
}

const struct idle_sums *idle__finish(struct idle *idle)
{
	if (!idle)
		return NULL;
	if (idle->threads && !idle->stopped) {
		read_evidence(idle);
		idle_evidence__finish(idle_threads__evidence(idle->threads));
	}
	if (!idle_gaps__finish(idle->gaps, &idle->sums))
		return NULL;
	idle->sums.lost = idle->lost;
	idle->sums.sampled = idle->observed != NULL;
	idle->sums.overhead = idle->cost.measured ? idle->cost.part : -1;
	idle->sums.stopped_ns = idle->stopped ? idle->stopped - idle->attached : 0;
	idle->sums.left_out += idle_timeline__dropped(idle->timeline);
	return &idle->sums;
}
