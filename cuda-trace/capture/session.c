// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens and loads the stream program, attaches it to every copy of the library, reads the ring
 * buffer and ends it all in an order that loses nothing. Called by the commands; one thread.
 */
#include "cuda-trace/capture/session_parts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bpf/stream.skel.h"
#include "cuda-trace/attach/attachments.h"
#include "cuda-trace/driver/driver_source.h"
#include "cuda-trace/driver/library_loads.h"
#include "cuda-trace/driver/nccl_probes.h"
#include "cuda-trace/attach/process_links.h"
#include "cuda-trace/inject/host_cupti.h"
#include "cuda-trace/inject/injections.h"
#include "cuda-trace/capture/dispatcher.h"
#include "cuda-trace/capture/observations.h"
#include "cuda-trace/attach/link_closer.h"
#include "cuda-trace/attach/load_error.h"
#include "cuda-trace/attach/object_load.h"
#include "cuda-trace/capture/link_check.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/attach/privileges.h"
#include "cuda-trace/attach/probe_link.h"
#include "cuda-trace/capture/session_filter.h"
#include "cuda-trace/capture/session_losses.h"
#include "cuda-trace/capture/session_processes.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/capture/stream_sums.h"
#include "cuda-trace/capture/yields.h"
#include "cuda-trace/attach/sample_switches.h"
#include "cuda-trace/attach/agent_files.h"
#include "cuda-trace/foreign/foreign_sandbox.h"
#include "cuda-trace/foreign/left_out.h"
#include "cuda-trace/proc/priority.h"
#include "cuda-trace/proc/process_tree.h"
#include "cuda-trace/yield/yield_gate.h"

#define LOOK_MS 50 /* how long an event may lie in the ring buffer unseen */
/* Likewise at first, when somebody waits to see anything at all. */
#define EAGER_LOOK_MS 10
#define EAGER_MS      1000
#define RESCAN_MS     1000
#define GONE_MS	      5000
/* Agents answer within 200 ms, unless CUPTI takes its time: it was seen to take seconds while
 * threads launch graphs flat out. Those that do not know the request send what they have every 100
 * ms. */
#define ANSWER_MS 1500
#define FLUSH_MS  150
/* Agents look four times a second; one that is silent after so many requests stays silent. */
#define HELLO_MS     300
#define MAX_HELLOS   4
#define LONGEST_TURN (4u << 20) /* bytes of the ring buffer between two looks at the clock, or */
#define TURN_MS	     50		/* this much time: an event may cost much more than its bytes */
#define TURN_EVENTS  16		/* so often that is looked at */

static int speak(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level == LIBBPF_DEBUG ? 0 : vfprintf(stderr, format, arguments);
}

static int keep_quiet(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return 0;
}

static int handle_event(void *context, void *data, size_t size)
{
	struct session *session = context;

	dispatcher__event(session->dispatcher, data, size);
	session->turn += size;
	/* libbpf reads on as long as programs write: come back to look at clock and signals. */
	if (session->turn >= LONGEST_TURN)
		return -EAGAIN;
	return ++session->turn_events % TURN_EVENTS || monotonic__ms() < session->turn_until
		       ? 0
		       : -EAGAIN;
}

static void begin_turn(struct session *session)
{
	session->turn = 0;
	session->turn_until = monotonic__ms() + TURN_MS;
}

static int load_less(struct session *session);

