// SPDX-License-Identifier: BSD-2-Clause
// Computes a little before each kernel, on a CPU that others use up.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/workloads/idle/idle_program.h"

static void use_one_cpu(void)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	sched_getaffinity(0, sizeof(all), &all);
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET(cpu, &all)) {
			CPU_SET(cpu, &one);
			break;
		}
	sched_setaffinity(0, sizeof(one), &one);
}

static uint64_t cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void compute(uint64_t ns)
{
	uint64_t until = cpu_time() + ns;

	while (cpu_time() < until)
		;
}

/* Five of seven milliseconds are its own. */
static void hog(void)
{
	prctl(PR_SET_NAME, "hog");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	idle_program__come_first(2);
	use_one_cpu();
	for (;;) {
		idle_program__spin(5000000);
		usleep(2000);
	}
}

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 40, "A hog on the same CPU.");
	pid_t child;

	idle_program__start();
	child = fork();
	if (!child)
		hog();
	usleep(20000);
	use_one_cpu();
	for (uint64_t i = 0; i < steps; i++) {
		compute(2000000);
		idle_program__kernel(200000);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	idle_program__expect("preempted");
	return 0;
}
