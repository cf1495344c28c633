// SPDX-License-Identifier: BSD-2-Clause
// idle_observed.c on launches made by hand: when a GPU was observed. Prints the intervals in ms,
// for tests/stat/idle.bats.
#include <stdio.h>
#include <string.h>
#include "cuda-trace/idle/idle_observed.h"
#include "libcupti-usdt/probes.h"

#define MS 1000000ull

static struct idle_observed *observed;
static const struct idle_host *const hosts[] = {(void *)8, (void *)16};
static uint32_t correlation;

/* A launch of 1 ms by a process; its kernel runs from then to then. */
static void launch(int host, int stream, uint64_t at, bool timed, uint64_t from, uint64_t to)
{
	struct cuda_launch one = {
		.head = {.kind = CUDA_RECORD_LAUNCH, .correlation = ++correlation},
		.start = at * MS,
		.end = (at + 1) * MS,
		.stream = stream,
		.context = 1,
		.flags = timed ? CUDA_LAUNCH_TIMED : 0,
	};

	idle_observed__launch(observed, hosts[host], &one);
	if (timed && to)
		idle_observed__work(observed, hosts[host], 1, 0, correlation, from * MS, to * MS);
}

static void wait_for_all(uint64_t from, uint64_t to)
{
	const struct cuda_api call = {.start = from * MS, .end = to * MS, .context = 1};

	idle_observed__sync(observed, hosts[0], &call);
}

static void show_until(uint64_t until)
{
	const struct interval *list;
	uint32_t count;

	idle_observed__close(observed, until);
	list = idle_observed__of(observed, 0, &count);
	for (uint32_t i = 0; i < count; i++)
		if (list[i].end == UINT64_MAX)
			printf(" %llu-", (unsigned long long)(list[i].start / MS));
		else
			printf(" %llu-%llu", (unsigned long long)(list[i].start / MS),
			       (unsigned long long)(list[i].end / MS));
}

static void begin(const char *name)
{
	observed = idle_observed__new();
	printf("%s:", name);
}

static void end(void)
{
	show_until(UINT64_MAX);
	putchar('\n');
	idle_observed__free(observed);
}

int main(void)
{
	begin("one stream");
	launch(0, 0, 10, false, 0, 0);
	launch(0, 0, 20, true, 25, 30);
	launch(0, 0, 40, true, 42, 44);
	launch(0, 0, 60, false, 0, 0);
	end();

	begin("a kernel longer than the window");
	launch(0, 0, 10, false, 0, 0);
	launch(0, 0, 20, true, 25, 90);
	launch(0, 0, 60, false, 0, 0);
	end();

	begin("a queue longer than the window");
	launch(0, 0, 10, false, 0, 0);
	launch(0, 0, 20, true, 70, 90);
	launch(0, 0, 60, false, 0, 0);
	end();

	begin("another stream may still run");
	launch(0, 1, 5, false, 0, 0);
	launch(0, 0, 10, false, 0, 0);
	launch(0, 0, 20, true, 25, 90);
	launch(0, 0, 30, true, 91, 92);
	launch(0, 0, 60, false, 0, 0);
	end();

	begin("another stream begins");
	launch(0, 1, 5, false, 0, 0);
	launch(0, 0, 20, true, 25, 30);
	launch(0, 1, 32, true, 35, 36);
	launch(0, 0, 40, true, 42, 44);
	launch(0, 1, 60, false, 0, 0);
	end();

	begin("a wait for the other stream");
	launch(0, 1, 5, false, 0, 0);
	wait_for_all(6, 8);
	launch(0, 0, 10, false, 0, 0);
	launch(0, 0, 20, true, 25, 30);
	launch(0, 0, 60, false, 0, 0);
	end();

	begin("a wait that began too early");
	launch(0, 1, 5, false, 0, 0);
	wait_for_all(4, 8);
	launch(0, 0, 20, true, 25, 30);
	launch(0, 0, 60, false, 0, 0);
	end();

	begin("a wait alone begins nothing");
	launch(0, 0, 5, false, 0, 0);
	launch(0, 1, 10, true, 11, 12);
	wait_for_all(12, 15);
	launch(0, 1, 20, true, 25, 30);
	launch(0, 1, 60, false, 0, 0);
	end();

	begin("a record that is missing");
	launch(0, 0, 10, true, 11, 12);
	launch(0, 0, 20, true, 0, 0);
	launch(0, 0, 30, true, 31, 32);
	launch(0, 0, 60, false, 0, 0);
	end();

	begin("two processes");
	launch(0, 0, 10, true, 11, 12);
	launch(1, 0, 20, false, 0, 0);
	launch(1, 0, 30, true, 35, 36);
	launch(0, 0, 50, false, 0, 0);
	launch(0, 0, 60, true, 62, 64);
	launch(1, 0, 80, false, 0, 0);
	end();

	begin("in two parts, one launch late");
	launch(0, 0, 10, true, 11, 12);
	launch(0, 0, 30, true, 31, 32);
	show_until(50 * MS);
	printf(" |");
	launch(0, 0, 40, true, 41, 42);
	launch(0, 0, 60, true, 61, 62);
	launch(0, 0, 80, false, 0, 0);
	end();

	begin("in two parts, observed in between");
	launch(0, 0, 10, true, 11, 12);
	show_until(50 * MS);
	printf(" |");
	launch(0, 0, 80, false, 0, 0);
	end();

	begin("more streams than are kept");
	for (int i = 0; i < 80; i++)
		launch(0, 100 + i, 1 + i, true, 2 + i, 3 + i);
	launch(0, 0, 200, false, 0, 0);
	launch(0, 0, 210, true, 211, 212);
	end();
	return 0;
}
