// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parts of the agent from inside, with many threads at once: names are unique and hold what was
 * interned, rings lose nothing while they are emptied and their owners end, the clock converts.
 * Linked with the agent's own objects. Prints what is wrong; silent and 0 if nothing is.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/trace/activity_buffers.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/profile/kernel_choice.h"
#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/ring.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/base/timestamps.h"
#include "libcupti-usdt/emit/status.h"

#define THREADS 8
#define NAMES	2000
#define RECORDS 20000

static _Atomic(int) failures;
static uint32_t ids[THREADS][NAMES];
static atomic_bool stop;

static void fail(const char *what, long a, long b)
{
	if (atomic_fetch_add(&failures, 1) < 20)
		printf("%s: %ld, %ld\n", what, a, b);
}

static void name_of(char *text, size_t size, int i)
{
	snprintf(text, size, "_Z%dkernel_with_a_longer_name_%dPfS_i", i % 97, i);
}

static void *intern(void *argument)
{
	uint32_t *mine = argument;
	char text[64];

	for (int round = 0; round < 3; round++)
		for (int i = 0; i < NAMES; i++) {
			uint32_t id;

			name_of(text, sizeof(text), i);
			id = interned_names__intern(text);
			if (!id || strcmp(interned_names__text(id), text))
				fail("name is not what was interned", i, id);
			if (round && mine[i] != id)
				fail("name has two ids", mine[i], id);
			mine[i] = id;
		}
	return NULL;
}

static void test_names(void)
{
	pthread_t threads[THREADS];
	char *big = malloc(200001);

	for (int t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, intern, ids[t]);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int t = 1; t < THREADS; t++)
		for (int i = 0; i < NAMES; i++)
			if (ids[t][i] != ids[0][i])
				fail("threads disagree on an id", ids[t][i], ids[0][i]);

	/* Two names that differ beyond what is kept are two names. */
	memset(big, 'x', 200000);
	big[200000] = '\0';
	ids[0][0] = interned_names__intern(big);
	big[199999] = 'y';
	if (interned_names__intern_text(big) == ids[0][0])
		fail("long names are confused", 0, 0);
	if (strlen(interned_names__text(ids[0][0])) != CUDA_NAME_MAX - 1)
		fail("long name is not cut", strlen(interned_names__text(ids[0][0])), 0);
	free(big);
}

/* The same address, another name: a module was unloaded. */
static void test_reused_address(void)
{
	char text[64] = "first_kernel";
	uint32_t first = interned_names__intern(text), second;

	strcpy(text, "second_kernel");
	second = interned_names__intern(text);
	if (first == second || strcmp(interned_names__text(second), "second_kernel"))
		fail("a reused address has the old name", first, second);
}

/* As a launch does. */
static uint32_t intern_kernel(const char *text, uint32_t turn)
{
	uint32_t id = interned_names__at_hand(text, turn);

	return id ? id : interned_names__intern(text);
}

static void intern_often(const char *text, uint32_t wanted, uint32_t from, uint32_t turns)
{
	for (uint32_t i = from; i < from + turns; i++)
		if (intern_kernel(text, i) != wanted)
			fail("a kernel has another name", i, wanted);
}

/* The same of kernels: where it was reported that they go; and where not, which is noticed
 * within sixteen launches, and then no address is believed any more. */
static void test_reused_kernel(void)
{
	char text[64] = "third_kernel";
	int opened = interned_names__open();
	uint32_t kernels[3] = {interned_names__intern("third_kernel"),
			       interned_names__intern("fourth_kernel"),
			       interned_names__intern("fifth_kernel")};

	if (opened)
		fail("interned_names__open", 0, 0);
	intern_often(text, kernels[0], 0, 5000);
	if (!atomic_load(&hot.hints_hold))
		fail("addresses are never believed", 0, 0);
	strcpy(text, "fourth_kernel");
	interned_names__forget();
	intern_often(text, kernels[1], 1, 5000);
	if (!atomic_load(&hot.hints_hold))
		fail("addresses are believed no more", 0, 0);
	strcpy(text, "fifth_kernel");
	for (uint32_t i = 1; i <= 16; i++)
		intern_kernel(text, i);
	intern_often(text, kernels[2], 1, 5000);
	if (atomic_load(&hot.hints_hold))
		fail("addresses are believed still", 0, 0);
}

