// SPDX-License-Identifier: BSD-2-Clause
/*
 * Feeds a recording with made-up events whose sums are known, without a session or a GPU:
 *   feeder [-n launches] [-r launches/s] [-k names] [-p processes] [-l seconds kept] [-m max bytes]
 *          [-x what] FILE
 * Prints "expect launches=... kernels=... kernel_time=..." last. -x kill: SIGKILLs itself after
 * the last event; -x kill-written: when at least 125 bytes for each launch are in the file, or
 * after 10 s; -x hostile: names and commands that try to break out of every format.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cuda-trace/capture/driver_names.h"
#include "cuda-trace/base/names.h"
#include "cuda-trace/recording/store.h"

/* Nothing comes from source driver here, whose tables would bring all of it along. */
void driver_names__free(struct driver_names *names)
{
	(void)names;
}

#define MAX_PROCESSES 64
#define NS_PER_S      1000000000ull

struct settings {
	uint64_t launches, rate, names, processes;
	struct store_options store;
	const char *extra;
};

struct totals {
	uint64_t launches, kernels, kernel_time, memcpys, memcpy_bytes, memsets, allocs, frees;
	uint64_t syncs, failed, graphs, overheads, ranges;
};

static const char *const hostile[] = {
	"_Z1fv'; DROP TABLE StringIds; --",
	"</script><script>document.title='owned'</script>",
	"=cmd|' /C calc'!A0",
	"\033]0;owned\007\033[31m",
	"../../../../tmp/owned",
	"a;b 1\nroot;owned 99",
	"\"},{\"name\":\"owned\"}",
	"\xff\xfe\x80 not utf-8",
	("\xe2\x80\xae"
	 "drowssap"),
	"<img src=x onerror=alert(1)>",
	"",
	"${jndi:ldap://x}%s%n%n",
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void make_names(struct process *process, const struct settings *settings)
{
	char text[128];

	for (uint32_t id = 1; id <= settings->names; id++) {
		if (!strcmp(settings->extra, "hostile"))
			snprintf(text, sizeof(text), "%s",
				 hostile[(id - 1) % (sizeof(hostile) / sizeof(hostile[0]))]);
		else
			snprintf(text, sizeof(text), "_ZN4test6kernelILi%uEEEvPf", id);
		names__put(process->names, id, text, strlen(text));
	}
	snprintf(text, sizeof(text), "cudaMalloc_v3020");
	names__put(process->names, 100001, text, strlen(text));
	snprintf(text, sizeof(text), "NVIDIA Test GPU");
	names__put(process->names, 100002, text, strlen(text));
	snprintf(text, sizeof(text), "step");
	names__put(process->names, 100003, text, strlen(text));
}

static struct process *make_process(const struct settings *settings, struct store *store, int index)
{
	struct process *process = process__new(1000 + index, 77 + index);
	struct cuda_status *status = &process->status;

	snprintf(process->comm, sizeof(process->comm), "%s",
		 strcmp(settings->extra, "hostile") ? "feeder" : "\033[2J<b>';--");
	process->uid = 1000;
	status->version = CUDA_PROBES_VERSION;
	status->size = sizeof(*status);
	status->time = now_ns();
	status->state = CUDA_STATE_ACTIVE;
	status->cupti_version = 130001;
	snprintf(status->cupti_path, sizeof(status->cupti_path), "/usr/lib/libcupti.so.13");
	make_names(process, settings);
	store__process_start(store, process);
	return process;
}

static void feed_objects(struct store *store, struct process *process)
{
	struct cuda_device device = {
		.head = {CUDA_RECORD_DEVICE, sizeof(device), 0},
		.memory = 80ull << 30,
		.name = 100002,
		.uuid = {1, 2, 3},
		.pci = "0000:01:00.0",
		.major = 9,
		.multiprocessors = 132,
		.core_clock = 1980000,
	};
	struct cuda_context context = {
		.head = {CUDA_RECORD_CONTEXT, sizeof(context), 0},
		.context = 1,
		.null_stream = 7,
	};
	struct cuda_stream stream = {
		.head = {CUDA_RECORD_STREAM, sizeof(stream), 0},
		.context = 1,
		.stream = 13,
		.flag = 2,
	};

	store__record(store, process, &device.head);
	store__record(store, process, &context.head);
	store__record(store, process, &stream.head);
}

/* Launch i of a process at `time`, and its kernel. */
static void feed_launch(struct store *store, struct process *process,
			const struct settings *settings, uint64_t i, uint64_t time,
			struct totals *totals)
{
	uint32_t name = 1 + i * 7919 % settings->names;
	struct cuda_launch launch = {
		.head = {CUDA_RECORD_LAUNCH, sizeof(launch), i + 1},
		.start = time,
		.end = time + 1500,
		.tid = process->pid + i % 2,
		.name = name,
		.context = 1,
		.cbid = 307,
		.domain = CUDA_DOMAIN_DRIVER,
		.grid = {1 + i % 256, 1, 1},
		.block = {128, 1, 1},
	};
	struct cuda_kernel kernel = {
		.head = {CUDA_RECORD_KERNEL, sizeof(kernel), i + 1},
		.start = time + 2000,
		.end = time + 2000 + 500 + name * 10 + i % 7,
		.context = 1,
		.stream = i % 3 ? 7 : 13,
		.name = name,
		.grid = {1 + i % 256, 1, 1},
		.block = {128, 1, 1},
		.registers = 32,
	};

	store__record(store, process, &launch.head);
	store__record(store, process, &kernel.head);
	totals->launches++;
	totals->kernels++;
	totals->kernel_time += kernel.end - kernel.start;
}

static void feed_copy(struct store *store, struct process *process, uint64_t i, uint64_t time,
		      struct totals *totals)
{
	struct cuda_memcpy copy = {
		.head = {CUDA_RECORD_MEMCPY, sizeof(copy), i + 1},
		.start = time + 5000,
		.end = time + 9000,
		.bytes = 1 << 20,
		.context = 1,
		.stream = 21,
		.copy_kind = 1 + i / 50 % 2,
		.src_kind = 1,
		.dst_kind = 3,
		.copies = 1,
	};
	struct cuda_memset set = {
		.head = {CUDA_RECORD_MEMSET, sizeof(set), i + 1},
		.start = time + 9000,
		.end = time + 9500,
		.bytes = 4096,
		.context = 1,
		.stream = 21,
		.memory_kind = 3,
	};
	struct cuda_sync sync = {
		.head = {CUDA_RECORD_SYNC, sizeof(sync), i + 1},
		.start = time + 4000,
		.end = time + 9000,
		.context = 1,
		.stream = 21,
		.event = ~0u,
		.type = 3,
	};

	store__record(store, process, &copy.head);
	store__record(store, process, &set.head);
	store__record(store, process, &sync.head);
	totals->memcpys++;
	totals->memcpy_bytes += copy.bytes;
	totals->memsets++;
	totals->syncs++;
}

/* Rare things: every 50th launch. Of 100 allocations one is never freed. */
static void feed_rare(struct store *store, struct process *process, uint64_t i, uint64_t time,
		      struct totals *totals)
{
	struct cuda_memory memory = {
		.head = {CUDA_RECORD_MEMORY, sizeof(memory), i + 1},
		.time = time + 100,
		.address = 0x7f0000000000 + i * 4096,
		.bytes = 4096,
		.context = 1,
		.operation = 1,
		.kind = 3,
	};
	struct cuda_api failed = {
		.head = {CUDA_RECORD_API, sizeof(failed), i + 1},
		.start = time + 200,
		.end = time + 300,
		.tid = process->pid,
		.name = 100001,
		.result = 2,
		.cbid = 20,
		.domain = CUDA_DOMAIN_RUNTIME,
		.group = CUDA_GROUP_API_MEMORY,
	};
	struct cuda_graph graph = {
		.head = {CUDA_RECORD_GRAPH, sizeof(graph), i + 1},
		.start = time + 9600,
		.end = time + 9900,
		.context = 1,
		.stream = 22,
		.graph = 3,
	};
	struct cuda_overhead overhead = {
		.head = {CUDA_RECORD_OVERHEAD, sizeof(overhead), 0},
		.start = time,
		.end = time + 50,
		.kind = 1 << 16,
		.object_kind = 2,
		.object = {process->pid, process->pid},
	};
	struct cuda_nvtx nvtx = {
		.head = {CUDA_RECORD_NVTX, sizeof(nvtx), 0},
		.start = time,
		.end = time + 9000,
		.tid = process->pid,
		.text = 100003,
		.kind = 2,
	};

	feed_copy(store, process, i, time, totals);
	store__record(store, process, &memory.head);
	totals->allocs++;
	if (i / 50 % 100) {
		memory.time += 5000;
		memory.operation = 2;
		store__record(store, process, &memory.head);
		totals->frees++;
	}
	/* The same failure from two groups is one failure. */
	process->group = CUDA_GROUP_API_MEMORY;
	store__record(store, process, &failed.head);
	process->group = CUDA_GROUP_API_ERROR;
	store__record(store, process, &failed.head);
	process->group = CUDA_GROUP_LAUNCH;
	store__record(store, process, &graph.head);
	store__record(store, process, &overhead.head);
	store__record(store, process, &nvtx.head);
	totals->failed++;
	totals->graphs++;
	totals->overheads++;
	totals->ranges++;
}

/* Keeps to the wanted rate; without one it runs flat out and times are made up. */
static int pace(struct store *store, const struct settings *settings, uint64_t i, uint64_t begin)
{
	static const struct session_lost_counts none;
	int err = i % 4096 ? 0 : store__tick(store, &none);
	/* As a session does: it looks at the clock many times a second, however few events come. */
	uint64_t turn = settings->rate / 50 + 1 < 256 ? settings->rate / 50 + 1 : 256;

	if (settings->rate && i % turn == 0) {
		int64_t ahead = begin + i * NS_PER_S / settings->rate - now_ns();

		if (ahead > 0)
			usleep(ahead / 1000);
		err = store__tick(store, &none);
	}
	return err;
}

/* The writer is a thread of its own. */
static void wait_for_bytes(const char *path, uint64_t bytes)
{
	char part[4096];
	struct stat file;

	snprintf(part, sizeof(part), "%s.part", path);
	for (int i = 0; i < 1000 && (stat(part, &file) || (uint64_t)file.st_size < bytes); i++)
		usleep(10000);
}

static int feed(struct store *store, const struct settings *settings, struct totals *totals)
{
	struct process *processes[MAX_PROCESSES];
	uint64_t begin = now_ns(), time = begin;
	int err = 0;

	for (uint64_t p = 0; p < settings->processes; p++) {
		processes[p] = make_process(settings, store, p);
		feed_objects(store, processes[p]);
	}
	for (uint64_t i = 0; !err && i < settings->launches; i++) {
		struct process *process = processes[i % settings->processes];

		time = settings->rate ? now_ns() : time + 2500;
		feed_launch(store, process, settings, i, time, totals);
		if (i % 50 == 0)
			feed_rare(store, process, i, time, totals);
		err = pace(store, settings, i, begin);
	}
	fprintf(stderr, "feeder: %.0f records/s\n",
		store__records(store) / ((now_ns() - begin) / 1e9));
	if (!strcmp(settings->extra, "kill-written"))
		wait_for_bytes(settings->store.path, settings->launches * 125);
	if (!strncmp(settings->extra, "kill", 4))
		kill(getpid(), SIGKILL);
	for (uint64_t p = 0; p < settings->processes; p++) {
		store__process_end(store, processes[p]);
		process__free(processes[p]);
	}
	return err;
}

static void parse(struct settings *settings, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "n:r:k:p:l:m:x:")) >= 0) {
		switch (option) {
		case 'n':
			settings->launches = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			settings->rate = strtoull(optarg, NULL, 0);
			break;
		case 'k':
			settings->names = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			settings->processes = strtoull(optarg, NULL, 0);
			break;
		case 'l':
			settings->store.keep = strtod(optarg, NULL) * NS_PER_S;
			break;
		case 'm':
			settings->store.max_bytes = strtoull(optarg, NULL, 0);
			break;
		case 'x':
			settings->extra = optarg;
			break;
		default:
			exit(2);
		}
	}
	if (optind + 1 != argc || !settings->names || !settings->processes ||
	    settings->processes > MAX_PROCESSES)
		exit(2);
	settings->store.path = argv[optind];
}

