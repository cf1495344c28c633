// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `stat` does with more than it has lines for, and with times that are known to the ns: what
 * no simulated program has. Prints "WHAT FIGURES" lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/stat/stat_heap.h"
#include "cuda-trace/stat/stat_objects.h"
#include "cuda-trace/stat/stat_ranges.h"
#include "cuda-trace/stat/stat_time.h"

static struct process process = {.pid = 7, .comm = "unit"};
static struct stat_events events, sum;
static uint32_t ranged;

const char *process__name(const struct process *of, uint32_t id)
{
	static char text[32];

	(void)of;
	snprintf(text, sizeof(text), "name %u", id);
	return text;
}

const char *process__pretty_name(struct process *of, uint32_t id)
{
	return process__name(of, id);
}

static void copies(void)
{
	uint64_t count = 0;

	for (int kind = 1; kind <= 10; kind++)
		for (int from = 1; from <= 6; from++) {
			struct cuda_memcpy copy = {.head = {CUDA_RECORD_MEMCPY, sizeof(copy), 1},
						   .start = 1000,
						   .end = 2000,
						   .bytes = 10,
						   .copy_kind = kind,
						   .src_kind = from,
						   .dst_kind = 3};
			stat_events__record(&events, NULL, &process, &copy.head);
		}
	stat_events__merge(&sum, &events, &process);
	for (uint32_t i = 0; i < sum.copy_count; i++)
		count += sum.copies[i].span.count;
	printf("copies %u lines %lu last %s %lu\n", sum.copy_count, count,
	       stat_events__copy_key(sum.copies[sum.copy_count - 1].kind),
	       sum.copies[sum.copy_count - 1].span.count);
}

static void ranges(void)
{
	static struct stat_events own, all;
	uint64_t count = 0;

	for (uint32_t name = 1; name <= 100; name++) {
		struct cuda_nvtx range = {.head = {CUDA_RECORD_NVTX, sizeof(range), 0},
					  .start = 1000,
					  .end = 2000,
					  .text = name,
					  .kind = 2};
		stat_events__record(&own, NULL, &process, &range.head);
	}
	/* As two processes with the same names would have them. */
	stat_events__merge(&all, &own, &process);
	stat_events__merge(&all, &own, &process);
	for (uint32_t i = 0; i < all.range_count; i++)
		count += all.ranges[i].span.count;
	printf("ranges %u lines %lu last %s %lu\n", all.range_count, count,
	       all.ranges[all.range_count - 1].text, all.ranges[all.range_count - 1].span.count);
}

static void in_range(struct stat_ranges *own, uint64_t start, uint32_t correlation, uint32_t depth)
{
	struct cuda_launch launch = {.head = {CUDA_RECORD_LAUNCH, sizeof(launch), correlation},
				     .start = start,
				     .tid = 7,
				     .domain = CUDA_DOMAIN_DRIVER,
				     .flags = CUDA_LAUNCH_RANGES | depth << 2};
	struct cuda_kernel kernel = {.head = {CUDA_RECORD_KERNEL, sizeof(kernel), correlation},
				     .start = start,
				     .end = start + 1};

	stat_ranges__record(own, &kernel.head);
	stat_ranges__record(own, &launch.head);
}

static void range_ends(struct stat_ranges *own, uint64_t start, uint64_t end, uint32_t name,
		       uint32_t depth)
{
	struct cuda_nvtx range = {.head = {CUDA_RECORD_NVTX, sizeof(range), 0},
				  .start = start,
				  .end = end,
				  .tid = 7,
				  .text = name,
				  .kind = 2,
				  .depth = depth};

	stat_ranges__record(own, &range.head);
}

static void tell_lines(const char *what, struct stat_ranges *own)
{
	struct stat_range_lines *all = NULL;

	stat_ranges__merge(&all, own, &process, NULL);
	stat_ranges__sort(all);
	printf("%s", what);
	for (uint32_t i = 0; i < all->count && i < 4; i++)
		printf(", %s %lu/%lu", all->lines[i].name, all->lines[i].self.kernels,
		       all->lines[i].all.kernels);
	printf("\n");
	free(all);
	stat_ranges__free(own);
}

