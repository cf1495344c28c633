// SPDX-License-Identifier: BSD-2-Clause
/* Called by session.c. */
#include "cuda-trace/capture/session_processes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include "bpf/event.h"
#include "bpf/stream.skel.h"
#include "cuda-trace/attach/agent_files.h"
#include "cuda-trace/attach/attachments.h"
#include "cuda-trace/attach/probe_link.h"
#include "cuda-trace/attach/process_links.h"
#include "cuda-trace/attach/sample_switches.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/capture/descendants.h"
#include "cuda-trace/capture/dispatcher.h"
#include "cuda-trace/capture/observations.h"
#include "cuda-trace/capture/session_filter.h"
#include "cuda-trace/capture/session_parts.h"
#include "cuda-trace/capture/yields.h"
#include "cuda-trace/driver/driver_source.h"
#include "cuda-trace/driver/library_loads.h"
#include "cuda-trace/driver/nccl_probes.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/inject/host_cupti.h"
#include "cuda-trace/inject/injection.h"
#include "cuda-trace/inject/injections.h"
#include "cuda-trace/proc/affinity.h"
#include "cuda-trace/proc/injection_variable.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/proc/process_stat.h"
#include "cuda-trace/yield/yield_gate.h"

/* A thread waits so long for an injection to begin, which takes some 50 ms on an idle machine. */
#define ARM_MS 1700

static void watch_file(void *context, const char *path)
{
	struct session *session = context;
	const struct probe_place place = {.path = path};

	if (session->options.source == SESSION_DRIVER)
		return;
	yield_gate__add_file(session->gate, path);
	if (session->agents) {
		process_links__add_file(session->agents, path);
		return;
	}
	if (session->switches && sample_switches__add(session->switches, path, 0, 0))
		fprintf(stderr, "cuda-trace: an older injection library cannot sample: there is no "
				"GPU data from its processes\n");
	if (!attachments__add(session->attachments, &place, 0) && session->files.found)
		session->files.found(session->files.context, path);
}

static void release_file(void *context, const char *path)
{
	struct session *session = context;
	char shown[256];

	if (session->options.verbose)
		fprintf(stderr, "cuda-trace: no process maps %s any more: detached from it\n",
			foreign_file__show(path, shown, sizeof(shown)));
	if (session->files.gone)
		session->files.gone(session->files.context, path);
	if (session->agents)
		process_links__drop_file(session->agents, path);
	if (session->switches)
		sample_switches__drop_file(session->switches, path);
	yield_gate__drop_file(session->gate, path);
	attachments__drop_file(session->attachments, path);
}

/* A call that a thread begins while the agent is loaded would count twice if the driver source saw
 * it, too: at its entry, where the thread is stopped, and in the agent once it goes on. */
static bool start_injection(struct session *session, uint32_t pid, enum injection_need need)
{
	/* Its threads do not wait while that is searched for. */
	host_cupti__prepare(session->host_cupti, pid);
	if (!injections__start(session->injections, pid, need))
		return false;
	if (driver_source__leave(session->driver, pid))
		observations__note_late(session->observations, pid, LATE_AS_MEANT);
	return true;
}

/* Its loader or its cuInit() will report it: that is the moment to attach. */
static bool is_expected(struct session *session, uint32_t pid)
{
	return library_loads__expects(session->loads, pid) ||
	       (library_loads__may_report(session->loads, pid) &&
		session_filter__passes(&session->options, pid) &&
		library_loads__note_mapped(session->loads, pid));
}

/* Its agent is not there yet. While it starts, the process waits. */
static void listen_before(struct session *session, uint32_t pid, const char *agent)
{
	const char *path = agent_files__add_named(session->targets, agent);

	if (path && session->agents)
		process_links__add_process(session->agents, pid, path);
}

/* True: the agent is or will be loaded into the process, which is listened to before. If that
 * cannot be done, the driver source is what there is. */
static bool attach_to(struct session *session, uint32_t pid, const char *agent)
{
	if (!session->injections)
		return false;
	if (injections__includes(session->injections, pid))
		return true;
	if (!injections__wants(session->injections, pid) ||
	    (agent && dispatcher__knows(session->dispatcher, pid)) ||
	    !session_filter__passes(&session->options, pid))
		return false;
	/* Again, as it may have been mapped just now. */
	if (!agent && is_expected(session, pid))
		return true;
	library_loads__note_running(session->loads, pid);
	if (!agent)
		listen_before(session, pid, injections__agent(session->injections));
	return start_injection(session, pid, agent ? INJECTION_WAKES : INJECTION_LOADS);
}

/* From now on, unless it was earlier: the probes of a file come before those of its processes. */
static void note_observed(struct session *session, uint32_t pid, const char *agent)
{
	bool by_file = !session->agents && session->options.source != SESSION_DRIVER;
	uint64_t since = agent_files__since(session->targets, agent);

	observations__note(session->observations, pid, by_file ? since : monotonic__ns());
}

