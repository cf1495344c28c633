// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/commands/stack_options.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/text.h"

bool stack_options__unwinds(const char *call_graph)
{
	return !call_graph || strcmp(call_graph, "fp") != 0;
}

static void say_if_any(FILE *out, uint64_t count, const char *what)
{
	char text[32];

	if (count)
		fprintf(out, "; %s %s", text__count(text, count), what);
}

void stack_options__say(FILE *out, const struct callstacks_counts *counts, const char *call_graph)
{
	char samples[32], stacks[32], frames[32], nameless[32];

	fprintf(out, "stacks of %s launches, %s different; of %s frames, %s %s no name",
		text__count(samples, counts->samples), text__count(stacks, counts->stacks),
		text__count(frames, counts->frames), text__count(nameless, counts->nameless),
		counts->nameless == 1 ? "has" : "have");
	say_if_any(out, counts->cut, "are cut short");
	say_if_any(out, counts->incomplete, "end where no unwind table goes on");
	if (stack_options__unwinds(call_graph))
		say_if_any(out, counts->by_pointers, "are by frame pointers alone");
	say_if_any(out, counts->without_python, "of threads that Python does not know");
	say_if_any(out, counts->lost, "more did not fit");
	putc('\n', out);
}

void stack_options__say_kept(uint32_t period, const struct callstacks_counts *counts,
			     const char *call_graph)
{
	if (period)
		fprintf(stderr, "at the end, the stack of one launch in %u was recorded\n", period);
	stack_options__say(stderr, counts, call_graph);
}

/* 0 = none, or too many. */
static double parse_percent(const char *text)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(number > 0 && number <= 100))
		return 0;
	return number;
}

int stack_options__percent(const struct option_usage *usage, const char *stacks,
			   struct options *options, double *percent)
{
	if (*stacks)
		return options__misuse(usage, "either -g=N or --max-overhead");
	*percent = parse_percent(options->max_overhead);
	options->max_overhead = NULL;
	if (!(*percent > 0))
		return options__misuse(usage, "--max-overhead wants percent above 0, at most 100");
	return EXIT_OK;
}