static int load(struct session *session)
{
	const struct session_options *options = &session->options;
	struct stream_bpf *skeleton = session->skeleton;
	int err;

	if (options->source == SESSION_DRIVER && driver_source__check())
		return -EOPNOTSUPP;
	err = session_filter__fill(options, (void *)&skeleton->rodata->settings);
	if (err)
		return err;
	attachments__prepare(skeleton->obj, options->groups);
	if (!options->pid)
		bpf_program__set_autoload(skeleton->progs.process_forks, false);
	if (!options->stacks) {
		bpf_program__set_autoload(skeleton->progs.stack, false);
		bpf_map__set_max_entries(skeleton->maps.codes, 1);
	}
	skeleton->rodata->stacks_are_timed = options->stacks_timed;
#if defined(__x86_64__)
	skeleton->rodata->stacks_are_copied = options->stacks_copied;
#endif
	skeleton->rodata->driver_all = options->source == SESSION_DRIVER;
	session->driver = driver_source__new(
		skeleton->obj, options->source != SESSION_AGENTS,
		&(struct driver_options){.comm = options->comm,
					 .uid = options->uid,
					 .each = session_filter__wants_links(options) &&
						 options->source == SESSION_AUTO,
					 .at_entry = options->launches_at_entry,
					 .verbose = options->verbose,
					 .left_out = &session->left_out});
	session->nccl = nccl_probes__new(skeleton->obj, options->collectives, options->verbose,
					 &session->left_out);
	session->loads = library_loads__new(
		skeleton->obj, session->driver && options->pid && !session->without_loads,
		options->verbose, &session->left_out);
	skeleton->rodata->loads_are_watched = session->loads != NULL;
	skeleton->rodata->loads_wait_for_mappings = options->stacks;
	bpf_map__set_max_entries(skeleton->maps.events,
				 session_filter__ring_bytes(&session->options));
	probe_link__prepare(skeleton->obj);
	err = object_load__skeleton(skeleton->skeleton);
	if (!err)
		err = probe_link__introduce(skeleton->obj);
	if (err &&
	    (session->loads || session->nccl ||
	     (session->driver && options->source != SESSION_DRIVER)) &&
	    !load_error__is_limit(err))
		return load_less(session);
	if (err)
		load_error__say("the eBPF program", err);
	return err;
}

/* A kernel may refuse some programs: first without those at the loader, then at the driver. */
static int load_less(struct session *session)
{
	if (session->options.verbose)
		fprintf(stderr, "cuda-trace: the kernel refuses %s\n",
			session->loads ? "probes that programs wait in"
				       : "probes of the driver and of NCCL");
	if (!session->loads)
		session->options.source = SESSION_AGENTS;
	session->options.collectives = false;
	nccl_probes__free(session->nccl);
	session->nccl = NULL;
	session->without_loads = true;
	driver_source__free(session->driver);
	library_loads__free(session->loads);
	session->driver = NULL;
	session->loads = NULL;
	stream_bpf__destroy(session->skeleton);
	session->skeleton = stream_bpf__open();
	return session->skeleton ? load(session) : -errno;
}

struct session *session__open(const struct session_options *options, const struct sink *sink)
{
	struct session *session;
	const char *debug = getenv("CUDA_TRACE_DEBUG");

	if (privileges__check())
		return NULL;
	priority__raise();
	libbpf_set_print(debug && *debug ? speak : keep_quiet);
	session = calloc(1, sizeof(*session));
	if (!session)
		return NULL;
	session->options = *options;
	session->observations = observations__new();
	session->dispatcher = dispatcher__new(sink, options->groups, session->observations);
	session->targets = session_processes__targets(session);
	session->skeleton = stream_bpf__open();
	if (!session->dispatcher || !session->observations || !session->targets ||
	    !session->skeleton) {
		fprintf(stderr, "cuda-trace: cannot open the eBPF program: %s\n", strerror(errno));
		goto failed;
	}
	if (load(session))
		goto failed;
	session->gate = yields__gate(options);
	session->attachments =
		attachments__new(session->skeleton->obj, options->groups, options->verbose);
	if (session->attachments && options->ranges_at_once)
		attachments__send_ranges_at_once(session->attachments);
	session->ring = ring_buffer__new(bpf_map__fd(session->skeleton->maps.events), handle_event,
					 session, NULL);
	session->starts = ring_buffer__new(bpf_map__fd(session->skeleton->maps.starts),
					   session_processes__handle_start, session, NULL);
	if (options->sample_on_ms)
		session->switches = sample_switches__new(
			session->skeleton->obj, options->sample_on_ms, options->sample_every_ms);
	if (!session->attachments || !session->ring || !session->starts ||
	    (options->sample_on_ms && !session->switches)) {
		fprintf(stderr, "cuda-trace: cannot open the ring buffer: %s\n", strerror(errno));
		goto failed;
	}
	foreign_sandbox__withhold_rings();
	return session;
failed:
	session__close(session);
	return NULL;
}

int session__add_pid(struct session *session, uint32_t pid)
{
	return tree__add(bpf_map__fd(session->skeleton->maps.pids), pid);
}

void session__on_file(struct session *session, const struct session_files *files)
{
	session->files = *files;
}

struct left_out *session__left_out(struct session *session)
{
	return &session->left_out;
}

int session__filter(const struct session *session, struct stream_settings *filter)
{
	*filter = *(const struct stream_settings *)&session->skeleton->rodata->settings;
	return bpf_map__fd(session->skeleton->maps.pids);
}

int session__interpreters(const struct session *session)
{
	return bpf_map__fd(session->skeleton->maps.interpreters);
}

