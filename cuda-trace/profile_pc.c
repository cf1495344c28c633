// SPDX-License-Identifier: BSD-2-Clause
/*
 * profile --pc: samples of program counters, by function, place and what was waited for.
 */
#include <time.h>
#include "cuda-trace/commands.h"
#include "cuda-trace/losses.h"
#include "cuda-trace/pc_report.h"
#include "cuda-trace/profile.h"
#include "cuda-trace/watch.h"

#define AT(field)	   offsetof(struct profile_options, field)
#define DEFAULT_BURSTS	   "20ms/1s"
#define DEFAULT_LINES	   25
#define CUPTI_NO_PRIVILEGE 35

const struct option_row profile_pc_rows[] = {
	{OPTION_TEXT, 0, "bursts", "ON/PERIOD",
	 "sample for so long in each period, at a random place\nin it (default " DEFAULT_BURSTS
	 "); 1s/1s = all the time",
	 AT(bursts)},
	{},
};

struct profile {
	const struct profile_options *options;
	struct sample bursts;
	struct pc_table table;
	FILE *output;
	uint64_t started; /* ns */
	bool told_remedy;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void on_process_start(void *context, struct process *process)
{
	struct profile *profile = context;

	pc_table__start(&profile->table, process);
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct profile *profile = context;

	pc_table__record(&profile->table, process, record);
}

static void on_process_end(void *context, struct process *process)
{
	struct profile *profile = context;

	pc_table__end(&profile->table, process);
}

static void on_error(void *context, struct process *process, int code, const char *component,
		     const char *message)
{
	struct profile *profile = context;

	losses__say_error(context, process, code, component, message);
	if (code != CUPTI_NO_PRIVILEGE || profile->told_remedy)
		return;
	profile->told_remedy = true;
	fprintf(stderr,
		"cuda-trace: the driver lets only administrators sample here (ERR_NVGPUCTRPERM).\n"
		"  Either run the program as root or with CAP_SYS_ADMIN (in a container:\n"
		"  --cap-add SYS_ADMIN), or allow it to everybody, for good:\n"
		"  echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 |\n"
		"    sudo tee /etc/modprobe.d/nvidia-profiling.conf\n"
		"  and load the driver anew: reboot (after update-initramfs -u or dracut -f)\n");
}

static int on_start(void *context, FILE *output)
{
	struct profile *profile = context;

	profile->output = output;
	profile->started = now_ns();
	return EXIT_OK;
}

static void on_finish(void *context, struct session *session)
{
	struct profile *profile = context;
	const struct options *shared = &profile->options->shared;
	struct session_lost_counts lost;
	struct pc_report report = {
		.table = &profile->table,
		.lost = &lost,
		.duration_ns = now_ns() - profile->started,
		.on_ms = profile->bursts.on_ms,
		.every_ms = profile->bursts.every_ms,
		.most = shared->count ? shared->count : DEFAULT_LINES,
	};

	session__lost(session, &lost);
	pc_table__sort(&profile->table);
	if (shared->json)
		pc_report__json(profile->output, &report);
	else
		pc_report__text(profile->output, &report);
}

int profile_pc__run(const struct option_usage *usage, const struct profile_options *options)
{
	struct profile profile = {.options = options};
	const struct sink sink = {
		.context = &profile,
		.process_start = on_process_start,
		.record = on_record,
		.process_end = on_process_end,
		.process_error = on_error,
	};
	struct watch watch = {
		.command = usage->command,
		.options = &options->shared,
		.groups = 1u << CUDA_GROUP_PC_SAMPLES,
		.sink = &sink,
		.context = &profile,
		.start = on_start,
		.finish = on_finish,
	};
	struct pattern *pattern;
	int status = sample__parse_cycle(usage, "--bursts",
					 options->bursts ? options->bursts : DEFAULT_BURSTS,
					 &profile.bursts);

	if (status)
		return status;
	watch.sample = profile.bursts;
	pattern = pattern__new(options->shared.kernel);
	if (!pattern || pc_table__init(&profile.table, pattern)) {
		pattern__free(pattern);
		return EXIT_USAGE;
	}
	status = watch__run(&watch);
	pc_table__free(&profile.table);
	pattern__free(pattern);
	return status;
}
