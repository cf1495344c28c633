// SPDX-License-Identifier: BSD-2-Clause
// A training loop: steps of a fixed duration, each a pushed range 'ProfilerStep#N' with a launch
// in it. One step may be slower, or never end, and a call may fail before it.
#include <getopt.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/workloads/nvtx_client.h"

static const char help[] =
	"usage: training [OPTION...]\n"
	"  -n, --steps N    (40)\n"
	"  -m, --ms MS      how long a step takes (20)\n"
	"  -s, --slow N     this step (from 1) takes\n"
	"  -u, --until MS   that long (100)\n"
	"  -o, --open       and does not end\n"
	"  -e, --error N    before this step, a call fails\n"
	"  -i, --inner      each step has two halves, which are ranges of the same name\n"
	"  -g, --gate FILE  the slow step, or the error, waits for FILE\n";

static struct settings {
	uint64_t steps, ms, slow, slow_ms, error;
	bool open, inner;
	const char *gate;
} settings = {.steps = 40, .ms = 20, .slow_ms = 100};

static void sleep_ms(uint64_t ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static void fail_call(void)
{
	CUdeviceptr memory;

	if (!counted__result(cuMemAlloc_v2(&memory, 0)))
		program__fail("no bytes were allocated");
}

static void launch(CUfunction kernel)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};

	program__check(counted__launch(kernel, &shape, NULL, NULL), "cuLaunchKernel");
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
}

/* As long as it is to be, whatever the launch takes. */
static void work(CUfunction kernel, const char *name, uint64_t ms)
{
	uint64_t until = program__now() + ms * 1000000;

	if (name)
		push(name);
	launch(kernel);
	while (program__now() < until)
		sleep_ms(1);
	if (name)
		pop();
}

static void step(CUfunction kernel, uint64_t number)
{
	bool slow = number == settings.slow;
	uint64_t ms = slow ? settings.slow_ms : settings.ms;
	char name[64];

	snprintf(name, sizeof(name), "ProfilerStep#%llu", (unsigned long long)number);
	while ((slow || number == settings.error) && settings.gate && access(settings.gate, F_OK))
		sleep_ms(1);
	if (number == settings.error)
		fail_call();
	push(name);
	work(kernel, settings.inner ? name : NULL, ms / 2);
	work(kernel, settings.inner ? name : NULL, ms - ms / 2);
	if (!slow || !settings.open)
		pop();
}

static bool parse(int argc, char **argv)
{
	static const struct option options[] = {{"steps", 1, NULL, 'n'}, {"ms", 1, NULL, 'm'},
						{"slow", 1, NULL, 's'},	 {"until", 1, NULL, 'u'},
						{"open", 0, NULL, 'o'},	 {"error", 1, NULL, 'e'},
						{"inner", 0, NULL, 'i'}, {"gate", 1, NULL, 'g'},
						{"help", 0, NULL, 'h'},	 {0}};
	int option;

	while ((option = getopt_long(argc, argv, "n:m:s:u:oe:ig:h", options, NULL)) != -1) {
		if (option == 'n')
			settings.steps = program__number(optarg, "--steps");
		else if (option == 'm')
			settings.ms = program__number(optarg, "--ms");
		else if (option == 's')
			settings.slow = program__number(optarg, "--slow");
		else if (option == 'u')
			settings.slow_ms = program__number(optarg, "--until");
		else if (option == 'o')
			settings.open = true;
		else if (option == 'e')
			settings.error = program__number(optarg, "--error");
		else if (option == 'i')
			settings.inner = true;
		else if (option == 'g')
			settings.gate = optarg;
		else
			return false;
	}
	return optind == argc;
}

int main(int argc, char **argv)
{
	struct program program;
	CUfunction kernel;

	if (!parse(argc, argv))
		return fputs(help, stdout), 0;
	program__start(&program);
	initialize();
	kernel = program__kernel(&program, "empty");
	puts("ready");
	fflush(stdout);
	for (uint64_t i = 1; i <= settings.steps; i++)
		step(kernel, i);
	program__also("steps", settings.steps);
	program__expect();
	return 0;
}