static void note_reason(struct session *session, uint32_t pid)
{
	if (session->options.source != SESSION_DRIVER)
		observations__note_reason(session->observations, pid,
					  injection_variable__reason(injection_variable__of(pid)));
}

/* Started while the tool watched, which should have stopped it where it loaded libcuda. */
static bool started_here(const struct session *session, uint32_t pid)
{
	return session->loads &&
	       (pid == session->options.pid ? session->options.held
					    : process_stat__start_ns(pid) >= session->attached);
}

/* The driver source sees it from now on. Of one that waits in cuInit(), or has not called it, that
 * is everything. */
static void took_over(struct session *session, uint32_t pid)
{
	observations__found(session->observations, pid);
	if (library_loads__waits(session->loads, pid) || is_expected(session, pid))
		return;
	library_loads__note_running(session->loads, pid);
	if (session->options.source == SESSION_DRIVER)
		observations__note(session->observations, pid, monotonic__ns());
	else
		observations__note_late(session->observations, pid,
					started_here(session, pid) ? LATE_LOST : LATE_AS_MEANT);
}

static void change_source(struct session *session, uint32_t pid, bool force)
{
	if (!session->driver || !driver_source__look(session->driver, pid, force))
		return;
	took_over(session, pid);
	note_reason(session, pid);
}

/* It uses libcuda, and no agent of it works: without probes, nothing of it is seen. */
static void check_probes(struct session *session, uint32_t pid)
{
	struct inspection seen;

	if (session->driver && !driver_source__watches(session->driver, pid) &&
	    !injections__includes(session->injections, pid) && !process_maps__process(pid, &seen) &&
	    seen.cuda)
		observations__miss(session->observations, pid, UNOBSERVED_UNPROBED);
}

/* False: what the agent of this process reports does not arrive. */
static bool check_agent(struct session *session, uint32_t pid)
{
	if (!session->agents || process_links__reach(session->agents, pid))
		return true;
	observations__miss(session->observations, pid,
			   process_stat__has_ended(pid) ? UNOBSERVED_ENDED_FIRST
							: UNOBSERVED_UNATTACHED);
	return false;
}

static void look_at_process(void *context, uint32_t pid, const char *agent)
{
	struct session *session = context;

	if (!descendants__include(session, pid))
		return;
	/* Before the process goes on, and makes communicators. */
	nccl_probes__look(session->nccl, pid);
	if (session->agents && agent)
		process_links__add_process(session->agents, pid, agent);
	/* Its agent comes in cuInit(), or nothing does: that will be seen. */
	if (!agent && session->options.source != SESSION_DRIVER && is_expected(session, pid))
		return;
	/* An agent that sleeps, or is still to be loaded, has reported nothing yet. */
	if (attach_to(session, pid, agent)) {
		observations__note(session->observations, pid, monotonic__ns());
		return;
	}
	if (agent && check_agent(session, pid))
		note_observed(session, pid, agent);
	if (agent && !session->skeleton->bss->load_waiters_max)
		library_loads__note_running(session->loads, pid);
	change_source(session, pid, session->options.source == SESSION_DRIVER);
}

struct targets *session_processes__targets(struct session *session)
{
	session->host_cupti = host_cupti__new(session->options.verbose);
	return agent_files__new(&(struct targets_sink){.context = session,
						       .found = watch_file,
						       .gone = release_file,
						       .look = look_at_process},
				&session->left_out);
}

void session_processes__look_at_status(void *context, struct process *process)
{
	struct session *session = context;
	const struct cuda_status *status = &process->status;

	if (process_links__note_begin(session->agents, process->pid, status))
		observations__note_late(session->observations, process->pid, LATE_LOST);
	if (agent_state__works(status))
		observations__found(session->observations, process->pid);
	yields__look(session->gate, process);
	if (session->injections && agent_state__is_unprimed(status) &&
	    !injections__tried(session->injections, process->pid))
		start_injection(session, process->pid, INJECTION_PRIMES);
	if (process->source == EVENT_SOURCE_DRIVER && !process->driver_noted && !process->yields &&
	    status->state != CUDA_STATE_YIELDED) {
		driver_source__note_use(session->driver);
		process->driver_noted = true;
	}
	if (session->driver && agent_state__wants_driver(status) &&
	    !injections__includes(session->injections, process->pid)) {
		/* The driver source goes on where the agent stops: what it reported counts. */
		if (status->state == CUDA_STATE_YIELDED || status->reason == CUDA_INERT_FATAL)
			driver_source__look(session->driver, process->pid, true);
		else
			change_source(session, process->pid, true);
		check_probes(session, process->pid);
	} else if (agent_state__works(status)) {
		driver_source__leave(session->driver, process->pid);
	}
}

