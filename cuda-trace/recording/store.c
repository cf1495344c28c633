// SPDX-License-Identifier: BSD-2-Clause
/*
 * The recording side: session → spool. Names are taken from the process when a record first
 * carries their id; one that has not arrived yet is requested again later.
 */
#include "cuda-trace/recording/store.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/proc/mps_server.h"
#include "cuda-trace/recording/store_import.h"
#include "cuda-trace/recording/store_names.h"
#include "cuda-trace/recording/store_origin.h"
#include "cuda-trace/recording/store_session.h"
#include "cuda-trace/recording/store_snapshot.h"
#include "cuda-trace/recording/store_spool.h"
#include "cuda-trace/symbols/debuginfod.h"

#define NS_PER_S   1000000000ull
#define LOST_EVERY NS_PER_S

/* Which of a process's names are in the spool, by id: a hostile process numbers as it likes. */
#define MAX_NAMES (1u << 20)

enum name_state { NAME_NEW, NAME_MISSING, NAME_WRITTEN };

struct store_process {
	struct store_process *next;
	struct process *process;
	uint32_t number;
	uint32_t source;		       /* enum event_source that is in the spool */
	struct callstacks_process *callstacks; /* NULL = none are wanted, or no memory */
	uint8_t *names;			       /* enum name_state by id */
	uint32_t name_capacity;
	bool missing;	      /* some name is NAME_MISSING */
	bool used;	      /* it has used a GPU */
	uint64_t status_time; /* of the last status written */
	struct store_origin *origin;
};

struct store {
	struct store_options options;
	char *path, *spool_path;
	struct spool *spool;
	struct callstacks *callstacks; /* NULL = none are wanted */
	struct store_process *processes;
	uint32_t process_count;
	uint64_t records, refused, refused_stacks;
	uint64_t bytes;	    /* of events in the spool */
	bool mps;	    /* an MPS server was found */
	bool full;	    /* max_bytes is reached: what comes now is not written */
	uint64_t lost_time; /* when losses were last written */
	pid_t snapshot;	    /* see store_snapshot.h */
	int error;
};

static int put(struct store *store, enum spool_kind kind, uint32_t process, const void *data,
	       size_t size, const void *more, size_t more_size)
{
	int err = spool__put(store->spool, kind, process, data, size, more, more_size);

	if (err && !store->error)
		store->error = err;
	return err;
}

static int put_session(struct store *store)
{
	struct spool_session session;
	char facts[4096];
	int size = store_session__describe(&session, facts, sizeof(facts), &store->options);

	return put(store, SPOOL_SESSION, 0, &session, sizeof(session), facts, size);
}

static bool has_space(struct store *store, size_t size)
{
	size += sizeof(struct spool_entry);
	if (store->options.max_bytes && store->bytes + size > store->options.max_bytes)
		store->full = true;
	else
		store->bytes += size;
	return !store->full;
}

void store__put(void *context, enum spool_kind kind, const void *data, size_t size,
		const void *more, size_t more_size)
{
	struct store *store = context;

	/* Names come when recording is over: what has a place in the file gets its name, too. */
	if (SPOOL_IS_NAME(kind) || has_space(store, size + more_size))
		put(store, kind, 0, data, size, more, more_size);
}

static void put_sample(void *context, void *owner, const struct spool_sample *sample)
{
	const struct store_process *own = owner;
	struct store *store = context;
	int err = 0;

	if (has_space(store, sample->head.size))
		err = spool__put_record(store->spool, CUDA_GROUP_LAUNCH, own->number,
					&sample->head);
	store->refused_stacks += err != 0;
	if (err && !store->error)
		store->error = err;
}

static int start_stacks(struct store *store)
{
	const struct callstacks_sink sink = {store, store__put, put_sample};

	if (store->options.stacks)
		store->callstacks = callstacks__new(&sink);
	return store->options.stacks && !store->callstacks ? -ENOMEM : 0;
}

