// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/cli/window_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/exit_status.h"
#include "libcupti-usdt/probes.h"

#define GROUP(name) (1u << CUDA_GROUP_##name)
#define AT(field)   offsetof(struct options, field)

const struct option_row options_windows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "When to collect (default: all the time)", 0},
	{OPTION_TEXT, 0, "range", "NAME[@DOMAIN]",
	 "while an NVTX range of this name is open in a process\n(a pattern, as in 'step *')",
	 AT(range)},
	{OPTION_FLAG, 0, "profiler-api", NULL, "between cudaProfilerStart() and cudaProfilerStop()",
	 AT(profiler_api)},
	{OPTION_COUNT, 0, "steps", "N", "N steps, then no more", AT(steps)},
	{OPTION_COUNT, 0, "skip-steps", "N", "leave out the first N steps", AT(skip_steps)},
	{OPTION_TEXT, 0, "step-range", "NAME[@DOMAIN]",
	 "what a step is: an NVTX range (default: --range, or\n'" WINDOWS_TORCH_STEPS
	 "' of PyTorch)",
	 AT(step_range)},
	{},
};

/* The last @ counts, so that NAME@* is any name. */
int window_options__parse_range(const struct option_usage *usage, const char *option,
				const char *text, struct windows *windows)
{
	const char *at = strrchr(text, '@');
	size_t length = at ? (size_t)(at - text) : strlen(text);

	if (!length || length >= sizeof(windows->name) ||
	    (at && strlen(at + 1) >= sizeof(windows->domain)))
		return options__misuse(usage,
				       "%s wants NAME or NAME@DOMAIN of an NVTX range, of at most "
				       "255 bytes each",
				       option);
	memcpy(windows->name, text, length);
	windows->name[length] = 0;
	windows->any_domain = !at || !strcmp(at + 1, "*");
	strcpy(windows->domain, at && !windows->any_domain ? at + 1 : "");
	return EXIT_OK;
}

static int parse_what(const struct option_usage *usage, const struct options *options,
		      struct windows *windows)
{
	bool steps = options->steps || options->skip_steps || options->step_range;

	if (options->profiler_api + !!options->range + !!options->step_range > 1)
		return options__misuse(usage, "either --range, --step-range or --profiler-api");
	if (options->profiler_api && steps)
		return options__misuse(usage, "--steps counts NVTX ranges: not with "
					      "--profiler-api");
	if (options->step_range && !options->steps && !options->skip_steps)
		return options__misuse(usage, "--step-range is for --steps or --skip-steps");
	windows->skip = options->skip_steps;
	windows->most = options->steps;
	if (options->profiler_api)
		windows->by = WINDOWS_PROFILER;
	else if (options->range)
		windows->by = WINDOWS_RANGE;
	else if (steps)
		windows->by = WINDOWS_STEPS;
	if (windows->by == WINDOWS_RANGE)
		return window_options__parse_range(usage, "--range", options->range, windows);
	if (windows->by == WINDOWS_STEPS)
		return window_options__parse_range(
			usage, "--step-range",
			options->step_range ? options->step_range : WINDOWS_TORCH_STEPS, windows);
	return EXIT_OK;
}

/* When a launch or a copy was made is known only from its call. */
static uint32_t needed(const struct windows *windows, uint32_t groups)
{
	uint32_t more = windows->by == WINDOWS_PROFILER ? GROUP(API_CONTEXT) : GROUP(NVTX);

	if (groups & (GROUP(KERNEL) | GROUP(GRAPH) | GROUP(MEMCPY) | GROUP(MEMSET)))
		more |= GROUP(LAUNCH);
	if (groups & (GROUP(MEMCPY) | GROUP(MEMSET)))
		more |= GROUP(API_COPY);
	return more & ~groups;
}

int window_options__choose(const struct option_usage *usage, const struct options *options,
			   uint32_t groups, struct windows *windows)
{
	int status;

	*windows = (struct windows){};
	status = parse_what(usage, options, windows);
	if (status || windows->by == WINDOWS_ALWAYS)
		return status;
	if (options->sample || options->max_overhead)
		return options__misuse(usage, "--sample and --max-overhead choose windows of their "
					      "own: not with --range, --profiler-api or --steps");
	if (options->source && !strcmp(options->source, "driver"))
		return options__misuse(usage, "--range, --profiler-api and --steps need the "
					      "injection library: not with --source driver");
	windows->groups = needed(windows, groups);
	return EXIT_OK;
}

char *window_options__describe(const struct windows *windows)
{
	char *line = NULL;
	size_t size = 0;
	FILE *file = windows->by == WINDOWS_ALWAYS ? NULL : open_memstream(&line, &size);

	if (!file)
		return NULL;
	if (windows->by == WINDOWS_PROFILER)
		fprintf(file, "--profiler-api");
	else
		fprintf(file, "--%s %s%s%s", windows->by == WINDOWS_RANGE ? "range" : "step-range",
			windows->name, windows->any_domain ? "" : "@", windows->domain);
	if (windows->skip)
		fprintf(file, " --skip-steps %llu", (unsigned long long)windows->skip);
	if (windows->most)
		fprintf(file, " --steps %llu", (unsigned long long)windows->most);
	fclose(file);
	return line;
}