/* The process goes on. If it has not waited for that, it was not observed until now, unless the
 * probes were there before. True: nothing of it is missing so far. */
static bool release(struct session *session, const struct event_start *event, bool was_probed)
{
	double waited = (monotonic__ns() - event->time) / 1e6;
	bool has_waited = library_loads__answer(session->loads, event->pid);

	if (has_waited || was_probed)
		observations__note_whole(session->observations, event->pid);
	else if (process_stat__has_ended(event->pid) &&
		 !dispatcher__knows(session->dispatcher, event->pid))
		observations__miss(session->observations, event->pid, UNOBSERVED_ENDED_FIRST);
	else
		observations__note_late(session->observations, event->pid, LATE_LOST);
	if (session->options.verbose)
		fprintf(stderr, "cuda-trace: process %u %s %.1f ms %s\n", event->pid,
			has_waited ? "waited" : "did not wait", waited,
			event->kind == START_LIBCUDA ? "where it loaded libcuda" : "in cuInit()");
	return has_waited || was_probed;
}

/* Its probes are put into the file before it goes on, as it may end at once. The driver source
 * takes every process over; else cuInit() decides, or, where that cannot be probed, the driver
 * source serves until an agent reports itself. */
static void loaded_libcuda(struct session *session, const struct event_start *event)
{
	enum library_probe probe = library_loads__note_library(session->loads, event->pid);
	bool all = session->options.source == SESSION_DRIVER, is_watched = false, is_whole;

	nccl_probes__look(session->nccl, event->pid);
	if (all)
		driver_source__leave(session->driver, event->pid);
	if (all || probe == LIBRARY_UNPROBED)
		is_watched = driver_source__look_waiting(session->driver, event->pid, all);
	is_whole = release(session, event, probe == LIBRARY_WAS_PROBED);
	if (all || probe == LIBRARY_UNPROBED) {
		if (!is_watched)
			observations__note_late(session->observations, event->pid, LATE_LOST);
		check_probes(session, event->pid);
	} else if (!is_whole) {
		/* Its cuInit() may have returned before that was probed. */
		library_loads__abandon(session->loads, event->pid);
		agent_files__look(session->targets, event->pid);
	}
}

/* True: the agent is being loaded into a process whose thread waits. It goes on when all threads
 * stop where they enter libcuda, so that it makes no call before the agent is there. */
static bool attach_waiting(struct session *session, uint32_t pid)
{
	const struct timespec pause = {.tv_nsec = 200000};
	uint64_t until = monotonic__ms() + ARM_MS;
	struct inspection seen;

	if (process_maps__process(pid, &seen) || seen.agent || !attach_to(session, pid, NULL))
		return false;
	session->waiting = pid;
	while (injections__includes(session->injections, pid) &&
	       !injections__is_armed(session->injections, pid) && monotonic__ms() < until) {
		nanosleep(&pause, NULL);
		injections__poll(session->injections);
	}
	session->waiting = 0;
	return injections__includes(session->injections, pid);
}

/* Its agent has been attached to, and reports soon. */
static bool has_agent(const struct session *session, uint32_t pid)
{
	struct inspection seen;

	return session->options.source != SESSION_DRIVER && session->agents &&
	       !process_maps__process(pid, &seen) && seen.agent && !seen.asleep &&
	       process_links__reach(session->agents, pid);
}

/* A process without an agent gets one, or its driver's entry points are watched. */
static void initialized(struct session *session, const struct event_start *event)
{
	uint32_t pid = event->pid;
	bool attaches;

	/* Its agent may have reported that it cannot work. */
	ring_buffer__consume(session->ring);
	session__each_process(session, session_processes__look_at_status, session);
	if (dispatcher__knows(session->dispatcher, pid) || has_agent(session, pid)) {
		library_loads__answer(session->loads, pid);
		return;
	}
	/* Whatever was missed when it loaded libcuda: it has made no call so far. */
	if (session->options.source != SESSION_DRIVER && library_loads__waits(session->loads, pid))
		observations__note_anew(session->observations, pid);
	attaches = attach_waiting(session, pid);
	if (!attaches && session->driver &&
	    driver_source__look_waiting(session->driver, pid,
					session->options.source == SESSION_DRIVER))
		note_reason(session, pid);
	release(session, event, false);
	if (attaches && !injections__is_armed(session->injections, pid))
		observations__note_late(session->observations, pid, LATE_LOST);
	check_probes(session, pid);
	agent_files__look(session->targets, pid);
}

static void answer_waiting(struct session *session, const struct event_start *event)
{
	affinity__leave(event->cpu);
	(event->kind == START_LIBCUDA ? loaded_libcuda : initialized)(session, event);
	affinity__restore();
}