int session__driver_pids(const struct session *session)
{
	return bpf_map__fd(session->skeleton->maps.driver_pids);
}

void session__set_driver(struct session *session, struct driver_source *driver)
{
	driver_source__free(session->driver);
	session->driver = driver;
}

const char *session__driver_launches(const struct session *session)
{
	return driver_source__launches(session->driver);
}

static int test_self(struct session *session)
{
	if (!link_check__by_process(&session->options, session->attachments, session->ring,
				    session->dispatcher))
		return link_check__by_file(session->attachments, session->ring,
					   session->dispatcher);
	session->agents = process_links__new(session->attachments, session->switches,
					     bpf_map__fd(session->skeleton->maps.linked),
					     session->options.verbose);
	return session->agents ? 0 : -ENOMEM;
}

static bool can_probe(void *context)
{
	struct session *session = context;

	return !attachments__add_selftest(session->attachments, getpid());
}

int session__attach(struct session *session)
{
	char agent[PATH_MAX];
	int err;

	err = attachments__add_program(session->attachments, "process_exits");
	if (!err)
		err = attachments__add_program(session->attachments, "process_execs");
	if (!err && session->options.pid)
		err = attachments__add_program(session->attachments, "process_forks");
	/* After the fork program, so that no child slips between the two. */
	if (!err && session->options.pid)
		err = session__add_pid(session, session->options.pid);
	if (!err)
		err = test_self(session);
	if (err)
		return err;
	/* Before anybody is listened to, who would wait meanwhile. */
	if (session_processes__attaches(session))
		privileges__lay_admin_aside();
	if (session->options.watches)
		privileges__reduce(can_probe, session);
	if (session->options.agent) {
		session_processes__listen_to_first(session, session->options.agent);
	} else if (!agent_files__agent_path(agent, true)) {
		/* Before the first file, whose processes are looked at then. */
		session_processes__prepare_injections(session, agent);
		session_processes__listen_to_first(session, agent);
	}
	if (session->loads)
		driver_source__try(session->driver);
	library_loads__prepare(session->loads);
	session->attached = monotonic__ns();
	agent_files__scan(session->targets);
	if (session->options.source == SESSION_DRIVER)
		driver_source__prepare(session->driver);
	if (session->driver)
		driver_source__prune(session->driver);
	/* A process that reads a file for a thread that waits inherits the links that are being
	 * closed, and cannot end before that thread goes on. */
	if (session->loads) {
		driver_source__end_trial(session->driver);
		link_closer__wait();
		session_processes__let_wait(session, true);
	}
	/* At once, where libcuda may have been loaded between the scan and the wait. */
	session->next_rescan = monotonic__ms() + (session->loads ? 0 : RESCAN_MS);
	session->next_hello = monotonic__ms() + HELLO_MS;
	session->eager_until = monotonic__ms() + EAGER_MS;
	if (attachments__places(session->attachments) || session->driver ||
	    (session->agents && process_links__files(session->agents)))
		return 0;
	fprintf(stderr, "cuda-trace: no %s found, neither installed nor in a running process\n",
		CUDA_AGENT_NAME);
	return -ENOENT;
}

int session__wait(const struct session *session, int timeout_ms)
{
	struct pollfd rings[] = {
		{.fd = ring_buffer__epoll_fd(session->starts), .events = POLLIN},
		{.fd = ring_buffer__epoll_fd(session->ring), .events = POLLIN},
	};

	return poll(rings, 2, timeout_ms) < 0 && errno == EINTR ? -EINTR : 0;
}

/* One turn; 0, or -EINTR. */
static int look(struct session *session, int timeout_ms)
{
	begin_turn(session);
	if (session__wait(session, timeout_ms))
		return -EINTR;
	ring_buffer__consume(session->starts);
	/* The programs wake us rarely: what lies there since must be fetched by ourselves. */
	ring_buffer__consume(session->ring);
	return 0;
}

int session__set_cycle(struct session *session, uint32_t on_ms, uint32_t every_ms)
{
	return session->switches ? sample_switches__set(session->switches, on_ms, every_ms)
				 : -EINVAL;
}

void session__say_hello(struct session *session)
{
	attachments__say_hello(session->attachments);
}

static void note_nameless(void *context, struct process *process)
{
	*(bool *)context |= !process->status.version && process->source != EVENT_SOURCE_DRIVER;
}

