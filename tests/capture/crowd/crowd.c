// SPDX-License-Identifier: BSD-2-Clause
/*
 * Speaks the probe contract without any CUDA: batches, names and states as the agent sends them,
 * as many and as odd as a test wants (ten thousand processes, a hundred thousand names), faster
 * than a simulated driver could. It is program and agent file in one: `--agent
 * build/tests/capture/crowd/crowd`. The last line of stdout is the ground truth. Run by
 * tests/metrics/metrics.bats, top.bats and the bench.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#include "libcupti-usdt/probes.h"

#define SEMAPHORE(probe) \
	__attribute__((section(".probes"), used)) volatile unsigned short cuda_##probe##_semaphore
SEMAPHORE(launch_batch);
SEMAPHORE(kernel_batch);
SEMAPHORE(device_batch);
SEMAPHORE(name);
SEMAPHORE(status);
SEMAPHORE(lost);
SEMAPHORE(error);

static struct {
	unsigned long launches, names, processes, threads, rate, failures, wait_ms, hold_ms;
	unsigned long devices, own_names, times, at_once;
} options = {.launches = 1000, .names = 1, .processes = 1, .threads = 1, .devices = 1, .times = 1};

static __u64 instance, same_time;
static _Atomic __u64 launched, executed;

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

static PROBE void send_launches(const void *records, __u32 bytes, __u32 count, __u64 first,
				__u64 load)
{
	STAP_PROBE5(cuda, launch_batch, records, bytes, count, first, load);
}

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

static void tell_status(enum cuda_state state)
{
	struct cuda_status status = {
		.version = CUDA_PROBES_VERSION,
		.size = sizeof(status),
		.instance = instance,
		.time = now(),
		.pid = getpid(),
		.state = state,
		.groups = 1 << CUDA_GROUP_LAUNCH | 1 << CUDA_GROUP_KERNEL,
	};

	status.emitted[CUDA_GROUP_LAUNCH] = launched;
	status.emitted[CUDA_GROUP_KERNEL] = executed;
	send_status(&status, sizeof(status));
}

static void tell_names(unsigned long number)
{
	unsigned long before = options.own_names ? number * options.names : 0;

	for (unsigned long id = 1; id <= options.names; id++) {
		char text[64];
		int length = snprintf(text, sizeof(text), "kernel_%lu", before + id);

		send_name(instance, id, text, length);
	}
}

/* The one GPU; processes with an odd number call it 1, not 0. */
static void tell_device(unsigned long number)
{
	struct cuda_device device = {
		.head = {CUDA_RECORD_DEVICE, sizeof(device), 0},
		.device = number % 2,
		.uuid = {0xc0, 0xde},
	};

	send_devices(&device, sizeof(device), 1, 0, instance);
}

#define APART 20000 /* ns between the starts of two kernels */

/* Kernel n runs for 1, 2 ... 16 us, one after the other on its device; --times as long, when
 * several run at a time and some that began later end earlier. */
static __u64 duration(__u64 n)
{
	return 1000 * (1 + n % 16) * options.times;
}

static unsigned long device_number; /* of --at-once */

static void fill_launch(struct cuda_launch *launch, __u64 n, __u64 at)
{
	*launch = (struct cuda_launch){
		.head = {CUDA_RECORD_LAUNCH, sizeof(*launch), (__u32)n + 1},
		.start = at,
		.end = at + 2000,
		.tid = getpid(),
		.name = 1 + n % options.names,
		.context = 1 + n % options.devices,
		.result = options.failures && n % options.failures == 0 ? 1 : 0,
		.domain = CUDA_DOMAIN_DRIVER,
		.grid = {1 + n % 64, 1, 1},
		.block = {32 << n % 5, 1, 1},
	};
}

static void fill_kernel(struct cuda_kernel *kernel, __u64 n, __u64 at)
{
	*kernel = (struct cuda_kernel){
		.head = {CUDA_RECORD_KERNEL, sizeof(*kernel), (__u32)n + 1},
		.start = at,
		.end = at + duration(n),
		.device = options.at_once ? device_number : n % options.devices,
		.context = 1 + n % options.devices,
		.stream = 7,
		.name = 1 + n % options.names,
		.grid = {1 + n % 64, 1, 1},
		.block = {32 << n % 5, 1, 1},
	};
}