static void kernels_by_range(void)
{
	const uint64_t ms = 1000000;
	struct stat_ranges *own = stat_ranges__new(&ranged);

	/* As the agent sends them: all launches, then all ends, of a few at a time. */
	in_range(own, 2 * ms, 1, 1);
	in_range(own, 4 * ms, 2, 2);
	in_range(own, 6 * ms, 3, 2);
	in_range(own, 8 * ms, 4, 1);
	in_range(own, 10 * ms, 5, 0);
	range_ends(own, 3 * ms, 5 * ms, 1, 1);
	range_ends(own, 5 * ms, 7 * ms, 2, 1);
	range_ends(own, 1 * ms, 9 * ms, 3, 0);
	tell_lines("batches", own);

	/* The end of what began at 1 ms was lost: the next range must not have its kernel. */
	own = stat_ranges__new(&ranged);
	in_range(own, 2 * ms, 1, 1);
	in_range(own, 5 * ms, 2, 1);
	range_ends(own, 4 * ms, 6 * ms, 1, 0);
	in_range(own, 8 * ms, 3, 1);
	range_ends(own, 7 * ms, 9 * ms, 2, 0);
	in_range(own, 11 * ms, 4, 1);
	tell_lines("lost", own);

	/* More names than there are lines, and far more launches than can wait. */
	own = stat_ranges__new(&ranged);
	for (uint32_t i = 1; i <= 100000; i++) {
		in_range(own, i * ms, i, 1);
		range_ends(own, i * ms - 1000, i * ms + 1000, 1 + i % 1100, 0);
	}
	tell_lines("many", own);
}

