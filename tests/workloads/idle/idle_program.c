// SPDX-License-Identifier: BSD-2-Clause
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "tests/workloads/idle/idle_program.h"

static struct program program;
static CUfunction spin;
static uint64_t busy_until, idle_ns, gaps;

/* What else runs on this machine would be a cause of its own. */
void idle_program__come_first(int priority)
{
	struct sched_param parameters = {.sched_priority = priority};

	sched_setscheduler(0, SCHED_FIFO, &parameters);
}

void idle_program__start(void)
{
	program__start(&program);
	spin = program__kernel(&program, "spin");
	idle_program__come_first(1);
}

void idle_program__kernel(uint64_t ns)
{
	static const struct shape shape = {{1, 1, 1}, {1, 1, 1}, 0};
	void *parameters[] = {&ns};
	uint64_t now = program__now(), end;

	program__check(counted__launch(spin, &shape, NULL, parameters), "cuLaunchKernel");
	/* It starts somewhere in that call. */
	end = program__now();
	now += (end - now) / 2;
	if (busy_until && now > busy_until) {
		idle_ns += now - busy_until;
		gaps++;
	}
	busy_until = (now > busy_until ? now : busy_until) + ns;
}

void idle_program__note(uint64_t ns)
{
	idle_ns += ns;
	gaps++;
	busy_until = program__now();
}

void idle_program__spin(uint64_t ns)
{
	uint64_t until = program__now() + ns;

	while (program__now() < until)
		;
}

void idle_program__expect(const char *cause)
{
	printf("cause %s\n", cause);
	program__also("idle_ns", idle_ns);
	program__also("gaps", gaps);
	program__expect();
}

uint64_t idle_program__steps(int argc, char **argv, uint64_t steps, const char *what)
{
	if (argc > 1 && !strcmp(argv[1], "--help")) {
		printf("usage: %s [STEPS]\n%s\n", argv[0], what);
		exit(0);
	}
	return argc > 1 ? program__number(argv[1], "STEPS") : steps;
}
