// SPDX-License-Identifier: BSD-2-Clause
/*
 * Only what the table needs is recorded: kernels, and launches with their stacks, nodes of graphs,
 * or ranges. The files are in a folder of their own in $TMPDIR that nobody else can enter. What
 * can go wrong: the disk or --max-size is full. Then recording ends, stat goes on, and the rest of
 * the kernels' time has a row of its own: the rows together are always the time that stat summed.
 */
#include "cuda-trace/commands/stat_recorder.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/size_text.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/stack_rate.h"
#include "cuda-trace/commands/stack_options.h"
#include "cuda-trace/export/export.h"
#include "cuda-trace/export/export_origins.h"
#include "cuda-trace/recording/store.h"
#include "cuda-trace/report/report_file.h"

#define DEFAULT_BY	     "line" /* of -g alone */
#define DEFAULT_PERIOD	     100
#define DEFAULT_BYTES	     (1ull << 30)
#define RING_MIB_WITH_STACKS 64 /* of all launches */

struct stat_recorder {
	const char *call_graph;
	enum report_by by;
	uint64_t max_bytes, min_duration;
	char *folder, *path;
	struct store *store;
	uint64_t opened; /* ns */
	bool failed;
	char *stacks_text;
	struct by_rows read;
	struct stat_by_row *rows;
	struct stat_by found;
};

static bool needs_stacks(enum report_by by)
{
	return by == REPORT_BY_OPERATOR || by == REPORT_BY_MODULE || by == REPORT_BY_LINE;
}

static int check(const struct option_usage *usage, const struct stat_recorder_options *options,
		 enum report_by by, const struct options *shared, const struct watch *watch)
{
	if (options->stacks && !needs_stacks(by))
		return options__misuse(usage, "--by %s needs no call stacks: not with -g",
				       options->by);
	if (options->stacks && !stack_rate__parse(options->stacks))
		return options__misuse(usage, "-g takes 1, 10, 100, 1000 or 10000");
	if (watch->sample.on_ms)
		return options__misuse(usage, "--by needs all kernels: not with --sample");
	if (shared->source && !strcmp(shared->source, "driver"))
		return options__misuse(usage, "--by needs GPU times: not with --source driver");
	if (!(watch->groups >> CUDA_GROUP_KERNEL & 1))
		return options__misuse(usage, "--by needs kernels among the events (-e)");
	if (options->max_size && !size_text__parse(options->max_size))
		return options__misuse(usage, "--max-size wants a size like 500M or 2G");
	return EXIT_OK;
}

static void set_groups(enum report_by by, uint32_t *groups)
{
	if (by == REPORT_BY_KERNEL)
		return;
	*groups |= 1u << CUDA_GROUP_LAUNCH;
	if (by == REPORT_BY_RANGE)
		*groups |= 1u << CUDA_GROUP_NVTX;
	/* What a kernel in a graph belongs to is where its node was created. */
	if (!(*groups >> CUDA_GROUP_GRAPH & 1))
		*groups |= 1u << CUDA_GROUP_GRAPH_NODES;
}

int stat_recorder__choose(struct stat_recorder **result, const struct option_usage *usage,
			  const struct stat_recorder_options *options, struct options *shared,
			  struct watch *watch)
{
	struct stat_recorder *recorder;
	const char *word = options->by ? options->by : DEFAULT_BY;
	enum report_by by = export_origins__parse(word);
	uint32_t period = 0;
	int status;

	if (!options->by && !options->stacks) {
		if (options->call_graph || options->max_size)
			return options__misuse(usage, "%s goes with --by",
					       options->max_size ? "--max-size" : "--call-graph");
		return EXIT_OK;
	}
	status = check(usage, options, by, shared, watch);
	if (status)
		return status;
	if (needs_stacks(by))
		period = options->stacks ? stack_rate__parse(options->stacks) : DEFAULT_PERIOD;
	/* A copy of a stack is as large as a hundred records. */
	if (period == 1 && !shared->ring_mib)
		shared->ring_mib = RING_MIB_WITH_STACKS;
	set_groups(by, &watch->groups);
	watch->stacks = period != 0;
	watch->stacks_copied = stack_options__unwinds(options->call_graph);
	recorder = calloc(1, sizeof(*recorder));
	if (!recorder)
		return EXIT_TROUBLE;
	recorder->by = by;
	recorder->call_graph = options->call_graph;
	recorder->min_duration = shared->min_duration;
	recorder->max_bytes =
		options->max_size ? size_text__parse(options->max_size) : DEFAULT_BYTES;
	recorder->found.by = export_origins__name(by);
	recorder->found.period = period;
	*result = recorder;
	return EXIT_OK;
}

