// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. runs that differ: what was not launched as often in each is left out, counted
 * and reported. 2. a run that fails: its records are removed. 3. a hostile program: the number of
 * launches that are kept is bounded.
 */
#include "cuda-trace/profile/counters/application_replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"

#define BUCKETS	  4096
#define LAUNCHES  100000
#define PROCESSES 4096

struct kind;

struct launch {
	const struct kind *kind;
	uint32_t pid; /* of the first run */
	struct cuda_counters record;
	struct counter_kernel kernel;
	uint32_t runs;	/* that had it */
	uint32_t whole; /* of kernel.sums: of runs that are over */
};

/* A kernel with a shape, in one of PROGRAM's processes. */
struct kind {
	char *name;
	char comm[EVENT_COMM_LEN];
	uint32_t process, grid[3], block[3], dynamic_shared;
	uint32_t counts[REPLAY_RUNS];
	struct launch **launches;
	struct kind *next_in_bucket, *next;
};

struct replay {
	struct kind *buckets[BUCKETS];
	struct kind *kinds, **last;
	struct launch *launches[LAUNCHES]; /* in the first run's order */
	uint32_t count, kind_count, runs;  /* runs: that are over */
	uint64_t unkept;
	struct {
		uint32_t pid;
		uint64_t instance;
		uint32_t number; /* among those of its name */
		char comm[EVENT_COMM_LEN];
	} processes[PROCESSES]; /* of the run that is going on */
	uint32_t process_count;
};

struct replay *application_replay__new(void)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (replay)
		replay->last = &replay->kinds;
	return replay;
}

static uint32_t number_of(struct replay *replay, const struct process *process)
{
	uint32_t alike = 0, at;

	for (at = 0; at < replay->process_count; at++) {
		if (replay->processes[at].pid == process->pid &&
		    replay->processes[at].instance == process->instance)
			return replay->processes[at].number;
		alike += !strcmp(replay->processes[at].comm, process->comm);
	}
	if (at == PROCESSES)
		return UINT32_MAX;
	replay->processes[at].pid = process->pid;
	replay->processes[at].instance = process->instance;
	replay->processes[at].number = alike;
	memcpy(replay->processes[at].comm, process->comm, sizeof(process->comm));
	replay->process_count++;
	return alike;
}

static bool is_kind(const struct kind *kind, uint32_t process, const char *comm,
		    const struct counter_kernel *alone)
{
	return kind->process == process && !strcmp(kind->comm, comm) &&
	       !memcmp(kind->grid, alone->grid, sizeof(kind->grid)) &&
	       !memcmp(kind->block, alone->block, sizeof(kind->block)) &&
	       kind->dynamic_shared == alone->dynamic_shared && !strcmp(kind->name, alone->name);
}

static struct kind *kind_of(struct replay *replay, const struct process *process,
			    const struct counter_kernel *alone)
{
	uint32_t number = number_of(replay, process), hash = number + alone->grid[0];
	struct kind **bucket, *kind;

	for (const char *at = alone->name; *at; at++)
		hash = hash * 31 + (unsigned char)*at;
	bucket = &replay->buckets[hash % BUCKETS];
	for (kind = *bucket; kind; kind = kind->next_in_bucket)
		if (is_kind(kind, number, process->comm, alone))
			return kind;
	kind = replay->kind_count < LAUNCHES ? calloc(1, sizeof(*kind)) : NULL;
	if (!kind)
		return NULL;
	kind->name = strdup(alone->name);
	if (!kind->name) {
		free(kind);
		return NULL;
	}
	kind->process = number;
	memcpy(kind->comm, process->comm, sizeof(kind->comm));
	memcpy(kind->grid, alone->grid, sizeof(kind->grid));
	memcpy(kind->block, alone->block, sizeof(kind->block));
	kind->dynamic_shared = alone->dynamic_shared;
	kind->next_in_bucket = *bucket;
	*bucket = kind;
	replay->kind_count++;
	*replay->last = kind;
	replay->last = &kind->next;
	return kind;
}

/* The metrics of one more run. */
static bool add_sums(struct counter_kernel *kernel, const struct counter_kernel *alone)
{
	uint32_t count = kernel->count;

	for (uint32_t i = 0; i < alone->count; i++) {
		if (!array_grow__counted(kernel->sums, count))
			return false;
		kernel->sums[count++] = alone->sums[i];
	}
	kernel->count = count;
	return true;
}

static void keep_first(struct replay *replay, struct kind *kind, const struct process *process,
		       const struct cuda_counters *record, const struct counter_kernel *alone)
{
	struct launch *launch;

	if (replay->count == LAUNCHES)
		goto unkept;
	if (!array_grow__counted(kind->launches, kind->counts[0]))
		goto unkept;
	launch = calloc(1, sizeof(*launch));
	if (!launch)
		goto unkept;
	launch->pid = process->pid;
	launch->kind = kind;
	launch->record = *record;
	launch->kernel = *alone;
	launch->kernel.name = kind->name;
	launch->kernel.sums = NULL;
	launch->kernel.count = 0;
	if (!add_sums(&launch->kernel, alone)) {
		free(launch);
		goto unkept;
	}
	launch->runs = 1;
	kind->launches[kind->counts[0]++] = launch;
	replay->launches[replay->count++] = launch;
	return;
unkept:
	replay->unkept++;
}