static __u64 emit_batch(__u64 from, __u64 to, __u64 at)
{
	struct cuda_launch launches[64];
	struct cuda_kernel kernels[64];
	__u32 count = to - from, ran = 0;

	for (__u64 n = from; n < to; n++, at += APART) {
		fill_launch(&launches[n - from], n, at);
		if (!launches[n - from].result)
			fill_kernel(&kernels[ran++], n, at + 3000);
	}
	send_launches(launches, count * sizeof(launches[0]), count,
		      atomic_fetch_add(&launched, count), instance);
	send_kernels(kernels, ran * sizeof(kernels[0]), ran, atomic_fetch_add(&executed, ran),
		     instance);
	return at;
}

static void *emit(void *thread)
{
	__u64 share = options.launches / options.threads, from = share * (unsigned long)thread;
	__u64 end = from + share, began = now();
	__u64 at = options.at_once ? same_time : began;

	for (__u64 n = from; n < end; n += 64) {
		at = emit_batch(n, n + 64 < end ? n + 64 : end, at);
		while (options.rate && (n - from) * 1000000000ull / options.rate > now() - began)
			usleep(500);
	}
	return NULL;
}

static void be_a_process(unsigned long number)
{
	pthread_t threads[64];

	instance = now() ^ (__u64)getpid() << 40;
	for (__u64 end = now() + options.wait_ms * 1000000; now() < end;) {
		if (cuda_kernel_batch_semaphore && cuda_status_semaphore)
			break;
		usleep(1000);
	}
	tell_status(CUDA_STATE_ACTIVE);
	tell_names(number);
	if (options.at_once) {
		device_number = number % 2;
		tell_device(number);
	}
	for (unsigned long t = 0; t < options.threads; t++)
		pthread_create(&threads[t], NULL, emit, (void *)t);
	for (unsigned long t = 0; t < options.threads; t++)
		pthread_join(threads[t], NULL);
	tell_status(CUDA_STATE_ACTIVE);
	usleep(options.hold_ms * 1000);
	tell_status(CUDA_STATE_ENDED);
}

static void print_truth(void)
{
	unsigned long share = options.launches / options.threads, all = share * options.threads;
	unsigned long errors = 0, ns = 0, busy = 0, until = 0;

	for (unsigned long n = 0; n < all; n++) {
		unsigned long start = n * APART, end = start + duration(n);

		if (options.failures && n % options.failures == 0) {
			errors++;
			continue;
		}
		ns += duration(n);
		if (end <= until)
			continue;
		busy += end - (start > until ? start : until);
		until = end;
	}
	/* busy_ns: of one device and one thread */
	printf("expect launches=%lu kernels=%lu launch_errors=%lu gpu_ns=%lu busy_ns=%lu\n",
	       (all - errors) * options.processes, (all - errors) * options.processes,
	       errors * options.processes, ns * options.processes, busy * options.processes);
}

int main(int argc, char **argv)
{
	static const struct option rows[] = {
		{"launches", 1, NULL, 'l'},  {"names", 1, NULL, 'n'},	{"processes", 1, NULL, 'p'},
		{"threads", 1, NULL, 't'},   {"rate", 1, NULL, 'r'},	{"failures", 1, NULL, 'f'},
		{"wait-ms", 1, NULL, 'w'},   {"hold-ms", 1, NULL, 'h'}, {"devices", 1, NULL, 'd'},
		{"own-names", 0, NULL, 'o'}, {"times", 1, NULL, 'x'},	{"at-once", 0, NULL, 'a'},
		{NULL, 0, NULL, 0},
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "", rows, NULL)) != -1) {
		unsigned long value = optarg ? strtoul(optarg, NULL, 10) : 0;

		switch (letter) {
		case 'l':
			options.launches = value;
			break;
		case 'n':
			options.names = value;
			break;
		case 'p':
			options.processes = value;
			break;
		case 't':
			options.threads = value < 64 ? value : 64;
			break;
		case 'r':
			options.rate = value;
			break;
		case 'f':
			options.failures = value;
			break;
		case 'w':
			options.wait_ms = value;
			break;
		case 'h':
			options.hold_ms = value;
			break;
		case 'd':
			options.devices = value;
			break;
		case 'o':
			options.own_names = 1;
			break;
		case 'x':
			options.times = value;
			break;
		/* All processes run the same kernels at the same times on the same GPU. */
		case 'a':
			options.at_once = 1;
			break;
		default:
			return 2;
		}
	}
	same_time = now() + 500000000;
	if (options.processes == 1) {
		be_a_process(0);
	} else {
		for (unsigned long p = 0; p < options.processes; p++) {
			if (!fork()) {
				be_a_process(p);
				_exit(0);
			}
			if (p >= 32)
				wait(NULL);
		}
		while (wait(NULL) > 0)
			;
	}
	print_truth();
	return 0;
}