/* Another tool may hold the same hello: then agents did not notice that we came. */
static void ask_again(struct session *session, uint64_t now)
{
	struct session_lost_counts lost;
	bool nameless = false;

	if (now < session->next_hello || session->hellos >= MAX_HELLOS)
		return;
	session->next_hello = now + HELLO_MS;
	session__each_process(session, note_nameless, &nameless);
	session__lost(session, &lost);
	if (lost.session[SESSION_LOST_RING_FULL_NAMES] > session->names_lost)
		nameless = true;
	session->names_lost = lost.session[SESSION_LOST_RING_FULL_NAMES];
	if (!nameless)
		return;
	session->hellos++;
	session__say_hello(session);
}

int session__poll(struct session *session, int timeout_ms)
{
	uint64_t now = monotonic__ms(), until = now + (timeout_ms > 0 ? timeout_ms : 0);

	do {
		uint64_t left = until > now ? until - now : 0;
		uint64_t most = now < session->eager_until ? EAGER_LOOK_MS : LOOK_MS;
		int err = look(session, left < most ? left : most);

		dispatcher__report_ends(session->dispatcher);
		if (session->injections && !session->finished)
			injections__poll(session->injections);
		if (err)
			return err;
		session__each_process(session, session_processes__look_at_status, session);
		session_processes__look_again(session);
		now = monotonic__ms();
		if (now >= session->next_rescan && !session->finished) {
			agent_files__scan(session->targets);
			if (session->driver)
				driver_source__prune(session->driver);
			nccl_probes__prune(session->nccl);
			if (session->agents)
				process_links__prune(session->agents);
			session->next_rescan = monotonic__ms() + RESCAN_MS;
		}
		if (now >= session->next_gone && !session->finished) {
			dispatcher__end_gone(session->dispatcher);
			session->next_gone = monotonic__ms() + GONE_MS;
		}
		ask_again(session, now);
		/* Something came: the caller may want to show it. */
		if (session->turn)
			break;
	} while (now < until);
	return 0;
}

static void drain(struct session *session)
{
	/* Bounded, should a program go on writing faster than we read. */
	uint64_t until = monotonic__ms() + 2000;

	do {
		begin_turn(session);
		ring_buffer__consume(session->ring);
	} while (session->turn && monotonic__ms() < until);
}

void session__finish(struct session *session)
{
	uint64_t until = monotonic__ms();

	if (session->finished)
		return;
	/* Processes that began before. */
	ring_buffer__consume(session->starts);
	session->finished = true;
	session_processes__finish(session);
	session_losses__note_missed(session);
	dispatcher__close_window(session->dispatcher, monotonic__ns());
	drain(session);
	if (dispatcher__running(session->dispatcher))
		until += attachments__request_flush(session->attachments) ? FLUSH_MS : ANSWER_MS;
	while (dispatcher__running(session->dispatcher) && monotonic__ms() < until &&
	       !dispatcher__has_all(session->dispatcher))
		look(session, 20);
	drain(session);
	dispatcher__end_all(session->dispatcher);
	/* What the command does now may take long: recordings are written, lines are looked for. */
	attachments__drop_batches(session->attachments);
	session__say_unobserved(session, stderr);
}

void session__each_process(struct session *session,
			   void (*handle)(void *context, struct process *process), void *context)
{
	dispatcher__each(session->dispatcher, handle, context);
}

void session__set_stack_period(struct session *session, uint32_t period)
{
	attachments__set_stack_period(session->attachments, period);
}

uint64_t session__stack_ns(const struct session *session)
{
	struct stream_counters sum;

	stream_sums__read(bpf_map__fd(session->skeleton->maps.counters), &sum);
	return sum.stacks ? sum.stack_ns / sum.stacks : 0;
}

void session__close(struct session *session)
{
	if (!session)
		return;
	/* The kernel takes its time: first what costs the programs something. It closes no link
	 * while a thread waits. */
	session_processes__let_wait(session, false);
	attachments__drop_batches(session->attachments);
	host_cupti__free(session->host_cupti);
	yield_gate__free(session->gate);
	sample_switches__free(session->switches);
	attachments__free(session->attachments);
	process_links__free(session->agents);
	driver_source__free(session->driver);
	nccl_probes__free(session->nccl);
	library_loads__free(session->loads);
	injections__free(session->injections);
	link_closer__wait();
	ring_buffer__free(session->ring);
	ring_buffer__free(session->starts);
	stream_bpf__destroy(session->skeleton);
	agent_files__free(session->targets);
	left_out__free(&session->left_out);
	dispatcher__free(session->dispatcher);
	observations__free(session->observations);
	free(session);
}
