// SPDX-License-Identifier: BSD-2-Clause
/*
 * The gate's life, and its thread: events of yield.bpf.c → links and requests. Links of a libcupti
 * are for all processes that map it: they cost one only when it calls these functions, and a
 * process that starts later finds them there.
 */
#include "cuda-trace/yield/yield_gate.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include "bpf/event.h"
#include "bpf/yield.h"
#include "bpf/yield.skel.h"
#include "cuda-trace/attach/object_load.h"
#include "cuda-trace/attach/link_closer.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/attach/probe_sites.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/proc/pid_namespace.h"
#include "cuda-trace/yield/cupti_functions.h"
#include "cuda-trace/yield/mapped_files.h"
#include "cuda-trace/yield/yield_hints.h"
#include "cuda-trace/yield/yield_requests.h"

#define SITES 128
/* Of cuda:cupti_claim. What an older library has in the register of the last one is no address. */
#define HINTED_ARGUMENTS 5
#define FILES_MAX	 512
#define LOOK_MS		 50 /* while somebody yields: has its client left? */
#define IDLE_MS		 1000
#define COPIES_NS	 5000000000ull /* between looks for second copies of libcupti */
#define REMARKS_MAX	 256

struct file {
	dev_t device;
	ino_t inode;
	int entries, returns; /* links; -1 = none */
};

struct yield_gate {
	struct yield_bpf *skeleton;
	struct ring_buffer *ring;
	struct yield_hints *hints;
	struct yield_requests *requests;
	pthread_mutex_t lock; /* of all that follows, and of requests */
	struct file agents[FILES_MAX], cuptis[FILES_MAX];
	unsigned int agent_count, cupti_count;
	int passed;			/* yield_gate__know(); -1 = none */
	uint32_t remarked[REMARKS_MAX]; /* processes with a second copy, reported */
	unsigned int remark_count;
	uint64_t next_copies, unseen;
	bool verbose;
	pthread_t thread;
	bool runs;
	int wake; /* an eventfd: the end */
};

static struct file *find_file(struct file *files, unsigned int count, dev_t device, ino_t inode)
{
	for (unsigned int i = 0; i < count; i++)
		if (files[i].device == device && files[i].inode == inode)
			return &files[i];
	return NULL;
}

static int link_program(struct bpf_program *program, const char *path,
			const struct cupti_points *points, const uint64_t *semaphores,
			bool at_return)
{
	return multi_link__new(bpf_program__fd(program), path,
			       &(struct multi_link_points){
				       .offsets = points->offsets,
				       .semaphores = semaphores,
				       .cookies = points->cookies,
				       .count = points->count,
			       },
			       at_return);
}

static void complain(const char *path, int err)
{
	char shown[256];

	fprintf(stderr,
		"cuda-trace: other CUPTI clients cannot be admitted to processes that use %s: %s\n",
		text__show(shown, sizeof(shown), path, 200), strerror(-err));
}

static int open_cupti(const struct yield_gate *gate, const struct mapped_file *mapped)
{
	struct stat passed;

	if (gate->passed >= 0 && !fstat(gate->passed, &passed) && passed.st_dev == mapped->device &&
	    passed.st_ino == mapped->inode)
		return fcntl(gate->passed, F_DUPFD_CLOEXEC, 0);
	return mapped_file__open(mapped);
}

/* The file's name for the kernel is that of an open file, which nobody can exchange. */
static void add_cupti(struct yield_gate *gate, const struct mapped_file *mapped)
{
	struct file *file =
		find_file(gate->cuptis, gate->cupti_count, mapped->device, mapped->inode);
	struct yield_bpf *skeleton = gate->skeleton;
	struct cupti_functions functions;
	char path[64];
	int fd, err;

	if (file || gate->cupti_count == FILES_MAX)
		return;
	fd = open_cupti(gate, mapped);
	err = fd < 0 ? fd : cupti_functions__find(fd, &functions);
	file = &gate->cuptis[gate->cupti_count];
	*file = (struct file){mapped->device, mapped->inode, -1, -1};
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* Returns first: a call that begins is seen to end. */
	if (!err)
		err = file->returns = link_program(skeleton->progs.yield_return, path,
						   &functions.returns, NULL, true);
	if (err >= 0)
		err = file->entries = link_program(skeleton->progs.yield_call, path,
						   &functions.entries, NULL, false);
	if (fd >= 0)
		close(fd);
	gate->cupti_count++;
	if (err < 0)
		complain(mapped->name, err);
}

