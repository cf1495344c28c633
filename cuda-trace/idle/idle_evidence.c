// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads idle.bpf.c beside the session's program, with the session's filter. Nothing of it is needed
 * for the rest of the tool: whatever does not work leaves a reason, and the session goes on.
 */
#include "cuda-trace/idle/idle_evidence.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "bpf/event.h"
#include "bpf/idle.skel.h"
#include "cuda-trace/attach/object_load.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/capture/session.h"

#define SAMPLES_PER_S 199
#define CPUS_MAX      1024
#define LINKS_MAX     4

struct idle_evidence {
	struct idle_bpf *skeleton; /* NULL = it could not be loaded */
	struct ring_buffer *ring;
	struct bpf_link *links[LINKS_MAX];
	struct bpf_link *samplers[CPUS_MAX];
	int cpus;
	bool scheduler;
	char reduced[160];
	idle_evidence_sink sink;
	void *context;
};

static int read_record(void *context, void *data, size_t size)
{
	struct idle_evidence *evidence = context;
	const uint32_t *kind = data;

	if (*kind == IDLE_WAIT && size >= sizeof(struct idle_wait))
		evidence->sink(evidence->context, data, NULL);
	else if (*kind == IDLE_SAMPLE && size >= sizeof(struct idle_sample))
		evidence->sink(evidence->context, NULL, data);
	return 0;
}

/* Those whose wait depends on what the file is. */
static void mark_calls(uint8_t *first_is_file)
{
	static const int calls[] = {
		SYS_read,    SYS_write,	  SYS_pread64, SYS_pwrite64, SYS_readv,	    SYS_writev,
		SYS_preadv,  SYS_pwritev, SYS_fsync,   SYS_sendto,   SYS_recvfrom,  SYS_sendmsg,
		SYS_recvmsg, SYS_connect, SYS_accept,  SYS_accept4,  SYS_ftruncate, SYS_fdatasync,
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i] < IDLE_SYSCALLS)
			first_is_file[calls[i]] = 1;
}

static int attach_scheduler(struct idle_evidence *evidence)
{
	struct idle_bpf *skeleton = evidence->skeleton;
	struct bpf_program *programs[LINKS_MAX] = {
		skeleton->progs.idle_fork,
		skeleton->progs.idle_exit,
		skeleton->progs.idle_waking,
		skeleton->progs.idle_switch,
	};

	for (int i = 0; i < LINKS_MAX; i++) {
		evidence->links[i] = bpf_program__attach(programs[i]);
		if (!evidence->links[i])
			return -errno;
	}
	evidence->scheduler = true;
	return 0;
}

/* Functions on the CPU are missing without it, nothing else. */
static int attach_samplers(struct idle_evidence *evidence)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = SAMPLES_PER_S,
		.freq = 1,
	};
	int cpus = libbpf_num_possible_cpus(), err = 0, count = 0;

	for (int cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		struct bpf_link *link;

		if (fd < 0) {
			/* A CPU that is off line. */
			err = errno == ENODEV ? err : -errno;
			continue;
		}
		link = bpf_program__attach_perf_event(evidence->skeleton->progs.idle_sample, fd);
		if (link) {
			evidence->samplers[count++] = link;
		} else {
			err = -errno;
			close(fd);
		}
	}
	evidence->cpus = count;
	return count ? 0 : err ? err : -ENODEV;
}

