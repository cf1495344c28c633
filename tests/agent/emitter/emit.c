// SPDX-License-Identifier: BSD-2-Clause
/*
 * emit WHAT [N]: a traced process of a test. Waits until somebody listens, fires what WHAT says,
 * and prints what must be seen as its last line.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <stdint.h>
#include <unistd.h>
#include "libcupti-usdt/counter_request.h"
#include "tests/agent/emitter/emitter.h"

#define INSTANCE 0x1234567

static __u64 launched, kernels, errors;

static __u64 now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void pause_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static struct cuda_launch launch(__u32 correlation, __u32 name)
{
	return (struct cuda_launch){
		.head = {CUDA_RECORD_LAUNCH, sizeof(struct cuda_launch), correlation},
		.flags = CUDA_LAUNCH_TIMED,
		.start = now() - 20000,
		.end = now() - 17000,
		.tid = getpid(),
		.name = name,
		.context = 1,
		.cbid = 307,
		.domain = CUDA_DOMAIN_DRIVER,
		.grid = {16, 2, 1},
		.block = {128, 1, 1},
	};
}

static struct cuda_kernel kernel(__u32 correlation, __u32 name)
{
	return (struct cuda_kernel){
		.head = {CUDA_RECORD_KERNEL, sizeof(struct cuda_kernel), correlation},
		.start = now() - 10000,
		.end = now() - 10000 + 1000,
		.context = 1,
		.stream = 7,
		.name = name,
		.grid = {16, 2, 1},
		.block = {128, 1, 1},
		.registers = 32,
	};
}

static void tell(const char *name, __u32 id)
{
	emitter_name(INSTANCE, id, name, strlen(name));
}

static __u64 place; /* where it says to take requests */
static __u64 instance = INSTANCE;

static void tell_state(__u32 state)
{
	struct cuda_status status = {
		.version = CUDA_PROBES_VERSION,
		.size = sizeof(status),
		.instance = instance,
		.pid = getpid(),
		.state = state,
		.request = place,
	};

	status.emitted[CUDA_GROUP_LAUNCH] = launched;
	status.emitted[CUDA_GROUP_KERNEL] = kernels;
	emitter_status(&status, sizeof(status));
}

static void pair(__u32 name)
{
	struct cuda_launch one = launch(launched + 1, name);
	struct cuda_kernel other = kernel(launched + 1, name);

	emitter_launches(&one, sizeof(one), 1, launched++, INSTANCE);
	emitter_kernels(&other, sizeof(other), 1, kernels++, INSTANCE);
}

static void emit_pairs(long n)
{
	tell("_Z5saxpyifPfS_", 1);
	for (long i = 0; i < n; i++)
		pair(1);
}

/* As fast as the wire goes: 64 launches and 64 kernels a batch. */
static void emit_storm(long n)
{
	struct cuda_launch batch[64];
	struct cuda_kernel other[64];

	tell("_Z5stormv", 1);
	for (int i = 0; i < 64; i++) {
		batch[i] = launch(i, 1);
		other[i] = kernel(i, 1);
	}
	for (; n > 0; n -= 64) {
		emitter_launches(batch, sizeof(batch), 64, launched, INSTANCE);
		emitter_kernels(other, sizeof(other), 64, kernels, INSTANCE);
		launched += 64;
		kernels += 64;
	}
}

static void emit_hostile_names(void)
{
	static char longest[100001], nested[2048];
	size_t used;

	memset(longest, 'x', sizeof(longest) - 1);
	tell("red\x1b[31m\nkernel\ttab", 1);
	tell("bad\xff\xfeutf8\xc3", 2);
	tell(longest, 3);
	tell("quote\"back\\slash", 4);
	tell("\xe2\x80\xaereversed\xc2\x9b"
	     "31m",
	     5);
	/* Each S_ doubles what the demangler would write: 2^200 bytes. */
	used = snprintf(nested, sizeof(nested), "_Z1fI1AIiiE");
	for (int i = 0; i < 150; i++) {
		char digit = i < 10 ? '0' + i : 'A' + i % 26;

		used += i ? snprintf(nested + used, sizeof(nested) - used, "1AIS%c_S%c_E", digit,
				     digit)
			  : snprintf(nested + used, sizeof(nested) - used, "1AIS_S_E");
	}
	snprintf(nested + used, sizeof(nested) - used, "Evv");
	tell(nested, 6);
	for (__u32 id = 1; id <= 7; id++)
		pair(id);
}

/* Of as many kinds. */
static void emit_failures(long n)
{
	struct cuda_launch one;

	tell("_Z5saxpyifPfS_", 1);
	for (long i = 0; i < n; i++) {
		one = launch(launched + 1, 1);
		one.result = i % 2 ? 1 + i / 2 : 98765 + i / 2;
		emitter_launches(&one, sizeof(one), 1, launched++, INSTANCE);
		errors++;
	}
}