static void *produce(void *argument)
{
	struct cuda_api record = {.head = {.kind = CUDA_RECORD_API, .size = sizeof(record)}};
	long groups = (long)argument;

	for (int i = 0; i < RECORDS; i++) {
		record.head.correlation = i;
		ring__append(rings__mine(), groups + i % 2, &record.head);
		ring__count_launch(rings__mine());
	}
	return NULL;
}

static void *empty(void *unused)
{
	while (!atomic_load(&stop)) {
		rings__flush();
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
	return unused;
}

static uint64_t sent_records(void)
{
	uint64_t sum = 0;

	for (int group = 0; group < CUDA_GROUP_COUNT; group++)
		sum += status__emitted_total(group);
	return sum;
}

/* The memory of what was sent is returned to the system; what was not is sent first; then all goes
 * on. */
static void test_trimmed_rings(uint64_t sent)
{
	uint32_t before = memory__resident_kib(), after;

	produce((void *)CUDA_GROUP_API_LAUNCH);
	rings__trim();
	after = memory__resident_kib();
	if (after + 32 > before)
		fail("trimmed rings keep their memory", before, after);
	produce((void *)CUDA_GROUP_API_LAUNCH);
	rings__flush();
	if (sent_records() != sent + 2 * RECORDS)
		fail("a trimmed ring loses records", sent_records(), sent);
}

static uint64_t lost;

void __real_status__lost(enum cuda_lost_reason reason, uint64_t count);
void __wrap_status__lost(enum cuda_lost_reason reason, uint64_t count);

void __wrap_status__lost(enum cuda_lost_reason reason, uint64_t count)
{
	lost += count;
	__real_status__lost(reason, count);
}

extern volatile unsigned short cuda_api_launch_batch_semaphore;

/* What trimming leaves of a record that was written just then: all zeros but its size. */
static void test_void_records(bool heard)
{
	struct cuda_api record = {.head = {.size = sizeof(record)}};
	uint64_t sent = sent_records();

	lost = 0;
	cuda_api_launch_batch_semaphore = heard;
	ring__append(rings__mine(), CUDA_GROUP_API_LAUNCH, &record.head);
	record.head.kind = CUDA_RECORD_API;
	ring__append(rings__mine(), CUDA_GROUP_API_LAUNCH, &record.head);
	rings__flush();
	if (sent_records() != sent + 1)
		fail("a void record is sent", sent_records(), sent);
	if (lost != heard)
		fail("a void record is miscounted", lost, heard);
	cuda_api_launch_batch_semaphore = 0;
}

/* Twice: the second round gets rings that the first released. */
static void test_rings(void)
{
	uint64_t sum, launches = (uint64_t)2 * THREADS * RECORDS;
	pthread_t threads[THREADS], emptier;

	if (rings__prepare() || rings__open())
		fail("rings__open", 0, 0);
	pthread_create(&emptier, NULL, empty, NULL);
	for (int round = 0; round < 2; round++) {
		for (long t = 0; t < THREADS; t++)
			pthread_create(&threads[t], NULL, produce,
				       (void *)(CUDA_GROUP_API_LAUNCH + t % 4));
		for (int t = 0; t < THREADS; t++)
			pthread_join(threads[t], NULL);
	}
	atomic_store(&stop, true);
	pthread_join(emptier, NULL);
	rings__flush();
	sum = sent_records();
	if (sum != launches)
		fail("records were lost or doubled", sum, launches);
	if (rings__launches() != launches)
		fail("launches were miscounted", rings__launches(), launches);
	test_trimmed_rings(sum);
	test_void_records(true);
	test_void_records(false);
}

static uint64_t there; /* what CUPTI's clock is ahead of CLOCK_REALTIME */

static int read_clock(uint64_t *timestamp)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	*timestamp = (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec + there;
	return 0;
}

static int broken_clock(uint64_t *timestamp)
{
	*timestamp = 0;
	return 15;
}

static void expect_conversion(const char *what)
{
	uint64_t stamp, now;

	read_clock(&stamp);
	now = clock__now();
	if (llabs((long long)(clock__from_cupti(stamp) - now)) > 1000000)
		fail(what, clock__from_cupti(stamp), now);
}

static void *look_for_ring(void *number)
{
	struct ring *ring;

	if (ring__at_hand())
		fail("a new thread finds a ring, by the number of", ring__at_hand()->tid, 0);
	ring = rings__mine();
	if (!ring || (ring__at_hand() && ring__at_hand() != ring))
		fail("a thread finds another's ring", (long)ring__at_hand(), (long)ring);
	*(uintptr_t *)number = ring__thread();
	return ring__at_hand();
}

/* A thread that gets the stack of one that has ended: not its ring. */
static void test_same_stack(void)
{
	uintptr_t before = 0, now;
	uint32_t again = 0, found = 0;

	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		void *ring;

		pthread_create(&thread, NULL, look_for_ring, &now);
		pthread_join(thread, &ring);
		again += now == before;
		found += ring != NULL;
		before = now;
	}
	if (!again || !found)
		fail("stacks used again, rings at hand", again, found);
}