int store__create(struct store **result, const struct store_options *options)
{
	struct store *store = calloc(1, sizeof(*store));
	int err = -ENOMEM;

	if (!store)
		return -ENOMEM;
	if (import__check_path(options->path)) {
		free(store);
		return -EINVAL;
	}
	store->options = *options;
	store->path = strdup(options->path);
	if (!store->path || asprintf(&store->spool_path, "%s.part", options->path) < 0)
		goto cleanup;
	err = spool__create(&store->spool, store->spool_path);
	if (err == -EEXIST)
		spool__say_taken(store->path);
	else if (err)
		fprintf(stderr, "cuda-trace: cannot make %s: %s\n", store->spool_path,
			strerror(-err));
	if (err)
		goto cleanup;
	if (options->keep)
		spool__keep_graphs(store->spool);
	err = put_session(store);
	if (!err)
		err = start_stacks(store);
	if (err)
		goto cleanup;
	*result = store;
	return 0;
cleanup:
	store__close(store);
	return err;
}

void store__process_start(struct store *store, struct process *process)
{
	struct store_process *own = calloc(1, sizeof(*own));
	struct spool_process info = {
		.instance = process->instance,
		.cgroup = process->cgroup,
		.time = monotonic__ns(),
		.pid = process->pid,
		.uid = process->uid,
		.rank = process->rank,
	};

	process->recorded = own;
	if (!own)
		return;
	*own = (struct store_process){
		.process = process, .number = ++store->process_count, .next = store->processes};
	store->processes = own;
	memcpy(info.comm, process->comm, sizeof(info.comm));
	put(store, SPOOL_PROCESS, own->number, &info, sizeof(info), NULL, 0);
	own->origin = store_origin__start(process);
	if (store->callstacks)
		own->callstacks = callstacks_process__new(store->callstacks, process->pid, own);
}

void store__stack(struct store *store, struct process *process, const struct event *event)
{
	struct store_process *own = process->recorded;

	if (store->full)
		return;
	if (own && own->callstacks && !store->error)
		callstacks_process__take(own->callstacks, event);
	else
		store->refused_stacks += event->kind == EVENT_STACK;
}

void store__stack_period(struct store *store, uint32_t period)
{
	put(store, SPOOL_PERIOD, 0, &period, sizeof(period), NULL, 0);
}

void store__stack_counts(const struct store *store, struct callstacks_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	if (store->callstacks)
		callstacks__count(store->callstacks, counts);
	counts->lost += store->refused_stacks;
}

static void put_name(struct store *store, struct store_process *own, uint32_t id)
{
	const char *text = process__name(own->process, id);
	uint32_t head[2] = {id};

	if (!text) {
		own->names[id] = NAME_MISSING;
		own->missing = true;
		return;
	}
	head[1] = strnlen(text, CUDA_NAME_MAX);
	if (!put(store, SPOOL_NAME, own->number, head, sizeof(head), text, head[1]))
		own->names[id] = NAME_WRITTEN;
}

static void need_name(struct store *store, struct store_process *own, uint32_t id)
{
	if (!id || id >= MAX_NAMES)
		return;
	/* Zero is NAME_NEW. */
	if (!array_grow__zeroed(own->names, own->name_capacity, (size_t)id + 1))
		return;
	if (own->names[id] == NAME_NEW)
		put_name(store, own, id);
}

static void need_names(struct store *store, struct store_process *own,
		       const struct cuda_record *record)
{
	uint32_t ids[STORE_NAMES_MAX];
	int count = store_names__of(record, ids);

	for (int i = 0; i < count; i++)
		need_name(store, own, ids[i]);
}

/* Last pass of names: kernels of the driver source that have none go by their handles. */
static void put_handles(struct store *store, struct store_process *own)
{
	uint32_t head[2];

	for (uint32_t id = 0; id < own->name_capacity; id++) {
		const char *text;

		if (own->names[id] != NAME_MISSING)
			continue;
		text = process__pretty_name(own->process, id);
		head[0] = id;
		head[1] = strlen(text);
		put(store, SPOOL_NAME, own->number, head, sizeof(head), text, head[1]);
	}
}

