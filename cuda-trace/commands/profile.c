// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace profile: why a kernel is slow. The options, and which mode they ask for.
 */
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/profile/profile.h"
#include "cuda-trace/recording/older_recording.h"

#define AT(field) offsetof(struct profile_options, field)

static const struct option_row mode_rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "What to look at (one of these)", 0},
	{OPTION_FLAG, 0, "pc", NULL,
	 "PC samples: where in each kernel time is spent, and\nwhat its instructions wait for",
	 AT(pc)},
	{OPTION_TEXT, 0, "counters", "PRESET|METRIC,...",
	 "hardware counters of each kernel, and what limits it:\nquick, overview, memory, "
	 "compute, tensor, occupancy,\nroofline, or single metrics",
	 AT(counters)},
	{OPTION_VALUES, 0, NULL, NULL, "quick,overview,memory,compute,tensor,occupancy,roofline",
	 0},
	{OPTION_MAYBE, 0, "device", "PRESET|METRIC,...",
	 "whole GPUs over time: how busy their SMs, tensor\ncores, memory, PCIe and NVLink are; "
	 "device (the\ndefault), compute, memory, links",
	 AT(device)},
	{OPTION_VALUES, 0, NULL, NULL, "device,compute,memory,links", 0},
	{OPTION_FLAG, 0, "sass", NULL,
	 "counts for each instruction of a kernel, by source\nline: threads, sectors and "
	 "wavefronts",
	 AT(sass)},
	{OPTION_MAYBE, 0, "list-metrics", "REGEX", "print the available metrics, with descriptions",
	 AT(list_metrics)},
	{},
};

static const struct option_row kernel_rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "What to keep", 0},
	{OPTION_TEXT, 'k', "kernel", "REGEX",
	 "kernels whose name matches (extended regular\nexpression, demangled name)",
	 AT(shared.kernel)},
	{},
};

static const struct option_row rows[] = {
	{OPTION_COUNT, 'n', "count", "COUNT", "text: at most COUNT lines per table (default 25)",
	 AT(shared.count)},
	{},
};

static const struct option_usage usage = {
	.command = "profile",
	.summary = "Looks inside kernels; prints at the end of PROGRAM or at Ctrl-C.",
	.synopsis = (const char *const[]){"MODE [OPTIONS] [--] PROGRAM [ARGUMENTS]",
					  "MODE [OPTIONS] -p PID|-c NAME|-u USER|--cgroup PATH|-a",
					  "--device [OPTIONS] [[--] PROGRAM [ARGUMENTS]]", NULL},
	.tables = (const struct option_row *const[]){mode_rows, profile_pc_rows,
						     profile_counters_rows, profile_device_rows,
						     options_targets, options_windows, kernel_rows,
						     options_output, options_limits, rows, NULL},
	.examples = "  cuda-trace profile --pc -- python3 train.py\n"
		    "  cuda-trace profile --pc -p 4711 -d 30\n"
		    "  cuda-trace profile --counters overview -k gemm --kernels 10 -- ./train\n"
		    "  cuda-trace profile --counters quick --kernels 10 -p 4711\n"
		    "  cuda-trace profile --device -d 10\n"
		    "  cuda-trace profile --sass -k gemm --kernels 1 -- ./train\n",
};

static bool wants_pc(const struct profile_options *options)
{
	return options->pc;
}

static bool wants_counters(const struct profile_options *options)
{
	return options->counters;
}

static bool wants_device(const struct profile_options *options)
{
	return options->device;
}

static bool wants_sass(const struct profile_options *options)
{
	return options->sass;
}

static bool wants_windows(const struct profile_options *options)
{
	const struct options *shared = &options->shared;

	return shared->range || shared->profiler_api || shared->step_range || shared->steps ||
	       shared->skip_steps;
}

/* A line each: its rows are in usage.tables, its option in mode_rows. */
static const struct {
	const char *name;
	bool (*wanted)(const struct profile_options *options);
	int (*run)(const struct option_usage *usage, const struct profile_options *options);
} modes[] = {
	{"--pc", wants_pc, profile_pc__run},
	{"--counters", wants_counters, profile_counters__run},
	{"--device", wants_device, profile_device__run},
	{"--sass", wants_sass, profile_sass__run},
};

#define MODES (sizeof(modes) / sizeof(modes[0]))

int cmd_profile(int argc, char **argv)
{
	struct profile_options options = {.shared = OPTIONS_INIT};
	size_t chosen = MODES;
	int status;
	int operand = options__parse(&usage, &options, argc, argv, &status);

	if (operand < 0)
		return status;
	if (options.list_metrics)
		return profile_metrics__list(&usage, &options);
	for (size_t i = 0; i < MODES; i++) {
		if (!modes[i].wanted(&options))
			continue;
		if (chosen < MODES)
			return options__misuse(&usage, "either %s or %s", modes[chosen].name,
					       modes[i].name);
		chosen = i;
	}
	if (chosen == MODES)
		return options__misuse(&usage, "choose one of --pc, --counters, --device, --sass");
	if ((options.device || options.sass || options.list_metrics) && wants_windows(&options))
		return options__misuse(&usage, "--range, --profiler-api and --steps are for --pc "
					       "and --counters");
	if (options.graphs && !options.counters)
		return options__misuse(&usage, "--graphs is for --counters");
	/* Whole GPUs have no processes to choose from. */
	if (options.device) {
		if (output_file__check("profile", options.shared.output, NULL))
			return EXIT_USAGE;
		options.shared.program = operand < argc ? argv + operand : NULL;
		return modes[chosen].run(&usage, &options);
	}
	status = options__parse_targets(&usage, &options.shared, argc, argv, operand);
	if (output_file__check("profile", options.flamegraph, NULL) ||
	    output_file__check("profile", options.folded, NULL) ||
	    (options.record && older_recording__check("profile", options.record)))
		return EXIT_USAGE;
	return status ? status : modes[chosen].run(&usage, &options);
}