static bool client_of(struct yield_gate *gate, uint32_t pid, struct yield_client *client)
{
	return !bpf_map_lookup_elem(bpf_map__fd(gate->skeleton->maps.clients), &pid, client);
}

/* As is_there() of yield.bpf.c. */
static bool is_there(void *context, uint32_t pid)
{
	struct yield_client client;
	uint64_t now = monotonic__ns();

	if (!client_of(context, pid, &client))
		return false;
	if (client.subscribed || client.kinds || now < client.last + YIELD_QUIET_NS)
		return true;
	return client.calls && now - client.last < YIELD_CALL_NS;
}

static int on_event(void *context, void *data, size_t size)
{
	const struct yield_event *event = data;
	struct yield_gate *gate = context;
	struct yield_client client;
	struct mapped_file file;

	switch (event->kind) {
	case YIELD_EVENT_CLAIM:
		if (!mapped_files__at(event->pid, event->function, &file))
			add_cupti(gate, &file);
		break;
	case YIELD_EVENT_CLIENT:
		if (client_of(gate, event->pid, &client))
			yield_requests__raise(gate->requests, event->pid, &client);
		break;
	case YIELD_EVENT_END:
		yield_requests__forget(gate->requests, event->pid);
		break;
	}
	return 0;
}

static bool is_remarked(struct yield_gate *gate, uint32_t pid)
{
	for (unsigned int i = 0; i < gate->remark_count; i++)
		if (gate->remarked[i] == pid)
			return true;
	return gate->remark_count == REMARKS_MAX;
}

/* NVIDIA serves one copy in a process, the first that subscribed. */
static void look_for_copy(struct yield_gate *gate, uint32_t pid, const struct yield_claim *claim)
{
	struct mapped_file used, other;
	char first[256], second[256];

	if (is_remarked(gate, pid) || mapped_files__at(pid, claim->function, &used) ||
	    mapped_files__named(pid, "libcupti.so", &used, &other))
		return;
	gate->remarked[gate->remark_count++] = pid;
	fprintf(stderr,
		"cuda-trace: process %u has a second copy of libcupti, %s beside %s: only one can "
		"work in a process, so a CUPTI client that uses it fails from now on\n",
		pid, text__show(second, sizeof(second), other.name, 200),
		text__show(first, sizeof(first), used.name, 200));
}

static void look_for_copies(struct yield_gate *gate)
{
	int claims = bpf_map__fd(gate->skeleton->maps.claims);
	uint32_t pid, *before = NULL;
	struct yield_claim claim;

	gate->next_copies = monotonic__ns() + COPIES_NS;
	while (!bpf_map_get_next_key(claims, before, &pid)) {
		before = &pid;
		if (!bpf_map_lookup_elem(claims, &pid, &claim))
			look_for_copy(gate, pid, &claim);
	}
}

static void look_for_unseen(struct yield_gate *gate)
{
	uint64_t unseen = gate->skeleton->bss->unseen;

	if (unseen && !gate->unseen)
		fprintf(stderr, "cuda-trace: too many processes use CUPTI to track them all: CUPTI "
				"clients in further ones may be refused\n");
	gate->unseen = unseen;
}

static void *run(void *context)
{
	struct yield_gate *gate = context;

	struct pollfd ready[] = {
		{.fd = ring_buffer__epoll_fd(gate->ring), .events = POLLIN},
		{.fd = gate->wake, .events = POLLIN},
	};

	while (!ready[1].revents) {
		unsigned int yielding;

		pthread_mutex_lock(&gate->lock);
		ring_buffer__consume(gate->ring);
		yield_requests__review(gate->requests, is_there, gate);
		if (monotonic__ns() >= gate->next_copies)
			look_for_copies(gate);
		look_for_unseen(gate);
		yielding = yield_requests__count(gate->requests);
		pthread_mutex_unlock(&gate->lock);
		poll(ready, 2, yielding ? LOOK_MS : IDLE_MS);
	}
	return NULL;
}

