// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which set of metrics a launch is counted with, for programs that launch in a rhythm, at random,
 * ever new kernels, and lose what was counted. Linked with the agent's own objects. Prints what is
 * wrong; silent and 0 if nothing is.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcupti-usdt/profile/metric_rotation.h"

#define SETS  6
#define KINDS 50

static int failures;

static void fail(const char *what, long a, long b)
{
	if (failures++ < 20)
		printf("%s: %ld, %ld\n", what, a, b);
}

static uint32_t counts[2000][SETS], set, changes;

static uint64_t kind_of(uint32_t number)
{
	const uint32_t grid[3] = {number % 7 + 1, 1, 1}, block[3] = {32, 1, 1};

	return metric_rotation__kind(number / 7 + 1, grid, block, 0);
}

static void begin(uint64_t kernels)
{
	metric_rotation__begin("a,b;c;d;e,f;g;h;", kernels);
	memset(counts, 0, sizeof(counts));
	set = changes = 0;
}

/* False: it was not counted. */
static bool launch(uint32_t number)
{
	uint64_t kind = kind_of(number);
	int next = metric_rotation__wants(kind) ? metric_rotation__next(kind, set) : -1;

	if (next < 0)
		return false;
	changes += next != (int)set;
	set = next;
	metric_rotation__counted(kind, set);
	counts[number][set]++;
	return true;
}

static uint32_t fewest(uint32_t number)
{
	uint32_t least = UINT32_MAX;

	for (int i = 0; i < SETS; i++)
		least = counts[number][i] < least ? counts[number][i] : least;
	return least;
}

/* However the rhythm falls together with the number of sets, each kernel has all of them. */
static void test_rhythm(void)
{
	for (uint32_t period = 1; period <= KINDS; period++) {
		begin(0);
		for (uint32_t i = 0; i < period * SETS; i++)
			launch(i % period);
		for (uint32_t i = 0; i < period; i++)
			if (fewest(i) != 1)
				fail("not all sets in as many launches", period, i);
		for (uint32_t i = 0; i < period * 1000; i++)
			launch(i % period);
		for (uint32_t i = 0; i < period; i++)
			if (fewest(i) < 1000 / SETS / 2)
				fail("seldom", period, fewest(i));
		/* A change costs as much as many launches. */
		if (changes > 40)
			fail("changes", period, changes);
	}
}

static void test_random(void)
{
	begin(0);
	for (int i = 0; i < 200000; i++)
		launch(rand() % 6 ? rand() % 5 : rand() % KINDS);
	for (uint32_t i = 0; i < KINDS; i++)
		if (fewest(i) < 20)
			fail("at random", i, fewest(i));
}

/* So many launches, and their kinds alone: each as often with each set. */
static void test_limit(void)
{
	uint64_t counted = 0;

	begin(70);
	if (metric_rotation__limit() != 70 * SETS)
		fail("limit", metric_rotation__limit(), 70 * SETS);
	for (uint32_t i = 0; i < 100000; i++)
		counted += launch(i % 30);
	if (counted != 70 * SETS)
		fail("limited", counted, 70 * SETS);
	for (uint32_t i = 0; i < 30; i++)
		for (int s = 0; s < SETS; s++)
			if (counts[i][s] != (i < 10 ? 3 : 2))
				fail("of a kind", i, counts[i][s]);
	if (launch(40) || metric_rotation__wants(kind_of(40)) || metric_rotation__wants(kind_of(0)))
		fail("more than requested", 0, 0);
	/* What had no values is counted again. */
	metric_rotation__lost(kind_of(3), 2);
	if (!launch(3) || set != 2 || launch(3))
		fail("lost", 3, set);
}

static void test_bounds(void)
{
	uint32_t kept = 0;

	begin(0);
	for (uint32_t i = 0; i < 2000; i++)
		kept += launch(i);
	if (kept != 768)
		fail("kinds", kept, 768);
	for (uint32_t i = 0; i < 768; i++)
		if (!launch(i))
			fail("one that is known", i, 0);
	/* One set is what there was before there were several. */
	metric_rotation__begin("a,b", 5);
	if (metric_rotation__limit() != 5 || metric_rotation__next(7, 0) ||
	    !metric_rotation__wants(7))
		fail("one set", metric_rotation__limit(), 5);
	/* However they are written. */
	metric_rotation__begin(";;a,b;,;;,c;d,;", 1);
	if (metric_rotation__limit() != 3)
		fail("three sets", metric_rotation__limit(), 3);
	metric_rotation__begin(";,;", 1);
	if (metric_rotation__limit() != 1)
		fail("no set", metric_rotation__limit(), 1);
	metric_rotation__begin("a;b", UINT64_MAX);
	if (metric_rotation__limit() != UINT64_MAX)
		fail("a limit without end", metric_rotation__limit(), -1);
}

int main(void)
{
	test_rhythm();
	test_random();
	test_limit();
	test_bounds();
	return failures != 0;
}
