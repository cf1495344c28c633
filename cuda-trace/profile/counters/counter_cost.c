// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. the estimate before the start is from another GPU, driver or program than this
 * one: it is given as a range, with where it is from, and replaced as soon as something was
 * measured here. 2. the first launch of a process waits for CUPTI to set itself up, ten times as
 * long as any other: it is kept apart, a mean with it would mean nothing. 3. processes that are
 * counted at the same time wait for each other: one alone is looked at, and the report is of each.
 */
#include "cuda-trace/profile/counters/counter_cost.h"

#include <stdio.h>
#include "cuda-trace/base/text.h"

/* The call of a counted launch less the kernel's own time: docs/measurements/h200/counters-*.txt;
 * docs/measurements/h100/suite.txt. */
#define FIRST_MIN_MS  160
#define FIRST_MAX_MS  470
#define LEAST_MS      1 /* with one pass: many between one start and stop of CUPTI, or each alone */
#define MAX_MS	      32
#define PASS_LEAST_MS 8 /* with several, each */
#define PASS_MAX_MS   20

#define TURN_MIN_MS   200 /* where CUPTI is enabled anew */
#define TURN_MAX_MS   420

#define EARLY	      3 /* launches, the first one among them */

static const char *range(char out[48], uint64_t least_ms, uint64_t most_ms)
{
	if (most_ms >= 1000)
		snprintf(out, 48, "%.1f to %.1f s", least_ms / 1e3, most_ms / 1e3);
	else
		snprintf(out, 48, "%u to %u ms", (unsigned int)least_ms, (unsigned int)most_ms);
	return out;
}

void counter_cost__say_before(const char *chip, unsigned int passes, uint64_t kernels)
{
	uint64_t least = passes == 1 ? LEAST_MS : (uint64_t)passes * PASS_LEAST_MS;
	uint64_t most = passes == 1 ? MAX_MS : (uint64_t)passes * PASS_MAX_MS;
	char first[48], other[48], all[48];

	fprintf(stderr,
		"cuda-trace profile: %u pass%s per kernel on %s: counting adds %s to the first "
		"kernel, %s to each other one (as measured on an H200)%s",
		passes, passes == 1 ? "" : "es", chip, range(first, FIRST_MIN_MS, FIRST_MAX_MS),
		range(other, least, most),
		passes == 1 ? "" : "; more if much memory must be restored between passes");
	if (kernels > 1 && kernels < 1000000)
		fprintf(stderr, "; for %llu kernels of each process, about %s",
			(unsigned long long)kernels,
			range(all, FIRST_MIN_MS + (kernels - 1) * least,
			      FIRST_MAX_MS + (kernels - 1) * most));
	fputc('\n', stderr);
}

void counter_cost__say_turns(const char *chip, unsigned int sets, uint64_t kernels)
{
	fprintf(stderr,
		"cuda-trace profile: %u set%s of metrics on %s, one per launch; no kernel runs "
		"twice: counting adds about 1 ms to a launch, %d to %d ms when the set changes (as "
		"measured on an H100)",
		sets, sets == 1 ? "" : "s", chip, TURN_MIN_MS, TURN_MAX_MS);
	if (kernels && kernels < 1000000)
		fprintf(stderr, "; %llu launches of each process are to be counted",
			(unsigned long long)kernels * sets);
	fputc('\n', stderr);
}

static void say(const struct counter_cost *cost)
{
	uint64_t each = cost->others_ns / (cost->counted - 1);
	char first[16], other[16], all[16];

	fprintf(stderr,
		"cuda-trace profile: measured here: the first launch took %s, each later one %s",
		text__ns(first, cost->first_ns), text__ns(other, each));
	if (cost->kernels)
		fprintf(stderr, "; for %llu %s of each process, about %s\n",
			(unsigned long long)cost->kernels, cost->graphs ? "graphs" : "kernels",
			text__ns(all, cost->first_ns + (cost->kernels - 1) * each));
	else
		fprintf(stderr, "; --kernels limits how many are counted\n");
}

void counter_cost__launch(struct counter_cost *cost, uint32_t pid, uint64_t call_ns)
{
	if (cost->said || (cost->pid && cost->pid != pid))
		return;
	cost->pid = pid;
	if (cost->counted++)
		cost->others_ns += call_ns;
	else
		cost->first_ns = call_ns;
	if (cost->counted < EARLY)
		return;
	cost->said = true;
	/* An estimate of what is over already is useless. */
	if (!cost->kernels || cost->kernels > EARLY)
		say(cost);
}
