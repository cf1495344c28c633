// SPDX-License-Identifier: BSD-2-Clause
/*
 * Four processes on one GPU, whose shares of it are known: speaks the probe contract as
 * tests/capture/crowd does, program and agent file in one. Each process runs one kernel in each
 * period of 1.3 ms, from one point of it to another; the points move a little from period to
 * period. --turns: instead, they take turns as turns.h says. Records are sent as time goes on;
 * --late MS: those of the last process so much later. The last line of stdout has the shares
 * (without --turns, of kernels that nobody interrupts: equal parts; with it, by how long each ran),
 * the shares in equal parts of each moment, and the time in which the GPU was busy.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#include "libcupti-usdt/probes.h"
#include "turns.h"

#define SEMAPHORE(probe) \
	__attribute__((section(".probes"), used)) volatile unsigned short cuda_##probe##_semaphore
SEMAPHORE(kernel_batch);
SEMAPHORE(device_batch);
SEMAPHORE(name);
SEMAPHORE(status);
SEMAPHORE(lost);
SEMAPHORE(error);

#define PROCESSES TURNS_PROCESSES
#define PERIOD	  1300000 /* ns */
#define BATCH	  32

static unsigned long periods = 2000, late_ms, wait_ms = 10000, hold_ms;
static const char *prefix = "sharer";
static __u64 instance, begin;
static struct {
	_Atomic int ready;
	_Atomic __u64 begin;
} * common; /* to all processes */

/* Of a period, in us; the last but one works in every second. */
static const struct {
	unsigned int from, to, every;
} work[PROCESSES] = {{0, 600, 1}, {300, 900, 1}, {100, 1000, 2}, {850, 1100, 1}};

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* One site a probe, arguments in the registers of a call: neither inlined nor specialised. */
#ifdef __clang__
#define PROBE __attribute__((noinline))
#else
#define PROBE __attribute__((noipa))
#endif

static PROBE void send_kernels(const void *records, __u32 bytes, __u32 count, __u64 first,
			       __u64 load)
{
	STAP_PROBE5(cuda, kernel_batch, records, bytes, count, first, load);
}

static PROBE void send_devices(const void *records, __u32 bytes, __u32 count, __u64 first,
			       __u64 load)
{
	STAP_PROBE5(cuda, device_batch, records, bytes, count, first, load);
}

static PROBE void send_name(__u64 load, __u32 id, const char *text, __u32 length)
{
	STAP_PROBE4(cuda, name, load, id, text, length);
}

static PROBE void send_status(const struct cuda_status *status, __u32 size)
{
	STAP_PROBE2(cuda, status, status, size);
}

/* Never called: an agent has these probes, too. */
static PROBE __attribute__((used)) void send_lost(__u32 reason, __u64 count, __u64 total,
						  __u64 load)
{
	STAP_PROBE4(cuda, lost, reason, count, total, load);
}

static PROBE __attribute__((used)) void send_error(int code, const char *component,
						   const char *message, __u64 load)
{
	STAP_PROBE4(cuda, error, code, component, message, load);
}

static void send_state(enum cuda_state state, __u64 kernels)
{
	struct cuda_status status = {
		.version = CUDA_PROBES_VERSION,
		.size = sizeof(status),
		.instance = instance,
		.time = now(),
		.pid = getpid(),
		.state = state,
		.groups = 1 << CUDA_GROUP_KERNEL,
	};

	status.emitted[CUDA_GROUP_KERNEL] = kernels;
	send_status(&status, sizeof(status));
}

static struct turns plan[PROCESSES];

static void plan_periods(void)
{
	for (int process = 0; process < PROCESSES; process++)
		for (unsigned long period = 0; period < periods; period++) {
			unsigned int moved = (period * 7919 + process * 104729) % 97;
			__u64 from = period * (PERIOD / 1000) + moved;

			if (period % work[process].every == 0)
				turns__add(&plan[process], from + work[process].from,
					   from + work[process].to);
		}
}

static void wait_until(__u64 time)
{
	while (now() < time)
		usleep(2000);
}

/* Whoever watches has attached to all of the processes, or does not come. */
static __u64 wait_for_watcher(void)
{
	for (__u64 end = now() + wait_ms * 1000000; now() < end;) {
		if (cuda_kernel_batch_semaphore && cuda_device_batch_semaphore &&
		    cuda_name_semaphore && cuda_status_semaphore)
			break;
		usleep(1000);
	}
	if (++common->ready == PROCESSES)
		common->begin = now() + 100000000;
	while (!common->begin)
		usleep(1000);
	return common->begin;
}