static void find_processes(struct idle_evidence *evidence)
{
	struct bpf_link *link = bpf_program__attach_iter(evidence->skeleton->progs.idle_find, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	char buffer[64];

	while (fd >= 0 && read(fd, buffer, sizeof(buffer)) > 0)
		;
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
}

static int load(struct idle_evidence *evidence, const struct session *session)
{
	const char *wanted = getenv("CUDA_TRACE_SCHEDULER");
	struct stream_settings filter;
	int pids = session__filter(session, &filter);
	struct idle_bpf *skeleton = evidence->skeleton = idle_bpf__open();
	int err;

	if (!skeleton)
		return -errno;
	/* As on a kernel that allows none of this, for tests. */
	if (wanted && !strcmp(wanted, "off"))
		return -EOPNOTSUPP;
	memcpy((void *)&skeleton->rodata->settings, &filter, sizeof(filter));
	mark_calls((uint8_t *)skeleton->rodata->first_is_file);
	skeleton->rodata->futex_call = SYS_futex;
	err = bpf_map__reuse_fd(skeleton->maps.pids, pids);
	if (!err)
		err = bpf_map__reuse_fd(skeleton->maps.interpreters,
					session__interpreters(session));
	if (!err)
		err = object_load__skeleton(skeleton->skeleton);
	if (err)
		return err;
	evidence->ring =
		ring_buffer__new(bpf_map__fd(skeleton->maps.waits), read_record, evidence, NULL);
	return evidence->ring ? 0 : -errno;
}

struct idle_evidence *idle_evidence__new(const struct session *session, idle_evidence_sink sink,
					 void *context)
{
	struct idle_evidence *evidence = calloc(1, sizeof(*evidence));
	int err;

	if (!evidence)
		return NULL;
	evidence->sink = sink;
	evidence->context = context;
	err = load(evidence, session);
	if (!err)
		err = attach_scheduler(evidence);
	if (err) {
		snprintf(evidence->reduced, sizeof(evidence->reduced),
			 "no scheduler events (%s): only causes in CUDA calls are known",
			 strerror(-err));
		return evidence;
	}
	find_processes(evidence);
	err = attach_samplers(evidence);
	if (err)
		snprintf(evidence->reduced, sizeof(evidence->reduced),
			 "no samples (%s): functions on the CPU are not known", strerror(-err));
	return evidence;
}

void idle_evidence__add(struct idle_evidence *evidence, uint32_t pid)
{
	uint8_t one = 1;

	if (!evidence || !evidence->scheduler)
		return;
	if (!bpf_map_lookup_elem(bpf_map__fd(evidence->skeleton->maps.pids), &pid, &one))
		return;
	one = 1;
	bpf_map_update_elem(bpf_map__fd(evidence->skeleton->maps.pids), &pid, &one, BPF_ANY);
	find_processes(evidence);
}

void idle_evidence__read(struct idle_evidence *evidence)
{
	if (evidence && evidence->ring)
		ring_buffer__consume(evidence->ring);
}

static void detach(struct idle_evidence *evidence)
{
	for (int i = LINKS_MAX - 1; i >= 0; i--) {
		bpf_link__destroy(evidence->links[i]);
		evidence->links[i] = NULL;
	}
	for (int i = 0; i < evidence->cpus; i++)
		bpf_link__destroy(evidence->samplers[i]);
	evidence->cpus = 0;
}

/* Of threads that live. */
static void read_threads(struct idle_evidence *evidence)
{
	int map = bpf_map__fd(evidence->skeleton->maps.threads);
	uint64_t now = monotonic__ns();
	struct idle_thread thread;
	uint32_t key, next;
	bool more = !bpf_map_get_next_key(map, NULL, &next);

	while (more) {
		key = next;
		if (!bpf_map_lookup_elem(map, &key, &thread)) {
			if (thread.open.kind)
				evidence->sink(evidence->context, &thread.open, NULL);
			if (thread.now.kind) {
				thread.now.end =
					thread.woken > thread.now.start ? thread.woken : now;
				thread.now.off_ns = thread.now.end - thread.now.start;
				evidence->sink(evidence->context, &thread.now, NULL);
			}
		}
		more = !bpf_map_get_next_key(map, &key, &next);
	}
}

void idle_evidence__present(struct idle_evidence *evidence)
{
	if (evidence && evidence->scheduler)
		read_threads(evidence);
}

void idle_evidence__finish(struct idle_evidence *evidence)
{
	if (!evidence || !evidence->scheduler)
		return;
	detach(evidence);
	idle_evidence__read(evidence);
	read_threads(evidence);
}

bool idle_evidence__code(const struct idle_evidence *evidence, uint32_t pid,
			 const struct idle_frame *frame, struct idle_code *code)
{
	struct idle_code_key key = {.pid = pid, .code = frame->code};
	const struct event_code *event = (const void *)code;

	return evidence->scheduler &&
	       !bpf_map_lookup_elem(bpf_map__fd(evidence->skeleton->maps.codes), &key, code) &&
	       event->key == frame->key && event->file_bytes <= CODE_FILE_LEN &&
	       event->name_bytes <= CODE_NAME_LEN && event->table_bytes <= IDLE_TABLE_MAX;
}

uint32_t idle_evidence__stack(const struct idle_evidence *evidence, int32_t stack,
			      uint64_t addresses[IDLE_STACK_DEPTH])
{
	uint32_t key = stack, depth = 0;

	if (stack < 0 || !evidence->scheduler ||
	    bpf_map_lookup_elem(bpf_map__fd(evidence->skeleton->maps.stacks), &key, addresses))
		return 0;
	while (depth < IDLE_STACK_DEPTH && addresses[depth])
		depth++;
	return depth;
}

void idle_evidence__counters(const struct idle_evidence *evidence, struct idle_counters *counters)
{
	struct idle_counters values[CPUS_MAX];
	int cpus = libbpf_num_possible_cpus();
	uint32_t zero = 0;

	memset(counters, 0, sizeof(*counters));
	if (!evidence || !evidence->scheduler || cpus > CPUS_MAX ||
	    bpf_map_lookup_elem(bpf_map__fd(evidence->skeleton->maps.idle_counters), &zero, values))
		return;
	for (int i = 0; i < cpus; i++) {
		counters->waits += values[i].waits;
		counters->reported += values[i].reported;
		counters->repaired += values[i].repaired;
		counters->ring_full += values[i].ring_full;
		counters->threads_full += values[i].threads_full;
		counters->unfollowed += values[i].unfollowed;
	}
}

uint64_t idle_evidence__run_ns(const struct idle_evidence *evidence)
{
	struct bpf_program *program;
	uint64_t sum = 0;

	if (!evidence || !evidence->scheduler)
		return 0;
	bpf_object__for_each_program(program, evidence->skeleton->obj)
	{
		struct bpf_prog_info info = {};
		uint32_t size = sizeof(info);
		int fd = bpf_program__fd(program);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size))
			sum += info.run_time_ns;
	}
	return sum;
}

const char *idle_evidence__reduced(const struct idle_evidence *evidence, bool *scheduler)
{
	*scheduler = evidence && evidence->scheduler;
	if (!evidence)
		return "no scheduler events (no memory): only causes in CUDA calls are known";
	return *evidence->reduced ? evidence->reduced : NULL;
}

void idle_evidence__free(struct idle_evidence *evidence)
{
	if (!evidence)
		return;
	detach(evidence);
	ring_buffer__free(evidence->ring);
	idle_bpf__destroy(evidence->skeleton);
	free(evidence);
}