/* Launches whose kernels never finish. */
static void emit_unfinished(long n)
{
	struct cuda_launch one;

	tell("_Z5saxpyifPfS_", 1);
	for (long i = 0; i < n; i++) {
		one = launch(launched + 1, 1);
		emitter_launches(&one, sizeof(one), 1, launched++, INSTANCE);
	}
}

/* Five batches are numbered that nobody ever gets. */
static void emit_gap(void)
{
	struct cuda_kernel one;

	emit_pairs(10);
	kernels += 5;
	one = kernel(1000, 1);
	emitter_kernels(&one, sizeof(one), 1, kernels++, INSTANCE);
	emitter_lost(CUDA_LOST_POOL_EMPTY, 3, 3, INSTANCE);
}

static void emit_nonsense(void)
{
	static unsigned char noise[CUDA_BATCH_MAX];
	struct cuda_kernel one = kernel(1, 1);
	struct cuda_record empty[4] = {};
	struct cuda_status status = {.version = 1};

	srand(1);
	tell("_Z5saxpyifPfS_", 1);
	emitter_kernels((void *)8, 96, 1, 0, INSTANCE); /* unreadable */
	emitter_kernels(NULL, 0xffffffff, 0xffffffff, ~0ull, INSTANCE);
	emitter_kernels(empty, sizeof(empty), 4, 0, INSTANCE); /* records of size 0 */
	emitter_kernels(&one, 20, 1, 0, INSTANCE);	       /* cut off */
	one.head.size = 0xfff8;
	emitter_kernels(&one, sizeof(one), 1, 0, INSTANCE);
	one.head.size = 24; /* shorter than any version's */
	emitter_kernels(&one, 24, 1, 0, INSTANCE);
	one.head.kind = 999;
	one.head.size = sizeof(one);
	emitter_kernels(&one, sizeof(one), 1, 0, INSTANCE);
	one = kernel(1, 1);
	one.end = 0;
	emitter_kernels(&one, sizeof(one), 1, 0, INSTANCE);
	for (int i = 0; i < 300; i++) {
		for (size_t at = 0; at < sizeof(noise); at++)
			noise[at] = rand() >> 8;
		for (size_t at = 0; at + 8 < sizeof(noise); at += 96) {
			((struct cuda_record *)(noise + at))->kind = rand() % 20;
			((struct cuda_record *)(noise + at))->size = i % 2 ? 96 : rand() % 256;
		}
		emitter_kernels(noise, rand() % (sizeof(noise) + 1), rand() % 90, rand(),
				INSTANCE + rand() % 3);
		emitter_launches(noise, rand() % (sizeof(noise) + 1), rand() % 90, rand(),
				 INSTANCE + rand() % 3);
		emitter_name(INSTANCE, rand() % 50, (const char *)noise, rand() % 200);
	}
	emitter_status(&status, 16);
	emitter_status((void *)16, sizeof(status));
	emitter_status((void *)noise, sizeof(status));
	emitter_name(INSTANCE, 2, (void *)4096, 10);
	emitter_lost(4711, ~0ull, ~0ull, INSTANCE);
	emitter_error(1, (void *)1, "mess\x1b[2Jage", INSTANCE);
	emitter_error(1, NULL, NULL, INSTANCE);
}

static struct {
	struct cuda_counters head;
	struct cuda_counter values[8];
} counted;
static __u64 counter_records;

static void send_counters(const void *record, __u32 size)
{
	emitter_counters(record, size, 1, counter_records++, INSTANCE);
}

/* Two true kernels; then sizes, counts, shapes, names and figures that no agent would send. */
static void emit_counters(void)
{
	struct cuda_counters_state state = {
		.head = {.kind = CUDA_RECORD_COUNTERS_STATE, .size = sizeof(state)},
		.outcome = 77,
		.result = -5,
		.function = 9,
		.metric = 8,
		.chip = 3,
		.counted = ~0ull};
	char many[32];

	counted.head = (struct cuda_counters){
		.head = {.kind = CUDA_RECORD_COUNTERS, .size = sizeof(counted)},
		.name = 1,
		.number = 1,
		.grid = {4, 1, 1},
		.block = {128, 1, 1},
		.count = 2,
		.passes = 1};
	tell("_Z5saxpyifPfS_", 1);
	tell("gpu__time_duration.sum", 2);
	tell("evil\x1b[31m__metric\n.sum", 3);
	counted.values[0] = (struct cuda_counter){2, 0, 1000};
	counted.values[1] = (struct cuda_counter){3, 0, 2};
	send_counters(&counted, sizeof(counted));
	send_counters(&counted, sizeof(counted));
	counted.head.count = 0xffffffff;
	send_counters(&counted, sizeof(counted));
	counted.head.count = 9;
	send_counters(&counted, sizeof(counted));
	counted.head.head.size = 24;
	send_counters(&counted, 24);
	counted.head.head.size = sizeof(counted);
	counted.head.count = 2;
	counted.head.device = 0xffffffff;
	memset(counted.head.grid, 0xff, sizeof(counted.head.grid));
	memset(counted.head.block, 0xff, sizeof(counted.head.block));
	counted.head.registers = counted.head.static_shared = 0xffffffff;
	counted.values[0].value = __builtin_nan("");
	counted.values[1] = (struct cuda_counter){2, 0, __builtin_inf()};
	send_counters(&counted, sizeof(counted));
	for (__u32 i = 0; i < 3000; i++) {
		snprintf(many, sizeof(many), "made__up_%u.sum", i);
		tell(many, 100 + i);
		counted.head.grid[0] = i;
		counted.values[1] = (struct cuda_counter){100 + i, 0, i};
		send_counters(&counted, sizeof(counted));
	}
	send_counters(&state, sizeof(state));
}

