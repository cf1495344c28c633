// SPDX-License-Identifier: BSD-2-Clause
// stat_time.c with records that come late: how far back they are placed, what that takes at most,
// and that all others are counted. Prints what came of it, for tests/stat/stat.bats.
#include <stdio.h>
#include "cuda-trace/stat/stat_advice.h"
#include "cuda-trace/stat/stat_time.h"

#define MS     1000000ull
#define EPOCH  (1ull << 40)
#define ROUNDS 40 /* processes at a time: more than have lines */

/* A timeline of one process. */
struct alone {
	struct stat_time *time;
	struct stat_host *host;
};

static struct alone begin(void)
{
	struct stat_time *time = stat_time__new();

	return (struct alone){time, stat_time__start(time)};
}

static void kernel(struct alone of, uint64_t from, uint64_t to)
{
	struct cuda_kernel record = {.head = {CUDA_RECORD_KERNEL, sizeof(record), 1}};

	record.start = EPOCH + from * MS;
	record.end = EPOCH + to * MS;
	stat_time__record(of.time, of.host, &record.head);
}

static void launch(struct alone of, uint64_t at, int flags)
{
	struct cuda_launch record = {.head = {CUDA_RECORD_LAUNCH, sizeof(record), 1}};

	record.start = EPOCH + at * MS;
	record.end = record.start + 5000;
	record.flags = flags;
	stat_time__record(of.time, of.host, &record.head);
}

static void waited(struct alone of, uint64_t from, uint64_t to)
{
	struct cuda_sync record = {.head = {CUDA_RECORD_SYNC, sizeof(record), 1}, .type = 3};

	record.start = EPOCH + from * MS;
	record.end = EPOCH + to * MS;
	stat_time__record(of.time, of.host, &record.head);
}

static void finish(const char *what, struct alone of)
{
	struct stat_time_sums is;
	size_t took = stat_time__beyond(of.time);

	stat_time__end(of.time, of.host);
	stat_time__finish(of.time, &is);
	printf("%s: kernels %.0f idle-wait %.0f ms, late %lu: %.0f + %.0f ms, doubtful %lu, beyond "
	       "%zu KiB\n",
	       what, is.kernel_ns / 1e6, is.host_wait_ns / 1e6, is.late_events,
	       is.late_gpu_ns / 1e6, is.late_host_ns / 1e6, is.doubtful, took >> 10);
	stat_time__free(of.time);
}

/* A launch each 100 ms, waited for; the kernels of 40 ms come after all of them. */
static struct alone held_back(uint64_t ms, int flags)
{
	struct alone of = begin();

	for (uint64_t at = 0; at < ms; at += 100)
		launch(of, at, flags);
	for (uint64_t at = 0; at < ms; at += 100) {
		kernel(of, at + 60, at + 100);
		waited(of, at, at + 100);
	}
	return of;
}

/* Waits come as they are, and no launch says that there are kernels to come. */
static void out_of_order(void)
{
	struct alone of = begin();

	for (uint64_t at = 0; at < 8000; at += 100) {
		waited(of, at, at + 100);
		if (at >= 1500)
			kernel(of, at - 1500, at - 1440);
	}
	finish("out of order", of);
}

/* Of more processes than have lines, all held back. */
static void all_together(void)
{
	struct stat_time *time = stat_time__new();
	struct stat_time_sums is;
	struct alone of[ROUNDS];
	size_t most = 0;

	for (int i = 0; i < ROUNDS; i++)
		of[i] = (struct alone){time, stat_time__start(time)};
	for (uint64_t at = 0; at < 12000; at += 100)
		for (int i = 0; i < ROUNDS; i++)
			launch(of[i], at, CUDA_LAUNCH_TIMED);
	for (uint64_t at = 0; at < 12000; at += 100)
		for (int i = 0; i < ROUNDS; i++)
			kernel(of[i], at + 60, at + 100);
	most = stat_time__beyond(time);
	for (int i = 0; i < ROUNDS; i++)
		stat_time__end(time, of[i].host);
	stat_time__finish(time, &is);
	printf("together: %zu MiB, %lu left out, busy for %.0f ms at most 4800\n", most >> 20,
	       is.left_out, is.busy_ns / 1e6);
	stat_time__free(time);
}

static void advise(uint64_t doubtful)
{
	struct stat_table table = {.time = {.window_ns = 1000 * MS,
					    .whole_ns = 1000 * MS,
					    .host_wait_ns = 900 * MS,
					    .doubtful = doubtful}};
	char lines[STAT_MAX_ADVICE][256];
	int count = stat_advice__lines(&table, lines);

	for (int i = 0; i < count; i++)
		printf("doubtful %lu: %s\n", doubtful, lines[i]);
}

int main(void)
{
	finish("on time", held_back(500, CUDA_LAUNCH_TIMED));
	finish("seconds", held_back(4000, CUDA_LAUNCH_TIMED));
	finish("too late", held_back(12000, CUDA_LAUNCH_TIMED));
	finish("without times", held_back(4000, 0));
	out_of_order();
	all_together();
	advise(0);
	advise(1);
	return 0;
}