static void test_clock(void)
{
	uint64_t before;

	clock__calibrate(read_clock);
	expect_conversion("the real-time clock");
	clock__calibrate(broken_clock);
	expect_conversion("a clock that cannot be read");
	there = 5000000000;
	clock__reset();
	clock__calibrate(read_clock);
	expect_conversion("a steady clock of its own");

	/* The clock is stepped back: a record stamped before the step is not in the future. */
	read_clock(&before);
	there = 3000000000;
	clock__calibrate(read_clock);
	expect_conversion("after a step");
	if (clock__from_cupti(before) > clock__now() + 1000000)
		fail("a record from before a step lies ahead",
		     clock__from_cupti(before) - clock__now(), 0);
}

/* None is given out twice; with too many out they are discard buffers; released, all is as
 * before. Pages are written, also after that: nothing is unmapped. */
static void test_buffers(void)
{
	enum { MANY = 120 };
	static uint8_t *taken[MANY];
	static size_t size[MANY];
	int discards = 0;
	size_t again;

	activity_buffers__open();
	for (int i = 0; i < MANY; i++) {
		taken[i] = activity_buffers__take(&size[i]);
		if (!taken[i] || (uintptr_t)taken[i] % 8 || size[i] < 1024)
			fail("not a buffer", i, size[i]);
		taken[i][0] = taken[i][size[i] - 1] = 1;
		discards += activity_buffers__is_discard(size[i]);
		for (int j = 0; j < i; j++)
			if (taken[i] == taken[j])
				fail("a buffer was given out twice", i, j);
	}
	if (discards < MANY / 4 || discards > MANY / 4 * 3)
		fail("the pool is not bounded", discards, 0);
	for (int i = 0; i < MANY; i++)
		activity_buffers__release(taken[i]);
	activity_buffers__trim();
	/* CUPTI was seen to write into what it had handed back. */
	for (int i = 0; i < MANY; i++)
		taken[i][0] = taken[i][size[i] - 1] = 2;
	for (int i = 0; i < MANY - discards; i++)
		if (activity_buffers__is_discard((activity_buffers__take(&again), again)))
			fail("a buffer that was released is not there again", i, 0);
}