/* Names memory that is not an agent's: on the stack, nowhere, in the kernel, across the end. */
static void emit_requests(void)
{
	struct cuda_request looks_right = {
		.magic = CUDA_REQUEST_MAGIC, .instance = INSTANCE, .size = sizeof(looks_right)};
	const __u64 places[] = {(__u64)(uintptr_t)&looks_right, 16, ~0ull - 100, 1ull << 63,
				(__u64)(uintptr_t)&counted};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		place = places[i];
		looks_right.instance = ++instance;
		tell_state(CUDA_STATE_DORMANT);
		pause_ms(400);
	}
	printf("number %u %u\n", looks_right.number, looks_right.bytes);
	fflush(stdout);
}

/* Times from the edges of what a number can be, n pairs of records each; then n true pairs. */
static void emit_impossible(long n)
{
	const __u64 times[] = {~0ull, 1ull << 63, (1ull << 63) - 1, now() + (1ull << 60)};

	for (long i = 0; i < n; i++)
		for (size_t t = 0; t < sizeof(times) / sizeof(times[0]); t++) {
			struct cuda_launch one = launch(900, 1);
			struct cuda_kernel other = kernel(900, 1);

			one.start = 1;
			one.end = other.start = other.end = times[t];
			emitter_launches(&one, sizeof(one), 1, launched++, INSTANCE);
			emitter_kernels(&other, sizeof(other), 1, kernels++, INSTANCE);
		}
	emit_pairs(n);
}

/* Names of 15 MB and more with a kernel each; stays until its input ends. */
static void emit_flood(long n)
{
	static char name[3900];

	memset(name, 'x', sizeof(name) - 1);
	for (long id = 1; id <= n; id++) {
		name[snprintf(name, 16, "flood%ld", id)] = '_';
		tell(name, id);
		if (id % 20 == 0)
			pause_ms(3);
	}
	pair(1);
	pair(n);
	printf("sent\n");
	fflush(stdout);
	getchar();
}

/* One kernel each of so many loads of the library, which two processes take turns at having. */
static void emit_instances(long n)
{
	struct cuda_kernel one = kernel(1, 1);

	for (long i = 0; i < n; i++)
		emitter_kernels(&one, sizeof(one), 1, 0, INSTANCE + (i & 1));
	kernels += n;
}

static int wait_for_listener(int seconds)
{
	for (int i = 0; i < seconds * 100 && !emitter_wanted(); i++)
		pause_ms(10);
	pause_ms(50);
	return emitter_wanted();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 1;

	if (!wait_for_listener(10))
		return 3;
	tell_state(CUDA_STATE_ACTIVE);
	if (!strcmp(what, "pairs"))
		emit_pairs(n);
	else if (!strcmp(what, "storm"))
		emit_storm(n);
	else if (!strcmp(what, "names"))
		emit_hostile_names();
	else if (!strcmp(what, "flood"))
		emit_flood(n);
	else if (!strcmp(what, "instances"))
		emit_instances(n);
	else if (!strcmp(what, "failures"))
		emit_failures(argc > 2 ? n : 5);
	else if (!strcmp(what, "unfinished"))
		emit_unfinished(n);
	else if (!strcmp(what, "gap"))
		emit_gap();
	else if (!strcmp(what, "nonsense"))
		emit_nonsense();
	else if (!strcmp(what, "impossible"))
		emit_impossible(n);
	else if (!strcmp(what, "counters"))
		emit_counters();
	else if (!strcmp(what, "requests"))
		emit_requests();
	else if (!strcmp(what, "killed"))
		emit_pairs(n);
	else if (!strcmp(what, "forever"))
		for (tell("_Z5saxpyifPfS_", 1);; pause_ms(5))
			pair(1);
	else
		return 2;
	printf("expect launches=%llu kernels=%llu launch_errors=%llu\n", launched, kernels, errors);
	fflush(stdout);
	if (!strcmp(what, "killed"))
		raise(SIGKILL);
	tell_state(CUDA_STATE_ENDED);
	return 0;
}
