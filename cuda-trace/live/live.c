// SPDX-License-Identifier: BSD-2-Clause
/*
 * Session and aggregate program side by side. A process is known by its slot in the aggregate
 * program's table; the session says its names, and when it has ended.
 */
#include "cuda-trace/live/live.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cuda-trace/live/live_lost.h"
#include "cuda-trace/live/live_missed.h"
#include "cuda-trace/live/live_origin.h"
#include "cuda-trace/live/live_processes.h"
#include "cuda-trace/live/live_records.h"
#include "cuda-trace/live/live_shares.h"

#define SWEEP_SECONDS 30 /* between looks for processes whose end was not reported */

struct live {
	struct live_records records; /* first: some of the sink's functions take it */
	struct session *session;
	struct aggregate *aggregate;
	struct live_sink sink;
	struct live_process *slots[AGGREGATE_PROCESSES];
	struct live_process rest; /* slot 0 */
	time_t next_sweep, next_end_collect;
	uint64_t others, failures; /* at the last sweep; at the last end of a process */
	struct live_beyond beyond;
	uint64_t missed_before; /* by processes that are gone */
	struct session_lost_counts most_lost;
	struct sources *sources;
	struct live_shares *shares; /* NULL = not wanted */
	bool by_name, by_device, whole_copies, is_attached;
	struct session_options options; /* of these: the requested cycle */
	struct live_pace pace;
	struct live_origin origins[LIVE_ORIGINS];
	const struct process *ending; /* whose end is being handled: it has its names still */
};

static struct live_process *process_of(struct live *live, uint32_t slot)
{
	if (slot && slot < AGGREGATE_PROCESSES && live->slots[slot])
		return live->slots[slot];
	return &live->rest;
}

static struct live_process *find(struct live *live, uint32_t pid, uint64_t instance)
{
	for (uint32_t slot = 1; slot < AGGREGATE_PROCESSES; slot++) {
		struct live_process *process = live->slots[slot];

		if (process && process->key.pid == pid && process->key.instance == instance &&
		    process->key.source == EVENT_SOURCE_AGENT)
			return process;
	}
	return NULL;
}

static void process_starts(void *context, struct process *traced)
{
	struct live *live = context;

	traced->data = live_origin__of(live->origins, traced);
	live_records__start(&live->records, traced);
}

/* Of calls that have failed since: their names are at stake. */
static bool has_failures(struct live *live)
{
	struct aggregate_state state;
	uint64_t before = live->failures;

	aggregate__state(live->aggregate, &state);
	live->failures = state.counters.failures;
	return live->failures != before;
}

static void free_origin(void *context, struct process *traced)
{
	free(traced->data);
	traced->data = NULL;
}

/* With the end its names go: what it did since the last collect must be handed out before. */
static void process_ends(void *context, struct process *traced)
{
	struct live *live = context;
	struct live_process *process;
	time_t now = time(NULL);

	/* Else only the devices' are at stake: not for each of a thousand. */
	if (has_failures(live) || live->by_name || now >= live->next_end_collect) {
		live->next_end_collect = now + 1;
		live->ending = traced;
		live__collect(live);
		live->ending = NULL;
	}
	free_origin(NULL, traced);
	live_records__end(&live->records, traced);
	process = find(live, traced->pid, traced->instance);
	if (!process)
		return;
	process->traced = NULL;
	process->ended = true;
}

static void link_process(void *context, struct process *traced)
{
	struct live_process *process = context;

	if (traced->pid == process->key.pid && traced->instance == process->key.instance)
		process->traced = traced;
}

static void find_process(struct live *live, struct live_process *process)
{
	if (process->key.source != EVENT_SOURCE_AGENT)
		return;
	if (live->ending)
		link_process(process, (struct process *)live->ending);
	if (!process->traced && !process->ended)
		session__each_process(live->session, link_process, process);
}

/* Of two with one number the earlier has ended, even if nothing reported that. */
static void end_namesakes(struct live *live, struct live_process *process)
{
	for (uint32_t slot = 1; slot < AGGREGATE_PROCESSES; slot++) {
		struct live_process *other = live->slots[slot];

		if (!other || other == process || other->key.pid != process->key.pid ||
		    other->key.source != EVENT_SOURCE_AGENT)
			continue;
		if (other->state.start < process->state.start)
			other->ended = true;
		else
			process->ended = true;
	}
}

