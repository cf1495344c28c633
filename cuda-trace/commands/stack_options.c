// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/commands/stack_options.h"

#include <string.h>
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

	fprintf(out, "stacks of %s launches, %s different; of %s frames, %s have no name",
		text__count(samples, counts->samples), text__count(stacks, counts->stacks),
		text__count(frames, counts->frames), text__count(nameless, counts->nameless));
	say_if_any(out, counts->cut, "are cut short");
	say_if_any(out, counts->incomplete, "end where no unwind table goes on");
	if (stack_options__unwinds(call_graph))
		say_if_any(out, counts->by_pointers, "are by frame pointers alone");
	say_if_any(out, counts->without_python, "of threads that Python does not know");
	say_if_any(out, counts->lost, "more did not fit");
	putc('\n', out);
}
