// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/trigger/trigger_options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/event_groups.h"
#include "libcupti-usdt/probes.h"

#define VALID	    "error,late,step > 1.2x,step > 500ms"
#define FACTOR	    1.2 /* of "step" alone */
#define MAX_FACTOR  1000
#define GROUP(name) (1u << CUDA_GROUP_##name)

static const struct {
	const char *word;
	uint32_t groups;
} kinds[] = {
	[TRIGGER_ERROR] = {"error", GROUP(API_ERROR)},
	[TRIGGER_LATE] = {"late", GROUPS_COLLECTIVES | GROUP(LAUNCH) | GROUP(KERNEL)},
	[TRIGGER_STEP] = {"step", GROUP(NVTX)},
};

/* "1.2x", or a time with its unit: a number alone could be meant as either. */
static bool parse_limit(const char *text, struct trigger_condition *condition)
{
	const char *unit = text + strspn(text, "0123456789.");
	char *end;

	if (!*unit || unit == text)
		return false;
	if (strcmp(unit, "x") != 0)
		return !options__parse_time(text, &condition->limit) && condition->limit;
	condition->factor = strtod(text, &end);
	return end == unit && condition->factor > 1 && condition->factor <= MAX_FACTOR;
}

static int parse_step(const struct option_usage *usage, struct trigger_condition *condition)
{
	const char *text = condition->text + strlen(kinds[TRIGGER_STEP].word);

	condition->factor = *text ? 0 : FACTOR;
	if (condition->factor > 0)
		return EXIT_OK;
	text += strspn(text, " ");
	if (*text == '>' && parse_limit(text + 1 + strspn(text + 1, " "), condition))
		return EXIT_OK;
	return options__misuse(usage,
			       "--when: '%s': a step is compared with a factor above 1 (step > "
			       "1.2x) or a time (step > 500ms)",
			       condition->text);
}

static int parse_condition(const struct option_usage *usage, const char *text, size_t length,
			   struct trigger_wanted *wanted)
{
	struct trigger_condition *condition = &wanted->list[wanted->count];
	size_t word, kind = 0;

	if (wanted->count == OPTION_TEXTS_MAX)
		return options__misuse(usage, "--when takes at most %d conditions",
				       OPTION_TEXTS_MAX);
	for (; length && *text == ' '; length--)
		text++;
	while (length && text[length - 1] == ' ')
		length--;
	word = strcspn(text, " >,");
	word = word < length ? word : length;
	while (kind < sizeof(kinds) / sizeof(kinds[0]) &&
	       (strlen(kinds[kind].word) != word || memcmp(kinds[kind].word, text, word) != 0))
		kind++;
	if (kind == sizeof(kinds) / sizeof(kinds[0]) || length >= sizeof(condition->text) ||
	    (kind != TRIGGER_STEP && word != length))
		return options__unknown_word(usage, "when", text, length, VALID);
	*condition = (struct trigger_condition){.kind = kind};
	memcpy(condition->text, text, length);
	wanted->groups |= kinds[kind].groups;
	wanted->count++;
	return kind == TRIGGER_STEP ? parse_step(usage, condition) : EXIT_OK;
}

static int parse_list(const struct option_usage *usage, const char *text,
		      struct trigger_wanted *wanted)
{
	for (;; text++) {
		size_t length = strcspn(text, ",");
		int status = parse_condition(usage, text, length, wanted);

		text += length;
		if (status || !*text)
			return status;
	}
}

/* They choose what is recorded, and history is to have all of it. */
static int check_others(const struct option_usage *usage, const struct options *options)
{
	if (options->range || options->profiler_api || options->steps || options->skip_steps)
		return options__misuse(usage, "--when watches all the time: not with --range, "
					      "--profiler-api, --steps or --skip-steps");
	return EXIT_OK;
}

static int check_needs(const struct option_usage *usage, const struct options *options,
		       const struct trigger_wanted *wanted)
{
	if (wanted->groups & GROUPS_COLLECTIVES && (options->sample || options->max_overhead))
		return options__misuse(usage, "--when late compares all kernels: not with "
					      "--sample or --max-overhead");
	if (wanted->groups & ~GROUP(API_ERROR) && options->source &&
	    !strcmp(options->source, "driver"))
		return options__misuse(usage, "--when step and --when late need the injection "
					      "library: not with --source driver");
	return EXIT_OK;
}

int trigger_options__choose(const struct option_usage *usage, const struct option_texts *when,
			    struct options *options, struct trigger_wanted *wanted)
{
	int status = when->count ? check_others(usage, options) : EXIT_OK;

	*wanted = (struct trigger_wanted){};
	for (uint32_t i = 0; !status && i < when->count; i++)
		status = parse_list(usage, when->list[i], wanted);
	if (!status)
		status = check_needs(usage, options, wanted);
	if (status || !(wanted->groups & GROUP(NVTX)))
		return status;
	status = window_options__parse_range(
		usage, "--step-range",
		options->step_range ? options->step_range : WINDOWS_TORCH_STEPS, &wanted->steps);
	options->step_range = NULL;
	return status;
}

const char *trigger_options__describe(const struct trigger_wanted *wanted, char *out, size_t size)
{
	size_t used = 0;

	*out = 0;
	for (uint32_t i = 0; i < wanted->count && used < size; i++)
		used += snprintf(out + used, size - used, "%s%s", i ? ", " : "",
				 wanted->list[i].text);
	return out;
}