static void start_process(struct live *live, uint32_t slot, const struct aggregate_process_key *key,
			  const struct aggregate_process *state)
{
	struct live_process *process = calloc(1, sizeof(*process));

	if (!process)
		return;
	process->slot = slot;
	process->key = *key;
	process->state = *state;
	process->state.comm[sizeof(state->comm) - 1] = 0;
	live->slots[slot] = process;
	if (key->source == EVENT_SOURCE_AGENT)
		end_namesakes(live, process);
	find_process(live, process);
	/* No window decides what libcuda's entry points show. */
	process->scale = 1;
	if (key->source == EVENT_SOURCE_AGENT)
		process->scale =
			live_sample__scale(&live->options, process->traced, &process->sample);
	live_origin__find(live->origins, process);
	if (live->sink.process_start)
		live->sink.process_start(live->sink.context, process);
}

static void on_process(void *context, uint32_t slot, const struct aggregate_process_key *key,
		       const struct aggregate_process *state)
{
	struct live *live = context;

	if (!slot || slot >= AGGREGATE_PROCESSES)
		return;
	if (!live->slots[slot]) {
		start_process(live, slot, key, state);
		return;
	}
	if (!live->slots[slot]->traced)
		find_process(live, live->slots[slot]);
	/* A process that is gone keeps its last report. */
	if (live->slots[slot]->traced)
		live->slots[slot]->scale = live_sample__scale(
			&live->options, live->slots[slot]->traced, &live->slots[slot]->sample);
	live_origin__name(live->slots[slot], false);
	live->slots[slot]->state = *state;
	live->slots[slot]->state.comm[sizeof(state->comm) - 1] = 0;
}

static uint32_t device_of(const struct live_process *process, uint32_t device)
{
	uint32_t context = device & ~AGGREGATE_CONTEXT;

	if (!(device & AGGREGATE_CONTEXT))
		return device;
	if (context >= AGGREGATE_CONTEXTS || !process->state.device_of[context])
		return LIVE_NO_DEVICE;
	return process->state.device_of[context] - 1;
}

/* What device_of() cannot know, and what does not fit into add_busy()'s table. All ones: neither is
 * known. */
static void note_beyond(struct live *live, uint32_t device, uint64_t records)
{
	uint32_t context = device & ~AGGREGATE_CONTEXT;

	if (context == device && device >= AGGREGATE_DEVICES)
		live->beyond.devices += records;
	else if (context != device && context >= AGGREGATE_CONTEXTS && device != UINT32_MAX)
		live->beyond.contexts += records;
}

static void on_tally(void *context, const struct tally_key *key, const struct tally *tally)
{
	struct live *live = context;
	struct live_process *process = process_of(live, key->process);
	struct tally whole;

	if (live->by_device && live_pending__tally(process, key, tally))
		return;
	note_beyond(live, key->device, tally->count);
	if (live_sample__expand(key, tally, process->scale, live->whole_copies, &whole))
		tally = &whole;
	live->sink.tally(live->sink.context, process, device_of(process, key->device), key, tally);
}

static void on_shape(void *context, const struct shape_key *key, const struct shape *shape)
{
	struct live *live = context;
	struct live_process *process = process_of(live, key->process);

	if (live->by_device && live_pending__shape(process, key, shape))
		return;
	note_beyond(live, key->context | AGGREGATE_CONTEXT, shape->launches + shape->errors);
	live->sink.shape(live->sink.context, process,
			 device_of(process, key->context | AGGREGATE_CONTEXT), shape);
}

static void on_device(void *context, uint32_t slot, const struct cuda_device *device)
{
	struct live *live = context;

	if (live->sink.device)
		live->sink.device(live->sink.context, process_of(live, slot), device);
}

static void on_file(void *context, const char *path)
{
	struct live *live = context;
	int err = aggregate__add_file(live->aggregate, path);

	if (err)
		fprintf(stderr, "cuda-trace: cannot attach to the batches of a library: %s\n",
			strerror(-err));
}