static void ranges_of_many(void)
{
	static struct stat_ranges *of[1030];
	const struct range_sums untold = {.launches = 5, .kernels = 4, .gpu_ns = 3000};
	struct stat_range_lines *all = NULL;
	uint32_t there = 0;

	for (uint32_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		of[i] = stat_ranges__new(&ranged);
		there += !!of[i];
	}
	stat_ranges__free(of[0]);
	of[0] = stat_ranges__new(&ranged);
	printf("ranges of %u processes at a time, %s when one ended", there,
	       of[0] ? "one more" : "none");
	for (uint32_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		stat_ranges__free(of[i]);
	stat_ranges__merge(&all, NULL, &process, &untold);
	stat_ranges__merge(&all, NULL, &process, &untold);
	printf(", %s %lu/%lu, left %u\n", all->lines[STAT_RANGE_LOST].name,
	       all->lines[STAT_RANGE_LOST].self.kernels, all->lines[STAT_RANGE_LOST].all.kernels,
	       ranged);
	free(all);
}

static struct cuda_memory allocation(uint64_t address, uint32_t device)
{
	return (struct cuda_memory){.head = {CUDA_RECORD_MEMORY, sizeof(struct cuda_memory), 1},
				    .time = 1000,
				    .address = address,
				    .bytes = 16,
				    .device = device,
				    .operation = 1,
				    .kind = 3};
}

static void memory(void)
{
	struct stat_heap *heap = stat_heap__new();
	struct stat_memory *lines = NULL;
	uint32_t count = 0;

	for (uint32_t device = 0; device < 40; device++) {
		struct cuda_memory one = allocation(16 + device * 16, device);

		stat_heap__record(heap, &events, &one);
	}
	stat_heap__keep(heap, &process, &lines, &count);
	printf("memory %u lines last %s device %d allocs %lu bytes %lu\n", count,
	       stat_events__memory_key(lines[count - 1].kind), (int)lines[count - 1].device,
	       lines[count - 1].allocs, lines[count - 1].live_bytes);
	for (int i = 0; i < 200; i++)
		stat_heap__keep(heap, &process, &lines, &count);
	printf("processes %u lines last %s pid %u allocs %lu\n", count, lines[count - 1].comm,
	       lines[count - 1].pid, lines[count - 1].allocs);
	stat_heap__free(heap);
}

static void untracked(void)
{
	static struct stat_events own;
	struct stat_heap *heap = stat_heap__new();

	for (uint64_t i = 1; i <= 262144 + 100; i++) {
		struct cuda_memory one = allocation(i * 16, 0);

		stat_heap__record(heap, &own, &one);
	}
	printf("untracked %lu of %lu live %lu\n", own.untracked, own.allocs, own.live_bytes);
	stat_heap__free(heap);
}

static void objects(void)
{
	struct stat_objects *own = NULL, *all = NULL;
	struct cuda_context green = {.head = {CUDA_RECORD_CONTEXT, sizeof(green), 0},
				     .context = 2,
				     .parent = 1,
				     .multiprocessors = 16,
				     .green = 1};

	for (uint32_t i = 0; i < STAT_MAX_CONTEXTS + 5; i++, green.context++)
		stat_objects__record(&own, &process, &green.head);
	stat_objects__merge(&all, own);
	printf("contexts %u left out %lu first %u parent %u\n", all->context_count,
	       all->contexts_left_out, all->contexts[0].record.context,
	       all->contexts[0].record.parent);
}

/* In us of 1,024 ns, as the map's bits begin and end with them; a bit is a quarter. */
static void at(struct stat_time *time, struct stat_host *host, int kind, uint32_t device,
	       uint64_t from, uint64_t to)
{
	const uint64_t epoch = 1ull << 40;
	struct cuda_kernel kernel = {.head = {kind, sizeof(kernel), 1}, .device = device};
	struct cuda_memcpy copy = {.head = {kind, sizeof(copy), 1}, .device = device};
	struct cuda_launch launch = {.head = {kind, sizeof(launch), 1}};
	struct cuda_sync wait = {.head = {kind, sizeof(wait), 1}, .type = 3};

	kernel.start = copy.start = launch.start = wait.start = epoch + from * 1024;
	kernel.end = copy.end = launch.end = wait.end = epoch + to * 1024 - 1;
	stat_time__record(time, host,
			  kind == CUDA_RECORD_KERNEL   ? &kernel.head
			  : kind == CUDA_RECORD_MEMCPY ? &copy.head
			  : kind == CUDA_RECORD_LAUNCH ? &launch.head
						       : &wait.head);
}

static void identify(struct stat_time *time, struct stat_host *host, uint32_t device, uint8_t uuid)
{
	struct cuda_device record = {
		.head = {CUDA_RECORD_DEVICE, sizeof(record), 0}, .device = device, .uuid = {uuid}};

	stat_time__record(time, host, &record.head);
}

static void print_times(const char *what, struct stat_time *time)
{
	struct stat_time_sums is;

	stat_time__finish(time, &is);
	printf("%s window %lu of %lu kernel %lu copy %lu busy %lu launch-bound %lu idle-wait %lu\n",
	       what, (is.window_ns + 1) / 1024, (is.whole_ns + 2) / 1024, (is.kernel_ns + 3) / 1024,
	       (is.copy_ns + 1) / 1024, (is.busy_ns + 3) / 1024, is.host_bound_ns / 1024,
	       is.host_wait_ns / 1024);
	for (uint32_t i = 0; i < is.gpu_count; i++)
		printf("%s gpu %u uuid %u busy %lu\n", what, is.gpus[i].device, is.gpus[i].uuid[0],
		       (is.gpus[i].busy_ns + 3) / 1024);
	stat_time__free(time);
}

static void times(void)
{
	struct stat_time *time = stat_time__new();
	struct stat_host *host = stat_time__start(time);

	/* launch 0-100, kernel 40-300, copy 200-500, wait 450-700, kernel 650-800 */
	at(time, host, CUDA_RECORD_KERNEL, 0, 650, 800);
	at(time, host, CUDA_RECORD_LAUNCH, 0, 0, 100);
	at(time, host, CUDA_RECORD_MEMCPY, 0, 200, 500);
	at(time, host, CUDA_RECORD_SYNC, 0, 450, 700);
	at(time, host, CUDA_RECORD_KERNEL, 0, 40, 300);
	print_times("times", time);
}

/* Three processes, whose work on GPU 0 overlaps; one of them ends before the others. */
static void times_of_several(void)
{
	struct stat_time *time = stat_time__new();
	struct stat_host *hosts[3];

	for (int i = 0; i < 3; i++)
		hosts[i] = stat_time__start(time);
	at(time, hosts[0], CUDA_RECORD_LAUNCH, 0, 0, 100);
	at(time, hosts[0], CUDA_RECORD_KERNEL, 0, 100, 400);
	stat_time__end(time, hosts[0]);
	at(time, hosts[1], CUDA_RECORD_KERNEL, 0, 300, 600);
	at(time, hosts[2], CUDA_RECORD_KERNEL, 0, 350, 500);
	/* The GPU of the first is still busy with the others' kernels. */
	at(time, hosts[1], CUDA_RECORD_SYNC, 0, 300, 1000);
	print_times("several", time);
}

/* More processes than there are lines for: 40 that do nothing, then 33 that launch. */
static void times_of_many(void)
{
	struct stat_time *time = stat_time__new();
	struct stat_time_sums is;
	struct stat_host *hosts[73];

	for (int i = 0; i < 73; i++)
		hosts[i] = stat_time__start(time);
	for (int i = 40; i < 73; i++) {
		at(time, hosts[i], CUDA_RECORD_LAUNCH, 0, 100 * (i - 40), 100 * (i - 39));
		at(time, hosts[i], CUDA_RECORD_KERNEL, 0, 4000, 4100);
	}
	for (int i = 0; i < 73; i++)
		stat_time__end(time, hosts[i]);
	stat_time__finish(time, &is);
	printf("many left out %lu launch-bound %lu\n", is.left_out, is.host_bound_ns / 1024);
	stat_time__free(time);
}

/* Two processes, whose device 0 is another GPU each; the second one's 1 is the first one's 0. */
static void times_by_gpu(void)
{
	struct stat_time *time = stat_time__new();
	struct stat_host *first = stat_time__start(time), *second = stat_time__start(time);

	identify(time, first, 0, 7);
	identify(time, second, 0, 8);
	identify(time, second, 1, 7);
	at(time, first, CUDA_RECORD_KERNEL, 0, 0, 400);
	at(time, second, CUDA_RECORD_KERNEL, 0, 0, 300);
	at(time, second, CUDA_RECORD_KERNEL, 1, 200, 1000);
	/* Of the first one alone, and so of GPU 7 alone, which is busy then. */
	at(time, first, CUDA_RECORD_LAUNCH, 0, 400, 600);
	print_times("by gpu", time);
}

static bool mps_runs(void)
{
	return true;
}

/*
 * Two processes on a GPU. In units of 1024 ns, a kernel is young for 2090, a turn takes 2226.5, and
 * a change 136.5, which is in proportion to what both have (bpf/time_slice.h).
 */
static void shares(const char *what, bool (*is_mps)(void))
{
	struct stat_time *time = stat_time__new();
	struct stat_host *a = stat_time__start(time), *b = stat_time__start(time);
	struct stat_time_sums is;

	stat_time__set_mps(time, is_mps);
	/* b's copy and kernel are young, a's kernel, of before b came, is not: a has 3900 less four
	 * changes, b 1100. */
	at(time, a, CUDA_RECORD_KERNEL, 0, 0, 5000);
	at(time, b, CUDA_RECORD_MEMCPY, 0, 3000, 4000);
	at(time, b, CUDA_RECORD_KERNEL, 0, 4500, 4600);
	/* Both young: 50 each. Both young, then a's turn, then b's: a has 1045 + 2226.5, b 1045 +
	 * 683.5 less a change. */
	at(time, b, CUDA_RECORD_KERNEL, 0, 6000, 6100);
	at(time, a, CUDA_RECORD_KERNEL, 0, 6000, 6100);
	at(time, a, CUDA_RECORD_KERNEL, 0, 10000, 15000);
	at(time, b, CUDA_RECORD_KERNEL, 0, 10000, 15000);
	/* a's alone until 22500, b's until 24590, a's turn, b's from 25000 on: a has 2500 + 410
	 * less two changes, b 2090 + 2000 less one. */
	at(time, a, CUDA_RECORD_KERNEL, 0, 20000, 25000);
	at(time, b, CUDA_RECORD_KERNEL, 0, 22500, 27000);
	/* A second stream of a has a young kernel in b's time: a has 3500 + 50 + 500 less two
	 * changes, b 950. */
	at(time, a, CUDA_RECORD_KERNEL, 0, 30000, 35000);
	at(time, a, CUDA_RECORD_KERNEL, 0, 34000, 34100);
	at(time, b, CUDA_RECORD_KERNEL, 0, 33500, 34500);
	stat_time__name(a, 1, "a", "");
	stat_time__name(b, 2, "b", "");
	stat_time__end(time, a);
	stat_time__end(time, b);
	stat_time__finish(time, &is);
	printf("%s mps %d busy %lu nobody's %lu:", what, is.mps, (is.busy_ns + 512) / 1024,
	       is.gpus[0].nobodys_ns);
	for (uint32_t i = 0; i < is.share_count; i++)
		printf(" %s %lu alone %lu", is.shares[i].user.comm,
		       (is.shares[i].share_ns + 512) / 1024, (is.shares[i].alone_ns + 512) / 1024);
	printf("\n");
	stat_time__free(time);
}

/* Nothing came of the GPU: launches go to the first. */
static void times_without_gpu(void)
{
	struct stat_time *time = stat_time__new();
	struct stat_host *host = stat_time__start(time);

	at(time, host, CUDA_RECORD_LAUNCH, 0, 0, 100);
	at(time, host, CUDA_RECORD_SYNC, 0, 100, 400);
	stat_time__end(time, host);
	print_times("no gpu", time);
}

int main(void)
{
	copies();
	ranges();
	kernels_by_range();
	ranges_of_many();
	memory();
	untracked();
	objects();
	times();
	times_of_several();
	times_of_many();
	times_by_gpu();
	times_without_gpu();
	shares("turns", NULL);
	shares("at once", mps_runs);
	return 0;
}