/* A set of batches is one thread's; when all are taken there is none, and nobody waits. */
static void test_batches(void)
{
	struct batch *taken[16];
	int own = 0;

	batches__open();
	for (int i = 0; i < 16; i++) {
		taken[i] = batches__take();
		own += taken[i] != NULL;
		for (int j = 0; taken[i] && j < i; j++)
			if (taken[i] == taken[j])
				fail("a set of batches was given out twice", i, j);
	}
	if (own == 0 || own == 16)
		fail("the sets of batches are not bounded", own, 0);
	for (int i = 0; i < 16; i++)
		batches__release(taken[i]);
	if (!batches__take())
		fail("a set that was released is not there again", 0, 0);
}

/* Timestamps are CLOCK_MONOTONIC to within what GPU times are off, paced once and paced again. */
static void test_timestamps(void)
{
	timestamps__open();
	for (int i = 0; i < 5; i++) {
		uint64_t before, stamp, after, ns;

		timestamps__pace();
		usleep(20000);
		before = clock__now();
		stamp = timestamps__now();
		after = clock__now();
		ns = timestamps__to_ns(stamp);
		if (ns + 20000 < before || ns > after + 20000)
			fail("stamp is off", ns - before, i);
	}
}

/* What a new pace says about earlier timestamps is what the one before said, and it begins
 * without a step: two timestamps keep their order, whenever each is converted. */
static void test_timestamps_again(void)
{
	enum { TURNS = 20, LAST = 8 /* of which paces are kept */ };
	uint64_t times[TURNS], ns[TURNS];

	timestamps__open();
	for (int i = 0; i < TURNS; i++) {
		uint64_t now;

		timestamps__pace();
		usleep(1000 + i * 100);
		times[i] = timestamps__now();
		ns[i] = timestamps__to_ns(times[i]);
		timestamps__pace();
		now = timestamps__to_ns(timestamps__now());
		if (now < ns[i])
			fail("time went back", ns[i] - now, i);
		for (int j = i > LAST / 2 ? i - LAST / 2 : 0; j <= i; j++) {
			uint64_t again = timestamps__to_ns(times[j]);

			if (again + 1 < ns[j] || again > ns[j] + 1)
				fail("a timestamp has another time", again - ns[j], i - j);
		}
	}
}

static void expect_name(const char *mangled, const char *plain)
{
	char name[64];

	kernel_choice__plain_name(mangled, name, sizeof(name));
	if (strcmp(name, plain))
		fail(mangled, strlen(name), strlen(plain));
}

/* Names are the program's: none may be read beyond its end. */
static void test_kernel_choice(void)
{
	expect_name("saxpy", "saxpy");
	expect_name("_Z5saxpyPfi", "saxpy");
	expect_name("_ZN4demo7nothingEv", "demo::nothing");
	expect_name("_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_3addEvEEvi",
		    "at::native::vectorized_elementwise_kernel");
	expect_name("_ZNK4demo3fooILi3EEEvv", "demo::foo");
	expect_name("_Z99short", "_Z99short");
	expect_name("_Z9short", "_Z9short");
	expect_name("_ZN4demo900000000000nothing", "demo");
	expect_name("_ZN", "_ZN");
	expect_name("", "");
	expect_name(
		"_ZN40aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa40bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
		"bbbbbbbbE",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	if (kernel_choice__compile("("))
		fail("( is no expression", 1, 0);
	if (!kernel_choice__compile("^demo::no") || !kernel_choice__matches("_ZN4demo7nothingEv") ||
	    kernel_choice__matches("_Z5saxpyPfi"))
		fail("^demo::no", 0, 1);
	if (!kernel_choice__compile("Pfi$") || !kernel_choice__matches("_Z5saxpyPfi"))
		fail("a mangled name", 0, 1);
	if (!kernel_choice__compile(NULL) || !kernel_choice__matches("anything"))
		fail("no expression", 0, 1);
}

int main(void)
{
	status__open();
	test_timestamps();
	test_timestamps_again();
	test_reused_kernel();
	test_names();
	test_reused_address();
	test_rings();
	test_same_stack();
	test_clock();
	test_buffers();
	test_batches();
	test_kernel_choice();
	return atomic_load(&failures) != 0;
}
