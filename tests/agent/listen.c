// SPDX-License-Identifier: BSD-2-Clause
/*
 * listen [-p PID] [-t MS] [-w MS] LIBRARY PROBE... [-- CMD ARGS]: attaches to the agent's probes by
 * name, runs CMD (or listens for MS), and prints what came: one "KEY=VALUE ..." line for each
 * probe, and one for each thing that is not as the contract says. Exit status: of CMD, or 1 on
 * trouble. -p PID  listen to this process only     -t MS  listen this long (without CMD) -w MS
 * attach only after CMD has run this long      -v  print every record
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/agent/listen.h"
#include "tests/agent/listen.skel.h"

#define PROBES 64
#define NAMES  (1 << 20)

struct heard_probe {
	const char *name;
	int kind;
	unsigned long hits, records, failed, unnamed, backwards, outside, gaps, sum_ns;
	__u64 next, instance;
	struct bpf_link *link;
};

static struct heard_probe probes[PROBES];
static int probe_count;
static bool names_known[NAMES]; /* by id, of one process at a time */
static bool verbose;
static volatile sig_atomic_t stopped;

static __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int kind_of(const char *name)
{
	size_t length = strlen(name);

	if (!strcmp(name, "name"))
		return HEARD_NAME;
	if (!strcmp(name, "status"))
		return HEARD_STATUS;
	if (!strcmp(name, "lost"))
		return HEARD_LOST;
	if (!strcmp(name, "error"))
		return HEARD_ERROR;
	return length > 6 && !strcmp(name + length - 6, "_batch") ? HEARD_BATCH : HEARD_READABLE;
}

/* start, end (0 = no span), name id (0 = none) and result of a record. */
struct facts {
	__u64 start, end;
	__u32 name;
	int result;
};

static struct facts facts_of(const struct cuda_record *record)
{
	const struct cuda_launch *launch = (const void *)record;
	const struct cuda_kernel *kernel = (const void *)record;
	const struct cuda_api *api = (const void *)record;
	const struct cuda_memory *memory = (const void *)record;
	const struct cuda_pc_sample *sample = (const void *)record;

	switch (record->kind) {
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		return (struct facts){launch->start, launch->end, launch->name, launch->result};
	case CUDA_RECORD_KERNEL:
		return (struct facts){kernel->start, kernel->end, kernel->name, 0};
	case CUDA_RECORD_API:
		return (struct facts){api->start, api->end, api->name, api->result};
	case CUDA_RECORD_MEMORY:
	case CUDA_RECORD_MEMORY_POOL:
		return (struct facts){memory->time, 0, 0, 0};
	case CUDA_RECORD_PC_SAMPLE:
		return (struct facts){sample->time, 0, sample->function, 0};
	case CUDA_RECORD_DEVICE:
	case CUDA_RECORD_CONTEXT:
	case CUDA_RECORD_STREAM:
		return (struct facts){0, 0, 0, 0};
	}
	/* All others begin with their span. */
	return (struct facts){launch->start, launch->end, 0, 0};
}

static void handle_record(struct heard_probe *probe, const struct heard *h,
			  const struct cuda_record *record)
{
	struct facts facts = facts_of(record);

	probe->records++;
	if (facts.result)
		probe->failed++;
	if (facts.end && facts.end < facts.start)
		probe->backwards++;
	if (facts.end)
		probe->sum_ns += facts.end - facts.start;
	/* Sent within the last second, and not ahead of the present. */
	if (facts.start &&
	    (facts.start > h->time + 1000000 || h->time - facts.start > 5000000000ULL))
		probe->outside++;
	if (facts.name && (facts.name >= NAMES || !names_known[facts.name]))
		probe->unnamed++;
	if (verbose)
		printf("record probe=%s kind=%u correlation=%u start=%llu end=%llu name=%u "
		       "result=%d\n",
		       probe->name, record->kind, record->correlation, facts.start, facts.end,
		       facts.name, facts.result);
}

static void handle_batch(struct heard_probe *probe, const struct heard *h)
{
	const __u8 *at = h->data, *end = h->data + h->bytes;
	unsigned long before = probe->records;

	if (probe->instance == h->args[4] && probe->next != h->args[3])
		probe->gaps++; /* several threads number their batches: only the sum counts */
	probe->instance = h->args[4];
	probe->next = h->args[3] + h->args[2];
	while (at + sizeof(struct cuda_record) <= end) {
		const struct cuda_record *record = (const void *)at;

		if (record->size < sizeof(*record) || at + record->size > end)
			break;
		handle_record(probe, h, record);
		at += record->size;
	}
	if (at != end || probe->records - before != h->args[2])
		printf("torn probe=%s bytes=%u count=%llu\n", probe->name, h->bytes, h->args[2]);
}

static void print_status(const struct heard *h)
{
	const struct cuda_status *s = (const void *)h->data;

	printf("status pid=%u state=%u reason=%u groups=%#x cupti=%u driver=%u primed_us=%u "
	       "switch_us=%u resident_kib=%u activations=%u subscribing=%d launches=%llu "
	       "kernels=%llu path=%s holder=%s message=%s\n",
	       h->pid, s->state, s->reason, s->groups, s->cupti_version, s->driver_version,
	       s->prime_us, s->switch_us, s->resident_kib, s->activations, s->subscribing != 0,
	       s->emitted[CUDA_GROUP_LAUNCH], s->emitted[CUDA_GROUP_KERNEL], s->cupti_path,
	       s->holder, s->message);
	if (verbose)
		printf("search %s\n", s->search);
}