/* Signals are the first thread's. */
static int start(struct yield_gate *gate)
{
	sigset_t all, before;
	int err;

	gate->wake = eventfd(0, EFD_CLOEXEC);
	if (gate->wake < 0)
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	err = pthread_create(&gate->thread, NULL, run, gate);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	gate->runs = !err;
	return -err;
}

static int load(struct yield_gate *gate)
{
	struct yield_bpf *skeleton = gate->skeleton = yield_bpf__open();
	struct bpf_program *const programs[] = {
		skeleton ? skeleton->progs.yield_call : NULL,
		skeleton ? skeleton->progs.yield_return : NULL,
		skeleton ? skeleton->progs.yield_switch : NULL,
	};
	int err;

	if (!skeleton)
		return -errno;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		bpf_program__set_expected_attach_type(programs[i], MULTI_LINK_ATTACH_TYPE);
	/* Of filter.h, and not used here. */
	bpf_map__set_max_entries(skeleton->maps.pids, 1);
	bpf_map__set_max_entries(skeleton->maps.driver_pids, 1);
	((struct stream_settings *)&skeleton->rodata->settings)->pid_namespace =
		pid_namespace__own();
	err = object_load__skeleton(skeleton->skeleton);
	if (err)
		return err;
	skeleton->links.yield_exec = bpf_program__attach(skeleton->progs.yield_exec);
	skeleton->links.yield_exit = bpf_program__attach(skeleton->progs.yield_exit);
	if (!skeleton->links.yield_exec || !skeleton->links.yield_exit)
		return -errno;
	gate->ring =
		ring_buffer__new(bpf_map__fd(skeleton->maps.yield_events), on_event, gate, NULL);
	gate->hints = yield_hints__new(bpf_map__fd(skeleton->maps.yield_calls),
				       bpf_map__fd(skeleton->maps.claims),
				       bpf_map__fd(skeleton->maps.requested));
	gate->requests = yield_requests__new(bpf_program__fd(skeleton->progs.yield_switch),
					     bpf_map__fd(skeleton->maps.requested), gate->verbose);
	return gate->ring && gate->hints && gate->requests ? 0 : -ENOMEM;
}

struct yield_gate *yield_gate__new(bool verbose)
{
	struct yield_gate *gate;
	int err = -EOPNOTSUPP;

	gate = calloc(1, sizeof(*gate));
	if (!gate)
		return NULL;
	gate->verbose = verbose;
	gate->wake = gate->passed = -1;
	pthread_mutex_init(&gate->lock, NULL);
	if (multi_link__supported())
		err = load(gate);
	if (!err)
		err = start(gate);
	if (!err)
		return gate;
	if (verbose)
		fprintf(stderr,
			"cuda-trace: programs cannot use CUPTI themselves while they are watched: "
			"%s%s\n",
			strerror(-err),
			multi_link__supported() ? "" : " (Linux 6.6 or newer is needed)");
	yield_gate__free(gate);
	return NULL;
}

void yield_gate__know(struct yield_gate *gate, int file)
{
	if (!gate)
		return;
	pthread_mutex_lock(&gate->lock);
	if (gate->passed >= 0)
		close(gate->passed);
	gate->passed = fcntl(file, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&gate->lock);
}

/* Claim and release; how many were found, or -errno. */
static int find_points(const char *path, struct cupti_points *points, uint64_t semaphores[2])
{
	struct probe_site sites[SITES];
	int count = probe_sites__read(path, CUDA_PROVIDER, sites, SITES);

	for (int i = 0; i < count && points->count < 2; i++) {
		bool claim = !strcmp(sites[i].name, "cupti_claim");

		if ((!claim && strcmp(sites[i].name, "cupti_release")) || !sites[i].regular)
			continue;
		points->offsets[points->count] = sites[i].offset;
		semaphores[points->count] = sites[i].semaphore;
		points->cookies[points->count++] = !claim ? YIELD_RELEASE
						   : sites[i].arguments < HINTED_ARGUMENTS
							   ? YIELD_CLAIM
							   : YIELD_CLAIM_HINTED;
	}
	return count < 0 ? count : (int)points->count;
}