static void be_a_process(int number)
{
	struct cuda_device device = {
		.head = {CUDA_RECORD_DEVICE, sizeof(device), 0},
		.device = number % 2,
		.uuid = {0x5a, 0xa5},
	};
	struct cuda_kernel kernels[BATCH];
	__u64 sent = 0, late = number == PROCESSES - 1 ? late_ms * 1000000 : 0;
	unsigned int count = 0;
	char name[16];

	snprintf(name, sizeof(name), "%.13s%d", prefix, number);
	prctl(PR_SET_NAME, name);
	instance = now() ^ (__u64)getpid() << 40;
	begin = wait_for_watcher();
	send_state(CUDA_STATE_ACTIVE, 0);
	send_name(instance, 1, "shared_kernel", strlen("shared_kernel"));
	send_devices(&device, sizeof(device), 1, 0, instance);
	for (unsigned int i = 0; i < plan[number].count; i++) {
		kernels[count++] = (struct cuda_kernel){
			.head = {CUDA_RECORD_KERNEL, sizeof(kernels[0]), i + 1},
			.start = begin + plan[number].spans[i].from * 1000ull,
			.end = begin + plan[number].spans[i].to * 1000ull,
			.device = number % 2,
			.context = 1,
			.stream = 7,
			.name = 1,
			.grid = {1, 1, 1},
			.block = {32, 1, 1},
		};
		if (count < BATCH && i + 1 < plan[number].count)
			continue;
		wait_until(kernels[count - 1].end + late);
		send_kernels(kernels, count * sizeof(kernels[0]), count, sent, instance);
		sent += count;
		count = 0;
	}
	send_state(CUDA_STATE_ACTIVE, sent);
	usleep(hold_ms * 1000);
	send_state(CUDA_STATE_ENDED, sent);
}

/* Microsecond by microsecond: all points are at whole ones. */
static void print_truth(bool turns)
{
	double equal[PROCESSES] = {}, busy = 0, ran = 0;
	unsigned long length = periods * (PERIOD / 1000) + TURNS_MAX_US;
	unsigned char *users = calloc(length, 1);

	for (int process = 0; users && process < PROCESSES; process++) {
		ran += plan[process].ran;
		for (unsigned int i = 0; i < plan[process].count; i++)
			for (__u64 at = plan[process].spans[i].from; at < plan[process].spans[i].to;
			     at++)
				users[at] |= 1 << process;
	}
	for (unsigned long at = 0; users && at < length; at++) {
		busy += users[at] ? 1e-6 : 0;
		for (int process = 0; process < PROCESSES; process++)
			if (users[at] >> process & 1)
				equal[process] += 1e-6 / __builtin_popcount(users[at]);
	}
	printf("expect busy=%.9f", busy);
	for (int process = 0; process < PROCESSES; process++)
		printf(" share%d=%.9f equal%d=%.9f", process,
		       turns ? plan[process].ran / ran * busy : equal[process], process,
		       equal[process]);
	printf("\n");
	free(users);
}

int main(int argc, char **argv)
{
	static const struct option rows[] = {{"periods", 1, NULL, 'p'}, {"late", 1, NULL, 'l'},
					     {"name", 1, NULL, 'n'},	{"hold-ms", 1, NULL, 'h'},
					     {"wait-ms", 1, NULL, 'w'}, {"turns", 0, NULL, 't'},
					     {NULL, 0, NULL, 0}};
	bool turns = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "", rows, NULL)) != -1) {
		if (letter == 'p')
			periods = strtoul(optarg, NULL, 10);
		else if (letter == 'l')
			late_ms = strtoul(optarg, NULL, 10);
		else if (letter == 'h')
			hold_ms = strtoul(optarg, NULL, 10);
		else if (letter == 'w')
			wait_ms = strtoul(optarg, NULL, 10);
		else if (letter == 'n')
			prefix = optarg;
		else if (letter == 't')
			turns = true;
		else
			return 2;
	}
	if (turns)
		turns__plan(plan, periods * (PERIOD / 1000));
	else
		plan_periods();
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (common == MAP_FAILED)
		return 1;
	for (int process = 0; process < PROCESSES; process++)
		if (!fork()) {
			be_a_process(process);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	print_truth(turns);
	return 0;
}