/* An agent may give up, and its process be seen at libcuda's entry points from then on. */
static void note_source(struct store *store, struct store_process *own)
{
	if (own->source == own->process->source)
		return;
	own->source = own->process->source;
	put(store, SPOOL_SOURCE, own->number, &own->source, sizeof(own->source), NULL, 0);
}

/* When a second or later process begins to use a GPU: then its server runs, if it has one. */
static void look_for_mps(struct store *store, struct store_process *own, uint16_t kind)
{
	if (own->used || (kind != CUDA_RECORD_KERNEL && kind != CUDA_RECORD_GRAPH &&
			  kind != CUDA_RECORD_MEMCPY && kind != CUDA_RECORD_MEMSET))
		return;
	own->used = true;
	if (!store->mps && store->process_count > 1 && (store->mps = mps_server__runs()))
		put(store, SPOOL_MPS, 0, &store->mps, sizeof(store->mps), NULL, 0);
}

static void put_record(struct store *store, const struct store_process *own, uint8_t group,
		       const struct cuda_record *record)
{
	store->error = spool__put_record(store->spool, group, own->number, record);
	if (store->error)
		store->refused++;
	else
		store->records++;
}

void store__record(struct store *store, struct process *process, const struct cuda_record *record)
{
	struct store_process *own = process->recorded;

	if (!own || store->error) {
		store->refused++;
		return;
	}
	if (store->full || !has_space(store, record->size))
		return;
	note_source(store, own);
	need_names(store, own, record);
	look_for_mps(store, own, record->kind);
	put_record(store, own, process->group, record);
}

/* Communicators are kept whatever --last drops: the calls mean nothing without them. */
void store__collective(struct store *store, struct process *process,
		       const struct event_collective *call)
{
	struct spool_collective record = {{SPOOL_COLLECTIVE, sizeof(record), 0}, *call};
	struct store_process *own = process->recorded;

	if (!own || store->error)
		store->refused++;
	else if (store->full || !has_space(store, sizeof(record)))
		return;
	else if (call->function > NCCL_GROUP_END)
		put(store, SPOOL_COMM, own->number, call, sizeof(*call), NULL, 0);
	else
		put_record(store, own, CUDA_GROUP_LAUNCH, &record.head);
}

static void put_missing_names(struct store *store, struct store_process *own)
{
	if (!own->missing)
		return;
	own->missing = false;
	for (uint32_t id = 0; id < own->name_capacity; id++)
		if (own->names[id] == NAME_MISSING)
			put_name(store, own, id);
}

static void put_status(struct store *store, struct store_process *own)
{
	struct cuda_status status = own->process->status;

	if (!status.version || status.time == own->status_time)
		return;
	own->status_time = status.time;
	/* Another tool's windows: this one got everything, and has nothing to estimate. */
	if (!store->options.sampled)
		status.sample_start = 0;
	put(store, SPOOL_STATUS, own->number, &status, sizeof(status), NULL, 0);
}

void store__process_end(struct store *store, struct process *process)
{
	struct store_process *own = process->recorded;
	uint64_t now = monotonic__ns();

	if (!own)
		return;
	callstacks_process__free(own->callstacks);
	put_missing_names(store, own);
	if (own->missing && process->source == EVENT_SOURCE_DRIVER)
		put_handles(store, own);
	put_status(store, own);
	store_origin__end(own->origin, store->spool, own->number);
	put(store, SPOOL_ENDED, own->number, &now, sizeof(now), NULL, 0);
	for (struct store_process **at = &store->processes; *at; at = &(*at)->next) {
		if (*at == own) {
			*at = own->next;
			break;
		}
	}
	free(own->names);
	free(own);
	process->recorded = NULL;
}

static void sum_lost(const struct store *store, const struct session_lost_counts *lost,
		     struct spool_lost *sum)
{
	struct callstacks_counts stacks;

	memset(sum, 0, sizeof(*sum));
	sum->spool = store->refused;
	if (store->spool)
		sum->spool += spool__refused(store->spool);
	memcpy(sum->agent, lost->agent, sizeof(lost->agent));
	memcpy(sum->session, lost->session, sizeof(lost->session));
	store__stack_counts(store, &stacks);
	sum->session[SESSION_LOST_STACKS] += stacks.lost;
}