static void on_file_gone(void *context, const char *path)
{
	aggregate__drop_file(((struct live *)context)->aggregate, path);
}

static int open_aggregate(struct live *live, const struct live_options *options)
{
	struct aggregate_options aggregate = {
		.groups = options->session.groups,
		.by_name = options->by_name,
		.spans = options->sample.max_overhead > 0,
		.shares = options->shares,
		.driver_pids = session__driver_pids(live->session),
		.left_out = session__left_out(live->session),
		.comm = options->session.comm,
		.uid = options->session.uid,
	};

	aggregate.pids = session__filter(live->session, &aggregate.filter);
	live->aggregate = aggregate__open(&aggregate);
	if (!live->aggregate)
		return -EINVAL;
	session__set_driver(live->session, aggregate__release_driver(live->aggregate));
	if (options->shares)
		live->shares = live_shares__new(live->aggregate, &live->sink, options->energy);
	return options->shares && !live->shares ? -ENOMEM : 0;
}

struct live *live__open(const struct live_options *options, const struct live_sink *sink)
{
	struct live *live = calloc(1, sizeof(*live));
	struct session_options session = options->session;
	const struct sink session_sink = {
		.context = live,
		.process_start = process_starts,
		.record = live_records__record,
		.collective = live_records__collective,
		.process_end = process_ends,
		.ends_last = true,
	};
	int err;

	if (!live)
		return NULL;
	live->sink = *sink;
	memcpy(live->rest.state.comm, "other", sizeof("other"));
	live->by_name = options->by_name;
	live->by_device = options->by_device;
	live->whole_copies = options->sample.whole_copies;
	live->options = options->session;
	live->pace = (struct live_pace){
		.overhead = overhead_limit__new(&options->sample),
		.command = options->command,
	};
	live->rest.scale = live_sample__scale(&live->options, NULL, &live->rest.sample);
	session.groups = 0;
	session.yields = true;
	session.watches = true;
	session.source = SESSION_AGENTS; /* the driver source feeds the aggregate program */
	session.ring_mib = options->by_name ? 4 : 1; /* names come in bursts */
	if (!live_records__open(&live->records, options, &session))
		goto failed;
	live->sources = live_processes__new(&options->session);
	live->session = session__open(&session, &session_sink);
	if (!live->sources || !live->session || open_aggregate(live, options))
		goto failed;
	session__on_file(live->session, &(struct session_files){live, on_file, on_file_gone});
	/* No library yet is no reason to give up: one may come with the next container. */
	err = session__attach(live->session);
	if (err && err != -ENOENT)
		goto failed;
	live_idle__attach(live->records.idle, live->session);
	if (live->sink.process_start)
		live->sink.process_start(live->sink.context, &live->rest);
	live->is_attached = true;
	return live;
failed:
	live__close(live);
	return NULL;
}

int live__poll(struct live *live, int timeout_ms)
{
	int err;

	live_sample__tick(&live->pace, live->aggregate, live->session, &live->options);
	live_shares__tick(live->shares, live->slots);
	err = session__poll(live->session, timeout_ms);
	live_records__follow(&live->records, &live->pace);
	return err;
}

void live__wait(const struct live *live, int timeout_ms)
{
	live_records__wait(&live->records, live->session, timeout_ms);
}

struct idle *live__idle(const struct live *live)
{
	return live->records.idle;
}

struct nccl_comms *live__collectives(const struct live *live)
{
	return live_collectives__comms(live->records.collectives);
}

bool live__overhead(const struct live *live, struct overhead_finding *finding)
{
	return overhead_limit__finding(live->pace.overhead, finding);
}

uint32_t live__window(const struct live *live)
{
	return live->options.sample_on_ms;
}

static void end_process(struct live *live, struct live_process *process)
{
	live->missed_before += live_missed__count(process);
	live_shares__end(live->shares, process);
	if (live->sink.process_end)
		live->sink.process_end(live->sink.context, process);
	aggregate__forget(live->aggregate, process->slot, &process->key, process->state.serial);
	live->slots[process->slot] = NULL;
	free(process);
}