int main(int argc, char **argv)
{
	struct settings settings = {
		.launches = 1000,
		.names = 40,
		.processes = 1,
		.extra = "",
		.store.command = "feeder --made-up",
	};
	struct session_lost_counts lost = {0};
	struct totals totals = {0};
	struct store *store;
	uint64_t begin;
	int err;

	parse(&settings, argc, argv);
	settings.store.compress = !strcmp(settings.extra, "compress");
	if (store__create(&store, &settings.store))
		return 1;
	err = feed(store, &settings, &totals);
	if (err && err != -EFBIG)
		fprintf(stderr, "feeder: stopped: %s\n", strerror(-err));
	if (!strcmp(settings.extra, "lost")) {
		lost.agent[CUDA_LOST_POOL_EMPTY] = 5;
		lost.session[SESSION_LOST_RING_FULL] = 7;
	}
	begin = now_ns();
	err = store__finish(store, &lost);
	fprintf(stderr, "feeder: finished in %.2f s\n", (now_ns() - begin) / 1e9);
	store__close(store);
	printf("expect launches=%" PRIu64 " kernels=%" PRIu64 " kernel_time=%" PRIu64
	       " memcpys=%" PRIu64 " memcpy_bytes=%" PRIu64 " memsets=%" PRIu64 " allocs=%" PRIu64
	       " frees=%" PRIu64 " syncs=%" PRIu64 " failed=%" PRIu64 " graphs=%" PRIu64
	       " overheads=%" PRIu64 " ranges=%" PRIu64 "\n",
	       totals.launches, totals.kernels, totals.kernel_time, totals.memcpys,
	       totals.memcpy_bytes, totals.memsets, totals.allocs, totals.frees, totals.syncs,
	       totals.failed, totals.graphs, totals.overheads, totals.ranges);
	return err != 0;
}