static void put_lost(struct store *store, const struct session_lost_counts *lost)
{
	struct spool_lost entry;

	sum_lost(store, lost, &entry);
	put(store, SPOOL_LOST, 0, &entry, sizeof(entry), NULL, 0);
}
_Static_assert(CUDA_LOST_COUNT <= 16 && SESSION_LOST_COUNT <= 16, "space in struct spool_lost");

int store__tick(struct store *store, const struct session_lost_counts *lost)
{
	uint64_t now = monotonic__ns();
	int err;

	if (store->error)
		return store->error;
	if (now - store->lost_time >= LOST_EVERY) {
		store->lost_time = now;
		for (struct store_process *own = store->processes; own; own = own->next) {
			put_missing_names(store, own);
			put_status(store, own);
		}
		put_lost(store, lost);
		if (store->options.keep && now > store->options.keep)
			spool__drop_before(store->spool, now - store->options.keep);
	}
	snapshot__reap(&store->snapshot, false);
	err = spool__tick(store->spool, now);
	if (err && !store->error)
		store->error = err;
	if (!err && store->full)
		err = -EFBIG;
	return err;
}

void store__keep(struct store *store, uint64_t ns)
{
	store->options.keep = ns;
}

uint64_t store__records(const struct store *store)
{
	return store->records;
}

int store__snapshot(struct store *store, const char *path)
{
	int err;

	snapshot__reap(&store->snapshot, false);
	if (store->snapshot)
		return -EBUSY;
	err = spool__flush(store->spool);
	return err ? err
		   : snapshot__start(&store->snapshot, store->spool_path, path,
				     store->options.keep);
}

int store__finish(struct store *store, const struct session_lost_counts *lost)
{
	struct spool_lost sum;
	struct import_options options = {
		.lost = &sum,
		.spool = store->spool_path,
		.path = store->path,
		.compress = store->options.compress,
		.progress = store->options.progress,
	};
	uint64_t now = monotonic__ns();
	int err;

	while (store->processes)
		store__process_end(store, store->processes->process);
	if (store->callstacks) {
		if (!store->options.temporary)
			debuginfod__allow();
		callstacks__name(store->callstacks);
		debuginfod__say();
	}
	put_lost(store, lost);
	put(store, SPOOL_FINISHED, 0, &now, sizeof(now), NULL, 0);
	spool__flush(store->spool);
	sum_lost(store, lost, &sum);
	err = spool__close(store->spool);
	store->spool = NULL;
	/* A full disk has ended the spool early: what is in it is still worth importing. */
	if (err)
		fprintf(stderr, "cuda-trace: %s: %s: events after that are lost\n",
			store->spool_path, strerror(-err));
	/* It reads the spool, which is deleted with what follows. */
	snapshot__reap(&store->snapshot, true);
	/* What has come since it was finished, names of functions, is not a part of that time. */
	if (store->options.keep)
		options.since_last = store->options.keep + monotonic__ns() - now;
	err = import__run(&options, NULL);
	if (err && !store->options.temporary)
		fprintf(stderr,
			"cuda-trace: the events are kept in %s; after fixing the cause, run: "
			"cuda-trace report %s\n",
			store->spool_path, store->path);
	return err;
}

void store__discard(struct store *store)
{
	if (store)
		snapshot__reap(&store->snapshot, true);
	if (store && store->spool)
		unlink(store->spool_path);
	store__close(store);
}

void store__close(struct store *store)
{
	if (!store)
		return;
	if (store->spool)
		spool__close(store->spool);
	while (store->processes) {
		struct store_process *own = store->processes;

		store->processes = own->next;
		own->process->recorded = NULL;
		callstacks_process__free(own->callstacks);
		free(own->names);
		free(own);
	}
	callstacks__free(store->callstacks);
	free(store->path);
	free(store->spool_path);
	free(store);
}