int stat_recorder__open(struct stat_recorder *recorder)
{
	const char *where = getenv("TMPDIR");
	struct store_options options = {.temporary = true};
	char shown[256];

	if (!recorder)
		return 0;
	if (asprintf(&recorder->folder, "%s/cuda-trace-stat.XXXXXX",
		     where && *where ? where : "/tmp") < 0) {
		recorder->folder = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(recorder->folder)) {
		int err = -errno;

		fprintf(stderr, "cuda-trace stat: --by: cannot create %s: %s (TMPDIR)\n",
			text__show(shown, sizeof(shown), recorder->folder, 60), strerror(-err));
		free(recorder->folder);
		recorder->folder = NULL;
		return err;
	}
	if (asprintf(&recorder->path, "%s/stat.db", recorder->folder) < 0) {
		recorder->path = NULL;
		return -ENOMEM;
	}
	options.path = recorder->path;
	options.max_bytes = recorder->max_bytes;
	options.stacks = recorder->found.period != 0;
	recorder->opened = monotonic__ns();
	return store__create(&recorder->store, &options);
}

static bool is_recording(const struct stat_recorder *recorder)
{
	return recorder && recorder->store && !recorder->found.ended;
}

void stat_recorder__attached(struct stat_recorder *recorder, struct session *session)
{
	if (!recorder || !recorder->found.period)
		return;
	session__set_stack_period(session, recorder->found.period);
	store__stack_period(recorder->store, recorder->found.period);
}

void stat_recorder__start(struct stat_recorder *recorder, struct process *process)
{
	if (is_recording(recorder))
		store__process_start(recorder->store, process);
}

static bool is_needed(const struct stat_recorder *recorder, const struct process *process,
		      const struct cuda_record *record)
{
	const struct cuda_kernel *kernel = (const struct cuda_kernel *)record;
	enum report_by by = recorder->by;

	switch (record->kind) {
	case CUDA_RECORD_KERNEL:
		return !recorder->min_duration ||
		       (kernel->end > kernel->start &&
			kernel->end - kernel->start >= recorder->min_duration);
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
	case CUDA_RECORD_GRAPH_NODE:
	case CUDA_RECORD_GRAPH_CHANGE:
		return by != REPORT_BY_KERNEL;
	case CUDA_RECORD_NVTX:
		return by == REPORT_BY_RANGE;
	default:
		return false;
	}
}

void stat_recorder__record(struct stat_recorder *recorder, struct process *process,
			   const struct cuda_record *record)
{
	if (is_recording(recorder) && process->source == EVENT_SOURCE_AGENT &&
	    is_needed(recorder, process, record))
		store__record(recorder->store, process, record);
}

void stat_recorder__stack(struct stat_recorder *recorder, struct process *process,
			  const struct event *event)
{
	if (is_recording(recorder))
		store__stack(recorder->store, process, event);
}

void stat_recorder__end(struct stat_recorder *recorder, struct process *process)
{
	if (recorder && recorder->store && process->recorded)
		store__process_end(recorder->store, process);
}

/* No more stacks are taken: they would cost the program, for nothing. */
static void end_early(struct stat_recorder *recorder, struct session *session, int err)
{
	char time[16];

	recorder->found.covered_ns = monotonic__ns() - recorder->opened;
	recorder->found.ended = err == -EFBIG ? "max_size" : "write_error";
	recorder->failed |= err != -EFBIG;
	if (recorder->found.period)
		session__set_stack_period(session, 0);
	text__ns(time, recorder->found.covered_ns);
	if (err == -EFBIG)
		fprintf(stderr,
			"cuda-trace stat: --by: --max-size is reached after %s: kernels from now "
			"on are [not recorded]\n",
			time);
	else
		fprintf(stderr,
			"cuda-trace stat: --by: cannot write the temporary recording after %s: "
			"%s: kernels from now on are [not recorded]\n",
			time, strerror(-err));
}