static int take(void *context, void *data, size_t size)
{
	const struct heard *h = data;
	struct heard_probe *probe = &probes[h->probe];

	probe->hits++;
	switch (h->kind) {
	case HEARD_BATCH:
		handle_batch(probe, h);
		break;
	case HEARD_NAME:
		probe->records++;
		if (h->args[1] < NAMES)
			names_known[h->args[1]] = true;
		printf("name id=%llu length=%llu stored=%zu text=%.60s\n", h->args[1], h->args[3],
		       strlen((const char *)h->data), h->data);
		break;
	case HEARD_STATUS:
		print_status(h);
		break;
	case HEARD_LOST:
		printf("lost reason=%llu count=%llu total=%llu\n", h->args[0], h->args[1],
		       h->args[2]);
		break;
	case HEARD_ERROR:
		printf("error code=%d message=%s\n", (int)h->args[0], h->data);
		break;
	case HEARD_READABLE:
		probe->records++;
		if (verbose) {
			printf("readable probe=%s text=%.60s args=", probe->name, h->data);
			for (int i = 0; i < 12; i++)
				printf("%llu%c", h->args[i], i < 11 ? ',' : '\n');
		}
		break;
	}
	return 0;
}

static int attach(struct listen_bpf *skeleton, const char *agent)
{
	for (int i = 0; i < probe_count; i++) {
		LIBBPF_OPTS(bpf_usdt_opts, options, .usdt_cookie = (__u64)probes[i].kind << 32 | i);

		probes[i].link = bpf_program__attach_usdt(skeleton->progs.listen, -1, agent, "cuda",
							  probes[i].name, &options);
		if (!probes[i].link) {
			fprintf(stderr, "listen: %s: %s\n", probes[i].name, strerror(errno));
			return -1;
		}
	}
	return 0;
}

static void detach(void)
{
	for (int i = 0; i < probe_count; i++)
		bpf_link__destroy(probes[i].link);
}

static void report(struct listen_bpf *skeleton)
{
	for (int i = 0; i < probe_count; i++)
		printf("probe=%s hits=%lu records=%lu failed=%lu unnamed=%lu backwards=%lu "
		       "outside=%lu ns=%lu next=%llu\n",
		       probes[i].name, probes[i].hits, probes[i].records, probes[i].failed,
		       probes[i].unnamed, probes[i].backwards, probes[i].outside, probes[i].sum_ns,
		       probes[i].next);
	printf("missed=%llu\n", skeleton->bss->missed);
}

static void stop(int signal)
{
	stopped = 1;
}

/* The command's exit status, or -1 while it runs. */
static int command_status(pid_t child)
{
	int status;

	if (waitpid(child, &status, WNOHANG) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static pid_t start_command(char **argv)
{
	pid_t child = fork();

	if (child)
		return child;
	execvp(argv[0], argv);
	_exit(127);
}

struct options {
	unsigned int pid;
	long listen_ms, wait_ms;
	const char *agent;
	char **command;
};

static int read_options(int argc, char **argv, struct options *options)
{
	int c;

	while ((c = getopt(argc, argv, "+p:t:w:v")) != -1) {
		if (c == 'p')
			options->pid = atoi(optarg);
		else if (c == 't')
			options->listen_ms = atol(optarg);
		else if (c == 'w')
			options->wait_ms = atol(optarg);
		else if (c == 'v')
			verbose = true;
		else
			return -1;
	}
	if (optind >= argc)
		return -1;
	options->agent = argv[optind++];
	for (; optind < argc && strcmp(argv[optind], "--"); optind++) {
		if (probe_count == PROBES)
			return -1;
		probes[probe_count].kind = kind_of(argv[optind]);
		probes[probe_count++].name = argv[optind];
	}
	options->command = optind < argc ? argv + optind + 1 : NULL;
	return 0;
}

static int listen_to(struct listen_bpf *skeleton, const struct options *options)
{
	__u64 begin = now_ns();
	struct ring_buffer *ring =
		ring_buffer__new(bpf_map__fd(skeleton->maps.heard), take, NULL, NULL);
	bool attached = !options->wait_ms;
	pid_t child = 0;
	int status = 0;

	if (!ring || (attached && attach(skeleton, options->agent)))
		return 1;
	if (options->command)
		child = start_command(options->command);
	while (!stopped) {
		ring_buffer__poll(ring, 20);
		if (!attached && now_ns() - begin > options->wait_ms * 1000000ULL) {
			attached = true;
			if (attach(skeleton, options->agent))
				return 1;
			begin = now_ns();
		}
		if (child && (status = command_status(child)) >= 0)
			break;
		if (attached && options->listen_ms &&
		    now_ns() - begin > options->listen_ms * 1000000ULL)
			break;
	}
	detach();
	ring_buffer__consume(ring);
	report(skeleton);
	ring_buffer__free(ring);
	return status > 0 ? status : 0;
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct listen_bpf *skeleton;
	struct stat namespace;
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	if (read_options(argc, argv, &options)) {
		fprintf(stderr,
			"usage: listen [-p PID] [-t MS] [-w MS] [-v] LIBRARY PROBE... [-- CMD]\n");
		return 2;
	}
	skeleton = listen_bpf__open();
	if (!skeleton)
		return 1;
	skeleton->bss->only_pid = options.pid;
	if (!stat("/proc/self/ns/pid", &namespace)) {
		skeleton->bss->namespace_dev = namespace.st_dev;
		skeleton->bss->namespace_ino = namespace.st_ino;
	}
	if (listen_bpf__load(skeleton)) {
		listen_bpf__destroy(skeleton);
		return 1;
	}
	status = listen_to(skeleton, &options);
	listen_bpf__destroy(skeleton);
	return status;
}