/* True: the event is about a load of libcuda. */
static bool handle_load(struct session *session, const struct event_start *event)
{
	switch (event->kind) {
	case START_EXEC:
		library_loads__note_exec(session->loads, event->pid);
		return true;
	case START_LIBCUDA:
	case START_INITIALIZED:
		if (!session->finished)
			answer_waiting(session, event);
		return true;
	case START_CUPTI_WANTED:
		if (host_cupti__offer(session->host_cupti, event))
			yield_gate__know(session->gate, host_cupti__file(session->host_cupti));
		return true;
	case START_OTHER:
		if (session->options.held)
			observations__miss(session->observations, event->pid,
					   UNOBSERVED_NOT_STARTED);
		return true;
	default:
		return false;
	}
}

/* Its agent is loaded, and waits for a moment. */
static void found_agent(struct session *session, const struct event_start *event)
{
	uint32_t pid = event->pid;
	bool is_injected = injections__is_trying(session->injections, pid);
	bool runs = is_injected && !started_here(session, pid);

	process_links__expect(session->agents);
	driver_source__leave(session->driver, pid);
	observations__found(session->observations, pid);
	agent_files__look(session->targets, pid);
	/* Whoever found it before: in its cuInit(), it has made no call so far. */
	if (!is_injected)
		observations__note_anew(session->observations, pid);
	if (process_links__note_time(session->agents, event, runs))
		observations__note_late(session->observations, pid,
					runs ? LATE_AS_MEANT : LATE_LOST);
	check_agent(session, pid);
}

int session_processes__handle_start(void *context, void *data, size_t size)
{
	struct session *session = context;
	const struct event_start *event = data;

	library_loads__note_report(session->loads, event->pid);
	if (handle_load(session, event) || session->finished)
		return 0;
	/* Best before it makes communicators: the process does not wait for us. */
	if (event->kind == START_AGENT && session->nccl &&
	    descendants__include(session, event->pid))
		nccl_probes__look(session->nccl, event->pid);
	if (session->agents && event->kind == START_WITHOUT_FIRST)
		process_links__lost_first(session->agents, event->pid);
	else if (session->agents)
		found_agent(session, event);
	return 0;
}

void session_processes__listen_to_first(struct session *session, const char *agent)
{
	if (session->options.held)
		listen_before(session, session->options.pid, agent);
	else
		agent_files__add_named(session->targets, agent);
}

/* The process made no call between its start, or since when it was observed, and now. One that has
 * loaded the agent by itself waited in cuInit(); if not for long enough, its status says so. */
static bool attached_without_gap(const struct session *session, uint32_t pid,
				 const struct injection_result *result)
{
	if (result->started || dispatcher__knows(session->dispatcher, pid))
		return true;
	return result->error ? pid == session->waiting : result->attempts == 1 && !result->met;
}

static void attach_ended(void *context, uint32_t pid, const struct injection_result *result)
{
	struct session *session = context;

	injections__report(session->injections, pid, result);
	if (session->finished)
		return;
	/* A copy in the process's memory is a file that nobody knows of yet. */
	agent_files__look(session->targets, pid);
	/* Not where the agent may still come, by itself or by the process that traces this one:
	 * what both sources report would count twice. */
	if (result->error && result->error != -ETIMEDOUT && result->error != -EBUSY &&
	    result->error != -EALREADY) {
		change_source(session, pid, true);
		check_probes(session, pid);
	}
	observations__note_attached(session->observations, pid,
				    attached_without_gap(session, pid, result));
}

bool session_processes__attaches(const struct session *session)
{
	return session->options.attach && session->options.source != SESSION_DRIVER;
}

void session_processes__prepare_injections(struct session *session, const char *agent)
{
	if (session_processes__attaches(session))
		session->injections =
			injections__new(agent, session->options.attach == SESSION_ATTACH_ALL,
					session->options.verbose, attach_ended, session);
}

void session_processes__let_wait(struct session *session, bool wait)
{
	if (session->skeleton)
		session->skeleton->bss->load_waiters_max =
			library_loads__let_wait(session->loads, wait);
}

void session_processes__look_again(struct session *session)
{
	uint32_t pid;

	while ((pid = library_loads__next_unreported(session->loads))) {
		if (!session->finished)
			agent_files__look(session->targets, pid);
		if (driver_source__watches(session->driver, pid))
			took_over(session, pid);
		else if (dispatcher__knows(session->dispatcher, pid))
			continue;
		else if (process_stat__has_ended(pid))
			observations__miss(session->observations, pid, UNOBSERVED_ENDED_FIRST);
		else if (session->finished)
			observations__note_late(session->observations, pid, LATE_LOST);
	}
}

void session_processes__finish(struct session *session)
{
	session_processes__let_wait(session, false);
	session_processes__look_again(session);
}
