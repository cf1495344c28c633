// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cycles are those that the probe contract has switches for: nothing can be written into a
 * traced process, but a semaphore can be raised.
 */
#include "cuda-trace/cli/sample_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/exit_status.h"
#include "libcupti-usdt/probes.h"

#define GROUP(name)	  (1u << CUDA_GROUP_##name)
#define NUMBER(ms, a)	  ms,
#define MS		  1000000ull
#define TEXT_NUMBERS	  "ON/PERIOD: 1ms to 1s in 100, 200, 500ms, 1, 2, 5, 10 or 20s"
#define OVERHEAD_ON_MS	  10
#define OVERHEAD_EVERY_MS 1000
#define COUNT(numbers)	  (sizeof(numbers) / sizeof((numbers)[0]))

static const uint32_t windows[] = {CUDA_SAMPLE_ON(NUMBER, )};
static const uint32_t periods[] = {CUDA_SAMPLE_EVERY(NUMBER, )};

static bool is_one_of(const uint32_t *numbers, size_t count, uint64_t ns)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] * MS == ns)
			return true;
	return false;
}

/*
 * The window that is nearest by ratio, and not longer than its period. 0: there is none like it. If
 * it differs from what was requested, the share of the time that is sampled differs as well: so the
 * caller says which one was chosen.
 */
static uint32_t nearest_window(uint64_t ns, uint64_t period)
{
	double best = 0;
	uint32_t nearest = 0;

	if (ns < windows[0] * MS || ns > windows[COUNT(windows) - 1] * MS)
		return 0;
	for (size_t i = 0; i < COUNT(windows) && windows[i] * MS <= period; i++) {
		double ratio = (double)ns / (double)(windows[i] * MS);

		ratio = ratio > 1 ? 1 / ratio : ratio;
		if (ratio > best) {
			best = ratio;
			nearest = windows[i];
		}
	}
	return nearest;
}

static int parse_cycle(const char *text, struct sample *sample, bool *is_exact)
{
	const char *slash = strchr(text, '/');
	uint64_t on, every;
	char first[32];

	if (!slash || slash - text >= (int)sizeof(first))
		return -1;
	snprintf(first, sizeof(first), "%.*s", (int)(slash - text), text);
	if (options__parse_time(first, &on) || options__parse_time(slash + 1, &every))
		return -1;
	if (!is_one_of(periods, COUNT(periods), every) || on > every)
		return -1;
	sample->on_ms = nearest_window(on, every);
	sample->every_ms = every / MS;
	*is_exact = sample->on_ms * MS == on;
	return sample->on_ms ? 0 : -1;
}

int sample_options__parse_cycle(const struct option_usage *usage, const char *option,
				const char *text, struct sample *sample)
{
	bool is_exact;

	*sample = (struct sample){};
	if (parse_cycle(text, sample, &is_exact))
		return options__misuse(usage, "%s " TEXT_NUMBERS, option);
	if (!is_exact)
		fprintf(stderr, "cuda-trace %s: %s: the nearest possible window is %u ms\n",
			usage->command, option, sample->on_ms);
	return EXIT_OK;
}

int sample_options__parse(const struct option_usage *usage, const char *cycle,
			  const char *max_overhead, struct sample *sample)
{
	char *end;

	*sample = (struct sample){};
	if (cycle && max_overhead)
		return options__misuse(usage, "either --sample or --max-overhead");
	if (cycle && sample_options__parse_cycle(usage, "--sample", cycle, sample))
		return EXIT_USAGE;
	if (!max_overhead)
		return EXIT_OK;
	sample->max_overhead = strtod(max_overhead, &end) / 100;
	if (end == max_overhead || (*end && strcmp(end, "%")) ||
	    !(sample->max_overhead >= 0.0001 && sample->max_overhead <= 1))
		return options__misuse(usage, "--max-overhead wants a percentage from 0.01%% to "
					      "100%%, as in 2%%");
	sample->on_ms = OVERHEAD_ON_MS;
	sample->every_ms = OVERHEAD_EVERY_MS;
	return EXIT_OK;
}

uint32_t sample_options__groups(const struct sample *sample, uint32_t groups)
{
	static const struct {
		uint32_t all, sampled;
	} kinds[] = {
		{GROUP(KERNEL), GROUP(SAMPLED_KERNEL)}, /* the first */
		{GROUP(MEMCPY), GROUP(SAMPLED_MEMCPY)},
		{GROUP(MEMSET), GROUP(SAMPLED_MEMSET)},
	};

	size_t count = sample->whole_copies ? 1 : COUNT(kinds);

	for (size_t i = 0; sample->on_ms && i < count; i++)
		if (groups & kinds[i].all)
			groups = (groups & ~kinds[i].all) | kinds[i].sampled;
	return groups;
}

int sample_options__choose(const struct option_usage *usage, const struct options *options,
			   uint32_t groups, struct sample *sample)
{
	int status = sample_options__parse(usage, options->sample, options->max_overhead, sample);

	if (status || !sample->on_ms)
		return status;
	if (options->source && !strcmp(options->source, "driver"))
		return options__misuse(usage, "--source driver has no GPU times to sample");
	if (sample_options__groups(sample, groups) == groups)
		*sample = (struct sample){};
	return EXIT_OK;
}

uint32_t sample_options__window(double ms)
{
	uint32_t window = windows[0];

	for (size_t i = 0; i < COUNT(windows); i++)
		if (windows[i] <= ms)
			window = windows[i];
	return window;
}