void application_replay__kernel(struct replay *replay, const struct process *process,
				const struct cuda_counters *record,
				const struct counter_kernel *alone)
{
	struct kind *kind = kind_of(replay, process, alone);
	struct launch *launch;
	uint32_t order;

	if (!kind) {
		replay->unkept++;
		return;
	}
	if (!replay->runs) {
		keep_first(replay, kind, process, record, alone);
		return;
	}
	order = kind->counts[replay->runs]++;
	if (order >= kind->counts[0])
		return;
	launch = kind->launches[order];
	if (launch->runs == replay->runs && add_sums(&launch->kernel, alone))
		launch->runs++;
}

void application_replay__run_ended(struct replay *replay, bool whole)
{
	replay->process_count = 0;
	for (struct kind *kind = replay->kinds; kind && !whole && replay->runs; kind = kind->next)
		kind->counts[replay->runs] = 0;
	for (uint32_t i = 0; i < replay->count; i++) {
		struct launch *launch = replay->launches[i];

		if (launch->runs <= replay->runs)
			continue;
		if (whole || !replay->runs)
			launch->whole = launch->kernel.count;
		else {
			launch->kernel.count = launch->whole;
			launch->runs = replay->runs;
		}
	}
	/* Of a first run that failed there is at least what it brought. */
	replay->runs += whole || !replay->runs;
}

void application_replay__each(struct replay *replay,
			      void (*take)(void *context, const struct process *process,
					   const struct cuda_counters *record,
					   struct counter_kernel *kernel),
			      void *context)
{
	for (uint32_t i = 0; i < replay->count; i++) {
		struct launch *launch = replay->launches[i];
		struct process process = {.pid = launch->pid};

		if (launch->runs < replay->runs)
			continue;
		memcpy(process.comm, launch->kind->comm, sizeof(process.comm));
		launch->record.passes = replay->runs;
		take(context, &process, &launch->record, &launch->kernel);
	}
}

/* How many launches were not in each run: 0 = it ran as often in all. */
static uint32_t apart(const struct replay *replay, const struct kind *kind)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (uint32_t i = 0; i < replay->runs; i++) {
		least = kind->counts[i] < least ? kind->counts[i] : least;
		most = kind->counts[i] > most ? kind->counts[i] : most;
	}
	return most > least ? most - least : 0;
}

static uint64_t all_apart(const struct replay *replay)
{
	uint64_t sum = 0;

	for (const struct kind *kind = replay->kinds; kind; kind = kind->next)
		sum += apart(replay, kind);
	return sum;
}

static void print_counts(FILE *file, const struct replay *replay, const struct kind *kind)
{
	for (uint32_t i = 0; i < replay->runs; i++)
		fprintf(file, "%s%u", i ? "," : "", kind->counts[i]);
}

void application_replay__say(FILE *file, const struct replay *replay)
{
	uint64_t sum = all_apart(replay);
	int printed = 0;

	if (replay->unkept)
		fprintf(file,
			"%" PRIu64 " launches exceeded the limit (%u in a run) and are left out\n",
			replay->unkept, LAUNCHES);
	if (!sum)
		return;
	fprintf(file, "%" PRIu64 " launches were not in every run, and are left out:\n", sum);
	for (const struct kind *kind = replay->kinds; kind && printed < 10; kind = kind->next) {
		char shown[420];

		if (!apart(replay, kind))
			continue;
		printed++;
		fprintf(file,
			"  %s, grid %ux%ux%u: ", text__show(shown, sizeof(shown), kind->name, 100),
			kind->grid[0], kind->grid[1], kind->grid[2]);
		print_counts(file, replay, kind);
		fprintf(file, " times in the runs\n");
	}
}

void application_replay__json(FILE *file, const struct replay *replay, uint32_t planned)
{
	const char *lead = "";

	fprintf(file,
		"{\"event\":\"replay\",\"replay\":\"application\",\"runs\":%u,\"planned\":%u,"
		"\"unkept\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"kernels\":[",
		replay->runs, planned, replay->unkept, all_apart(replay));
	for (const struct kind *kind = replay->kinds; kind; kind = kind->next) {
		if (!apart(replay, kind))
			continue;
		fprintf(file, "%s{\"kernel\":", lead);
		text__write_json(file, kind->name);
		fprintf(file, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"launches\":[",
			kind->grid[0], kind->grid[1], kind->grid[2], kind->block[0], kind->block[1],
			kind->block[2]);
		print_counts(file, replay, kind);
		fputs("]}", file);
		lead = ",";
	}
	fputs("]}\n", file);
}

void application_replay__free(struct replay *replay)
{
	struct kind *next;

	if (!replay)
		return;
	for (uint32_t i = 0; i < replay->count; i++) {
		free(replay->launches[i]->kernel.sums);
		free(replay->launches[i]);
	}
	for (struct kind *kind = replay->kinds; kind; kind = next) {
		next = kind->next;
		free(kind->launches);
		free(kind->name);
		free(kind);
	}
	free(replay);
}