/* The ring buffer may have been full when a process ended. */
static void sweep(struct live *live)
{
	time_t now = time(NULL);
	struct aggregate_state state;

	aggregate__state(live->aggregate, &state);
	/* No slot was left: then at once. */
	if (now < live->next_sweep && state.counters.others == live->others)
		return;
	live->others = state.counters.others;
	live->next_sweep = now + SWEEP_SECONDS;
	for (uint32_t slot = 1; slot < AGGREGATE_PROCESSES; slot++) {
		struct live_process *process = live->slots[slot];

		if (process && ((kill(process->key.pid, 0) && errno == ESRCH) ||
				live_origin__is_later(process->key.pid, process->state.start)))
			process->ended = true;
	}
}

/* The kernel takes who has ended out of the map; the number says that it is still the same. */
static void note_driver_ends(struct live *live)
{
	int map = session__driver_pids(live->session);

	for (uint32_t slot = 1; slot < AGGREGATE_PROCESSES; slot++) {
		struct live_process *process = live->slots[slot];
		uint64_t number;

		if (process && process->key.source == EVENT_SOURCE_DRIVER &&
		    (bpf_map_lookup_elem(map, &process->key.pid, &number) ||
		     number != process->key.instance))
			process->ended = true;
	}
}

int live__collect(struct live *live)
{
	const struct aggregate_sink sink = {
		.context = live,
		.process = on_process,
		.device = on_device,
		.tally = on_tally,
		.shape = on_shape,
	};
	bool had_ended[AGGREGATE_PROCESSES] = {};
	int err;

	note_driver_ends(live);
	/* Only who had ended before the drain began has nothing left in the maps. */
	for (uint32_t slot = 1; slot < AGGREGATE_PROCESSES; slot++)
		had_ended[slot] = live->slots[slot] && live->slots[slot]->ended;
	err = aggregate__collect(live->aggregate, &sink);
	if (err)
		return err;
	for (uint32_t slot = 1; slot < AGGREGATE_PROCESSES; slot++) {
		if (live->slots[slot])
			live_pending__hand_out(live->slots[slot], &sink, had_ended[slot]);
		if (had_ended[slot])
			end_process(live, live->slots[slot]);
	}
	sweep(live);
	return 0;
}

void live__each_process(struct live *live,
			void (*each)(void *context, struct live_process *process), void *context)
{
	each(context, &live->rest);
	for (uint32_t slot = 1; slot < AGGREGATE_PROCESSES; slot++)
		if (live->slots[slot])
			each(context, live->slots[slot]);
}

void live__state(struct live *live, struct live_state *state)
{
	uint64_t missed = live->missed_before;

	memset(state, 0, sizeof(*state));
	aggregate__state(live->aggregate, &state->aggregate);
	live_shares__state(live->shares, &state->shares);
	session__lost(live->session, &state->lost);
	state->left_out = *session__left_out(live->session);
	state->beyond = live->beyond;
	live__each_process(live, live_missed__add, &missed);
	live_missed__fill(state, missed);
	live_lost__keep(&state->lost, &live->most_lost);
	live_yields__find(live->session, &state->yields, state->lost.session[SESSION_LOST_YIELDED]);
	live_processes__count(live->sources, live->session, state->sources, &state->unreadable);
}

int live__add_pid(struct live *live, uint32_t pid)
{
	return session__add_pid(live->session, pid);
}

static void tell_end(void *context, struct live_process *process)
{
	struct live *live = context;

	if (process->data)
		live->sink.process_end(live->sink.context, process);
}

void live__close(struct live *live)
{
	struct live_state state;

	if (!live)
		return;
	if (live->is_attached) {
		live__state(live, &state);
		live_lost__say(stderr, &state, live->session);
	}
	if (live->session)
		session__each_process(live->session, free_origin, NULL);
	/* The sink keeps something for each of them. */
	if (live->sink.process_end)
		live__each_process(live, tell_end, live);
	live_shares__free(live->shares);
	aggregate__close(live->aggregate);
	session__close(live->session);
	live_records__free(&live->records);
	live_processes__free(live->sources);
	overhead_limit__free(live->pace.overhead);
	for (uint32_t slot = 1; slot < AGGREGATE_PROCESSES; slot++) {
		if (live->slots[slot])
			live_pending__free(live->slots[slot]);
		free(live->slots[slot]);
	}
	free(live);
}