void yield_gate__add_file(struct yield_gate *gate, const char *path)
{
	struct cupti_points points = {.count = 0};
	uint64_t semaphores[2];
	struct stat found;
	struct file *file;
	int count;

	if (!gate || stat(path, &found))
		return;
	/* Only this thread adds some. The file may take its time, and a client does not wait for
	 * that. */
	if (find_file(gate->agents, gate->agent_count, found.st_dev, found.st_ino) ||
	    gate->agent_count == FILES_MAX)
		return;
	count = find_points(path, &points, semaphores);
	pthread_mutex_lock(&gate->lock);
	file = &gate->agents[gate->agent_count++];
	*file = (struct file){found.st_dev, found.st_ino, -1, -1};
	if (count == 2)
		file->entries = link_program(gate->skeleton->progs.yield_call, path, &points,
					     semaphores, false);
	pthread_mutex_unlock(&gate->lock);
	if (count == 2 && file->entries < 0)
		complain(path, file->entries);
	if (count >= 0 && count < 2 && gate->verbose)
		fprintf(stderr, "cuda-trace: an older injection library does not yield CUPTI: its "
				"programs cannot use CUPTI themselves while they are watched\n");
}

static void close_files(struct file *files, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (files[i].entries >= 0)
			link_closer__close(files[i].entries);
		if (files[i].returns >= 0)
			link_closer__close(files[i].returns);
	}
}

void yield_gate__drop_file(struct yield_gate *gate, const char *path)
{
	struct stat found;
	struct file *file;

	if (!gate || stat(path, &found))
		return;
	pthread_mutex_lock(&gate->lock);
	file = find_file(gate->agents, gate->agent_count, found.st_dev, found.st_ino);
	if (file) {
		close_files(file, 1);
		*file = gate->agents[--gate->agent_count];
	}
	pthread_mutex_unlock(&gate->lock);
}

void yield_gate__add_active(struct yield_gate *gate, uint32_t pid, const struct cuda_status *status)
{
	struct yield_claim claim = {.since = status->time, .held = 1};
	struct mapped_file file;
	uint64_t from, to;

	if (!gate || !*status->cupti_path || mapped_files__range(pid, CUDA_AGENT_NAME, &from, &to))
		return;
	claim.code = from;
	claim.code_end = to;
	pthread_mutex_lock(&gate->lock);
	if (!mapped_files__path(pid, status->cupti_path, &file) ||
	    !mapped_files__named(pid, "libcupti.so", NULL, &file))
		add_cupti(gate, &file);
	/* What the gate has seen itself is newer. */
	bpf_map_update_elem(bpf_map__fd(gate->skeleton->maps.claims), &pid, &claim, BPF_NOEXIST);
	pthread_mutex_unlock(&gate->lock);
}

bool yield_gate__client(struct yield_gate *gate, uint32_t pid, char *name, size_t size)
{
	bool known;

	if (!gate)
		return false;
	pthread_mutex_lock(&gate->lock);
	known = yield_requests__client(gate->requests, pid, name, size);
	pthread_mutex_unlock(&gate->lock);
	return known;
}

void yield_gate__free(struct yield_gate *gate)
{
	if (!gate)
		return;
	if (gate->runs) {
		eventfd_write(gate->wake, 1);
		pthread_join(gate->thread, NULL);
	}
	if (gate->wake >= 0)
		close(gate->wake);
	if (gate->passed >= 0)
		close(gate->passed);
	yield_requests__free(gate->requests);
	yield_hints__free(gate->hints);
	close_files(gate->cuptis, gate->cupti_count);
	close_files(gate->agents, gate->agent_count);
	ring_buffer__free(gate->ring);
	yield_bpf__destroy(gate->skeleton);
	pthread_mutex_destroy(&gate->lock);
	free(gate);
}
