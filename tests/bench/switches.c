// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that only switch: pairs of them send each other a byte, both on one CPU. A line each
 * 100 ms until SIGTERM: SECONDS (CLOCK_MONOTONIC) MESSAGES CPU_NS, of the process so far. Each
 * message is a wake-up and a switch.
 *
 *     switches PAIRS
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 512

struct side {
	int in, out;
	uint64_t messages;
} __attribute__((aligned(64)));

static struct side sides[2 * PAIRS_MAX];

static void *pass(void *of)
{
	struct side *side = of;
	char byte = 0;

	while (read(side->in, &byte, 1) == 1 && write(side->out, &byte, 1) == 1)
		__atomic_store_n(&side->messages, side->messages + 1, __ATOMIC_RELAXED);
	return NULL;
}

static int start(struct side *side, const cpu_set_t *cpu)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(*cpu), cpu);
	return pthread_create(&thread, &attributes, pass, side);
}

static int start_pair(struct side pair[2], int number)
{
	cpu_set_t allowed, cpu;
	int there[2], back[2], skipped = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	CPU_ZERO(&cpu);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &allowed) && skipped++ == number % CPU_COUNT(&allowed))
			CPU_SET(i, &cpu);
	if (pipe(there) || pipe(back))
		return -1;
	pair[0].in = back[0];
	pair[0].out = there[1];
	pair[1].in = there[0];
	pair[1].out = back[1];
	return start(&pair[0], &cpu) || start(&pair[1], &cpu) || write(there[1], "", 1) != 1;
}

int main(int argc, char **argv)
{
	const struct timespec pause = {0, 100000000};
	int pairs = argc == 2 ? atoi(argv[1]) : 0;
	struct timespec cpu, now;

	if (pairs < 1 || pairs > PAIRS_MAX)
		return fprintf(stderr, "usage: switches PAIRS\n"), 2;
	for (int i = 0; i < pairs; i++)
		if (start_pair(sides + 2 * i, i))
			return fprintf(stderr, "switches: pair %d cannot be started\n", i), 1;
	for (;;) {
		uint64_t messages = 0;

		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
		for (int i = 0; i < 2 * pairs; i++)
			messages += __atomic_load_n(&sides[i].messages, __ATOMIC_RELAXED);
		printf("%lld.%09ld %llu %llu\n", (long long)now.tv_sec, now.tv_nsec,
		       (unsigned long long)messages, cpu.tv_sec * 1000000000ull + cpu.tv_nsec);
		fflush(stdout);
	}
}
