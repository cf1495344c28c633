// SPDX-License-Identifier: BSD-2-Clause
/*
 * profile --sass: what each instruction of the counted kernels did, by function and line.
 */
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/profile/counters/counter_report.h"
#include "cuda-trace/profile/counters/counter_session.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/base/pattern.h"
#include "cuda-trace/profile/code/code_files.h"
#include "cuda-trace/profile/profile.h"
#include "cuda-trace/profile/sass/sass_report.h"
#include "cuda-trace/capture/watch.h"

#define DEFAULT_LINES 25

struct sass {
	const struct profile_options *options;
	struct counting counting;
	struct sass_table table;
	struct pc_images *images;
	struct pc_files *files;
	FILE *output;
};

static void handle_kernel(struct sass *sass, struct process *process,
			  const struct cuda_counters *record)
{
	struct counter_sum sums[CUDA_COUNTERS_METRICS];
	struct counter_kernel alone = {.sums = sums};

	if (counter_table__read(&sass->counting.table, process, record, &alone))
		counter_table__add(&sass->counting.table, &alone);
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct sass *sass = context;

	if (!counter_session__means(&sass->counting, process))
		return;
	pc_files__record(sass->files, process, record);
	pc_images__record(sass->images, process, record);
	if (record->kind == CUDA_RECORD_COUNTERS_STATE)
		counter_session__state(&sass->counting, process, (const void *)record);
	else if (record->kind == CUDA_RECORD_COUNTERS)
		handle_kernel(sass, process, (const void *)record);
	else if (record->kind == CUDA_RECORD_SASS)
		sass_table__record(&sass->table, process, (const void *)record);
}

static void on_status(void *context, struct process *process)
{
	struct sass *sass = context;

	counter_session__process_status(&sass->counting, process);
}

static void on_end(void *context, struct process *process)
{
	struct sass *sass = context;

	counter_session__process_end(&sass->counting, process);
}

static int on_start(void *context, FILE *output)
{
	struct sass *sass = context;

	sass->output = output;
	return EXIT_OK;
}

static bool on_tick(void *context, struct session *session)
{
	struct sass *sass = context;

	return counter_session__tick(&sass->counting);
}

/* Where CUPTI looks into no more than one kernel: that the others were not, and how to get them. */
static void say_rest(FILE *file, const struct counter_process *process)
{
	const struct cuda_counters_state *state = &process->state;

	if (state->outcome == CUDA_COUNTERS_DONE && state->result)
		fprintf(file,
			"  only the kernel below was measured, not later launches: this libcupti "
			"measures one kernel\n  per process. For another one, run it again with -k "
			"REGEX or --skip N (cuda-trace stat\n  lists the names)\n");
}

/* Source lines of modules that were loaded before the attach; CUPTI reports later ones. */
static void find_lines(struct sass *sass)
{
	pc_files__search(sass->files, sass->images, &sass->table.code, PC_FILES_LINES);
	pc_images__resolve(sass->images, &sass->table.code);
}

static void on_finish(void *context, struct session *session)
{
	struct sass *sass = context;
	const struct options *shared = &sass->options->shared;
	struct sheet sheet = {.file = sass->output, .json = shared->json};
	struct session_lost_counts lost;

	session__lost(session, &lost);
	find_lines(sass);
	sass_table__sort(&sass->table);
	if (shared->json)
		sass_report__json(sass->output, &sass->table);
	for (const struct counter_process *process = sass->counting.table.processes; process;
	     process = process->next) {
		if (!process->has_state)
			continue;
		counter_report__process(&sheet, process, COUNTER_REPORT_INSTRUCTIONS);
		if (!shared->json)
			say_rest(sass->output, process);
	}
	if (shared->json) {
		losses__write_json_line(sass->output, &lost);
		return;
	}
	sass_report__text(sass->output, &sass->table,
			  shared->count ? shared->count : DEFAULT_LINES);
	losses__say(sass->output, &lost);
}

int profile_sass__run(const struct option_usage *usage, const struct profile_options *options)
{
	struct sass sass = {.options = options};
	const struct sink sink = {
		.context = &sass,
		.process_start = counter_session__process_start,
		.record = on_record,
		.process_status = on_status,
		.process_end = on_end,
		.process_error = losses__say_error,
	};
	struct watch watch = {
		.command = "profile",
		.options = &options->shared,
		.groups = 1u << CUDA_GROUP_COUNTERS,
		.sink = &sink,
		.context = &sass,
		.start = on_start,
		.tick = on_tick,
		.finish = on_finish,
	};
	struct pattern *pattern = pattern__new(options->shared.kernel);
	int status;

	pattern__free(pattern);
	if (!pattern)
		return EXIT_USAGE;
	if (sass_table__init(&sass.table))
		return EXIT_TROUBLE;
	sass.images = pc_images__new(false);
	sass.files = pc_files__new();
	status = sass.images && sass.files ? counter_session__ask(&sass.counting, options, "sass")
					   : EXIT_TROUBLE;
	status = status ? status : watch__run(&watch);
	status = counter_session__end(&sass.counting, options, status);
	pc_files__free(sass.files);
	pc_images__free(sass.images);
	sass_table__free(&sass.table);
	return status;
}