void stat_recorder__tick(struct stat_recorder *recorder, struct session *session)
{
	struct session_lost_counts lost;
	int err;

	if (!is_recording(recorder))
		return;
	session__lost(session, &lost);
	err = store__tick(recorder->store, &lost);
	if (err)
		end_early(recorder, session, err);
}

static void count_stacks(struct stat_recorder *recorder, struct session_lost_counts *lost)
{
	struct callstacks_counts counts;
	size_t size;
	FILE *text;

	if (!recorder->found.period)
		return;
	store__stack_counts(recorder->store, &counts);
	lost->session[SESSION_LOST_STACKS] += counts.lost;
	recorder->found.launches = counts.samples;
	recorder->found.incomplete = counts.incomplete;
	text = open_memstream(&recorder->stacks_text, &size);
	if (!text)
		return;
	stack_options__say(text, &counts, recorder->call_graph);
	fclose(text);
	recorder->found.stacks = recorder->stacks_text;
}

static int read_rows(struct stat_recorder *recorder, struct pattern *kernels)
{
	struct report_file file;
	int err = report_file__open(&file, recorder->path);

	if (err)
		return err;
	file.command = "stat";
	file.marks_estimates = true;
	file.by = recorder->by;
	err = by_rows__read(&recorder->read, &file, kernels);
	report_file__close(&file);
	return err;
}

/* Of what stat summed, the part that no row has: one more row. */
static int put_rows(struct stat_recorder *recorder, const struct stat_sums *totals)
{
	const struct by_rows *read = &recorder->read;
	struct stat_by_row rest = {"[not recorded]", "", totals->gpu_ns, totals->kernels, false};
	struct stat_by_row *row = calloc(read->count + 1, sizeof(*row));

	recorder->rows = row;
	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < read->count; i++) {
		const struct by_row *from = &read->list[i];

		*row++ = (struct stat_by_row){from->name, from->file, from->ns, from->count,
					      !from->missing};
		rest.ns -= from->ns < rest.ns ? from->ns : rest.ns;
		rest.count -= from->count < rest.count ? from->count : rest.count;
	}
	if (rest.ns || rest.count)
		*row++ = rest;
	recorder->found.rows = recorder->rows;
	recorder->found.row_count = row - recorder->rows;
	return 0;
}

const struct stat_by *stat_recorder__finish(struct stat_recorder *recorder, struct session *session,
					    const struct stat_table *table,
					    struct session_lost_counts *lost)
{
	int err;

	if (!recorder)
		return NULL;
	/* A short program ends between two ticks. */
	stat_recorder__tick(recorder, session);
	err = store__finish(recorder->store, lost);
	count_stacks(recorder, lost);
	if (!err)
		err = read_rows(recorder, table->pattern);
	if (!err)
		err = put_rows(recorder, &table->totals);
	if (err) {
		recorder->failed = true;
		recorder->found.unavailable = "the temporary recording cannot be read";
	}
	return &recorder->found;
}

bool stat_recorder__has_failed(const struct stat_recorder *recorder)
{
	return recorder && recorder->failed;
}

static void delete_file(const char *path, const char *ending)
{
	char *name;

	if (asprintf(&name, "%s%s", path, ending) < 0)
		return;
	unlink(name);
	free(name);
}

void stat_recorder__free(struct stat_recorder *recorder)
{
	if (!recorder)
		return;
	store__close(recorder->store);
	if (recorder->path) {
		delete_file(recorder->path, "");
		delete_file(recorder->path, ".part");
		delete_file(recorder->path, ".unfinished");
	}
	if (recorder->folder)
		rmdir(recorder->folder);
	by_rows__free(&recorder->read);
	free(recorder->rows);
	free(recorder->stacks_text);
	free(recorder->folder);
	free(recorder->path);
	free(recorder);
}
