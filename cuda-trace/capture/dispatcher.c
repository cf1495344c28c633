// SPDX-License-Identifier: BSD-2-Clause
/* Called by the session for each event, on the tool's one thread. The path of a batch allocates
 * nothing and looks nothing up but the process. */
#include "libcupti-usdt/agent_memory.h"
#include "cuda-trace/capture/dispatcher.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/capture/driver_names.h"
#include "cuda-trace/capture/launch_window.h"
#include "cuda-trace/base/names.h"
#include "cuda-trace/capture/loss_sums.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/capture/observations.h"
#include "cuda-trace/capture/record_sizes.h"
#include "cuda-trace/capture/record_times.h"
#include "cuda-trace/proc/process_stat.h"

#define BUCKETS 1024
/* An exec or an end comes between two loads of one pid, unless the ring buffer was full. */
#define MAX_REPLACED 64
#define MAX_UNSENT   (CUDA_LEDGER_RINGS * 1024ull)

struct dispatcher {
	struct sink sink;
	struct observations *observations;
	struct process *buckets[BUCKETS];
	struct process *latest; /* most batches come from the process of the one before */
	struct process *ends;	/* to be reported */
	struct launch_window *window;
	unsigned int running;
	bool selftest_came;
	struct loss_sums lost; /* of processes that are gone */
	uint64_t yields;
};

static void hand_on(void *context, struct process *process, const struct cuda_record *record)
{
	struct dispatcher *dispatcher = context;

	dispatcher->sink.record(dispatcher->sink.context, process, record);
}

struct dispatcher *dispatcher__new(const struct sink *sink, uint32_t groups,
				   struct observations *observations)
{
	struct dispatcher *dispatcher = calloc(1, sizeof(*dispatcher));

	if (!dispatcher)
		return NULL;
	dispatcher->sink = *sink;
	dispatcher->observations = observations;
	dispatcher->window =
		launch_window__new(groups >> CUDA_GROUP_LAUNCH & 1, hand_on, dispatcher);
	if (dispatcher->window)
		return dispatcher;
	free(dispatcher);
	return NULL;
}

static struct process **bucket(struct dispatcher *dispatcher, uint32_t pid)
{
	return &dispatcher->buckets[pid % BUCKETS];
}

static void end_process(struct dispatcher *dispatcher, struct process *process)
{
	struct process **link = bucket(dispatcher, process->pid);

	while (*link != process)
		link = &(*link)->next_in_bucket;
	*link = process->next_in_bucket;
	if (dispatcher->latest == process)
		dispatcher->latest = NULL;
	launch_window__finish(dispatcher->window, process);
	dispatcher->running--;
	process->ended = true;
	observations__end(dispatcher->observations, process);
	process->next_in_bucket = dispatcher->ends;
	dispatcher->ends = process;
	if (!dispatcher->sink.ends_last)
		dispatcher__report_ends(dispatcher);
}

void dispatcher__report_ends(struct dispatcher *dispatcher)
{
	while (dispatcher->ends) {
		struct process *process = dispatcher->ends;

		dispatcher->ends = process->next_in_bucket;
		if (dispatcher->sink.process_end)
			dispatcher->sink.process_end(dispatcher->sink.context, process);
		/* Last, as a sink may only find now that a name is missing. */
		loss_sums__add(&dispatcher->lost, process);
		process__free(process);
	}
}

static struct process *find(struct dispatcher *dispatcher, uint32_t pid)
{
	struct process *process = dispatcher->latest;

	if (process && process->pid == pid)
		return process;
	for (process = *bucket(dispatcher, pid); process; process = process->next_in_bucket)
		if (process->pid == pid)
			return dispatcher->latest = process;
	return NULL;
}

bool dispatcher__knows(struct dispatcher *dispatcher, uint32_t pid)
{
	for (struct process *process = dispatcher->ends; process; process = process->next_in_bucket)
		if (process->pid == pid)
			return true;
	return find(dispatcher, pid);
}

static struct process *start_process(struct dispatcher *dispatcher, const struct event *event)
{
	struct process *process = process__new(event->pid, event->instance);

	if (!process)
		return NULL;
	process->uid = event->uid;
	process->source = event->source;
	process->cgroup = event->cgroup;
	memcpy(process->comm, event->comm, sizeof(process->comm));
	process->comm[EVENT_COMM_LEN - 1] = 0;
	rank__of_process(&process->rank, event->pid);
	process->next_in_bucket = *bucket(dispatcher, event->pid);
	*bucket(dispatcher, event->pid) = process;
	dispatcher->running++;
	dispatcher->latest = process;
	if (dispatcher->sink.process_start)
		dispatcher->sink.process_start(dispatcher->sink.context, process);
	return process;
}

/* An exec in between gives another instance: that is another process here. NULL: no memory, or a
 * process that changes its instance again and again, which would cost more than its records. */
static struct process *process_of(struct dispatcher *dispatcher, const struct event *event)
{
	struct process *process = find(dispatcher, event->pid);
	unsigned int replaced = 0;

	/* From both sources: its agent is there, but does not work. */
	if (process && event->source == EVENT_SOURCE_DRIVER)
		process->source = EVENT_SOURCE_DRIVER;
	if (process &&
	    (process->instance == event->instance || event->source == EVENT_SOURCE_DRIVER))
		return process;
	if (process && process->instance == DRIVER_INSTANCE) {
		process->instance = event->instance;
		return process;
	}
	if (process) {
		replaced = process->replaced + 1;
		if (replaced > MAX_REPLACED)
			return NULL;
		end_process(dispatcher, process);
	}
	process = start_process(dispatcher, event);
	if (process)
		process->replaced = replaced;
	return process;
}

static void deliver(struct dispatcher *dispatcher, struct process *process,
		    const struct cuda_record *record, uint64_t latest)
{
	if (record_times__are_possible(record, latest))
		launch_window__take(dispatcher->window, process, record);
	else
		dispatcher->lost.malformed++;
}

static void deliver_short(struct dispatcher *dispatcher, struct process *process,
			  const struct cuda_record *record, size_t known, uint64_t latest)
{
	_Alignas(8) char whole[256] = {};

	if (known > sizeof(whole))
		return;
	memcpy(whole, record, record->size);
	deliver(dispatcher, process, (const struct cuda_record *)whole, latest);
}

/* Agents report their devices repeatedly, like names; what CUPTI reports of them beside that
 * may come before the device's name has. */
static bool is_known_or_nameless(struct process *process, const struct cuda_record *record)
{
	const struct cuda_device *device = (const void *)record;
	uint32_t bit;
	bool reported;

	if (record->size < sizeof(*device))
		return false;
	if (process->group == CUDA_GROUP_OBJECT && device->name &&
	    !process__name(process, device->name))
		return true;
	bit = 1u << (device->device & 31);
	reported = process->devices_reported & bit;
	process->devices_reported |= bit;
	return reported;
}

static void handle_batch(struct dispatcher *dispatcher, const struct event *event)
{
	struct process *process = process_of(dispatcher, event);
	uint64_t latest = record_times__latest();
	struct driver_names_capacity capacity;
	uint32_t at = 0, came = 0;

	if (!process || event->group >= CUDA_GROUP_COUNT) {
		dispatcher->lost.malformed += event->count;
		return;
	}
	process->group = event->group;
	while (at + sizeof(struct cuda_record) <= event->bytes) {
		const struct cuda_record *record = (const void *)(event->data + at);
		size_t known;

		/* A size of 0 would never end, an odd one would misalign what follows. */
		if (record->size < sizeof(*record) || record->size % 8 ||
		    record->size > event->bytes - at)
			break;
		at += record->size;
		came++;
		known = record_sizes__known(record->kind);
		if (!known ||
		    (record->kind == CUDA_RECORD_DEVICE && is_known_or_nameless(process, record)))
			continue;
		if (event->source == EVENT_SOURCE_DRIVER)
			record = driver_names__translate(process, record, &capacity);
		if (record->size < known)
			deliver_short(dispatcher, process, record, known, latest);
		else
			deliver(dispatcher, process, record, latest);
	}
	/* Counting what does not fit as received keeps a fault from being counted twice. */
	if (came < event->count)
		dispatcher->lost.malformed += event->count - came;
	if (event->first == EVENT_UNNUMBERED)
		return;
	loss_sums__note_numbers(process, event->group, event->first, event->count);
}

static void handle_status(struct dispatcher *dispatcher, const struct event *event)
{
	struct cuda_status status = {};
	struct event whose = *event;
	struct process *process;
	size_t size = event->bytes < sizeof(status) ? event->bytes : sizeof(status);

	if (size < offsetof(struct cuda_status, emitted)) {
		dispatcher->lost.malformed++;
		return;
	}
	memcpy(&status, event->data, size);
	status.cupti_path[sizeof(status.cupti_path) - 1] = 0;
	status.holder[sizeof(status.holder) - 1] = 0;
	status.message[sizeof(status.message) - 1] = 0;
	status.search[sizeof(status.search) - 1] = 0;
	whose.instance = status.instance;
	process = process_of(dispatcher, &whose);
	if (!process)
		return;
	dispatcher->yields += process__set_status(process, &status);
	/* What had not ended when the session did, unless the program ended as well. */
	if (launch_window__end(dispatcher->window) && status.state != CUDA_STATE_ENDED)
		process->lost_known[CUDA_LOST_UNFINISHED] = status.lost[CUDA_LOST_UNFINISHED];
	loss_sums__note_status(process);
	/* It was seen at libcuda's entry points until its agent was there. */
	if (agent_state__works(&status))
		process->source = EVENT_SOURCE_AGENT;
	if (status.state == CUDA_STATE_ENDED)
		process->ended = true;
	if (dispatcher->sink.process_status)
		dispatcher->sink.process_status(dispatcher->sink.context, process);
}

static void handle_lost(struct dispatcher *dispatcher, const struct event *event)
{
	struct process *process = process_of(dispatcher, event);

	/* What had not ended by the end is no loss of the time before it. */
	if (launch_window__end(dispatcher->window) && event->group == CUDA_LOST_UNFINISHED)
		return;
	if (process)
		loss_sums__note(process, event->group, event->count, event->first);
}

static void handle_error(struct dispatcher *dispatcher, const struct event *event)
{
	struct process *process = process_of(dispatcher, event);
	char component[ERROR_COMPONENT_LEN], message[ERROR_MESSAGE_LEN];

	if (!process || event->bytes < sizeof(component) + sizeof(message) ||
	    !dispatcher->sink.process_error)
		return;
	memcpy(component, event->data, sizeof(component));
	memcpy(message, event->data + sizeof(component), sizeof(message));
	component[sizeof(component) - 1] = 0;
	message[sizeof(message) - 1] = 0;
	dispatcher->sink.process_error(dispatcher->sink.context, process, (int32_t)event->group,
				       component, message);
}

static void handle_exit(struct dispatcher *dispatcher, const struct event *event)
{
	struct process *process = find(dispatcher, event->pid);

	if (!process)
		return;
	/* What the driver source sees is not kept back anywhere. */
	if (process->status.state != CUDA_STATE_ENDED && process->source != EVENT_SOURCE_DRIVER)
		process->killed = process->status.state != CUDA_STATE_INERT;
	dispatcher->lost.killed += process->killed;
	/* More than all of its rings hold is a lie. */
	if (process->killed && event->first <= MAX_UNSENT)
		process->unsent = event->first;
	dispatcher->lost.unsent += process->unsent;
	if (event->group == EVENT_EXIT_END)
		process->exit_status = event->count;
	end_process(dispatcher, process);
}

static void handle_stack(struct dispatcher *dispatcher, const struct event *event)
{
	struct process *process;

	if (event->kind == EVENT_STACK	      ? !record_sizes__are_of_stack(event)
	    : event->kind == EVENT_STACK_COPY ? !record_sizes__are_of_stack_copy(event)
					      : !record_sizes__are_of_code(event)) {
		dispatcher->lost.malformed++;
		return;
	}
	process = process_of(dispatcher, event);
	if (process && dispatcher->sink.stack)
		dispatcher->sink.stack(dispatcher->sink.context, process, event);
}

/* From NCCL's functions, whatever the source of the process: no instance of an agent. */
static void handle_collective(struct dispatcher *dispatcher, const struct event *event)
{
	struct process *process = find(dispatcher, event->pid);
	uint64_t end = launch_window__end(dispatcher->window);

	if (event->bytes < sizeof(struct event_collective)) {
		dispatcher->lost.malformed++;
		return;
	}
	/* Its kernel would be beyond the time that is observed. */
	if (end && event->time > end)
		return;
	if (!process)
		process = start_process(dispatcher, event);
	if (process && dispatcher->sink.collective)
		dispatcher->sink.collective(dispatcher->sink.context, process,
					    (const void *)event->data, NULL);
}

void dispatcher__event(struct dispatcher *dispatcher, const struct event *event, size_t size)
{
	struct process *process;

	if (size < sizeof(*event) || event->bytes > size - sizeof(*event))
		return;
	switch (event->kind) {
	case EVENT_BATCH:
		handle_batch(dispatcher, event);
		break;
	case EVENT_NAME:
		process = process_of(dispatcher, event);
		if (process && event->source == EVENT_SOURCE_DRIVER)
			driver_names__put(process, event->group, (const char *)event->data,
					  event->bytes);
		else if (process)
			names__put(process->names, event->group, (const char *)event->data,
				   event->bytes);
		break;
	case EVENT_ALIAS:
		process = process_of(dispatcher, event);
		if (process)
			driver_names__alias(process, event->group, event->first);
		break;
	case EVENT_STATUS:
		handle_status(dispatcher, event);
		break;
	case EVENT_LOST:
		handle_lost(dispatcher, event);
		break;
	case EVENT_ERROR:
		handle_error(dispatcher, event);
		break;
	case EVENT_EXIT:
		handle_exit(dispatcher, event);
		break;
	case EVENT_STACK:
	case EVENT_CODE:
	case EVENT_STACK_COPY:
		handle_stack(dispatcher, event);
		break;
	case EVENT_COLLECTIVE:
		handle_collective(dispatcher, event);
		break;
	case EVENT_SELFTEST:
		dispatcher->selftest_came = true;
		break;
	}
}

bool dispatcher__selftest_came(const struct dispatcher *dispatcher)
{
	return dispatcher->selftest_came;
}

void dispatcher__close_window(struct dispatcher *dispatcher, uint64_t end)
{
	launch_window__close(dispatcher->window, end);
}

/* Libraries that do not answer have shorter structures. */
static bool has_answered(const struct process *process, uint64_t end)
{
	const struct cuda_status *status = &process->status;

	/* Who stopped it (a shell, a debugger) may let it go on, at some time. */
	if (process->ended || process->source != EVENT_SOURCE_AGENT ||
	    process_stat__is_stop(process_stat__state(process->pid)))
		return true;
	return status->size >= offsetof(struct cuda_status, flushed) + sizeof(status->flushed) &&
	       status->flushed >= end;
}

bool dispatcher__has_all(const struct dispatcher *dispatcher)
{
	uint64_t end = launch_window__end(dispatcher->window);

	for (int i = 0; i < BUCKETS; i++)
		for (const struct process *process = dispatcher->buckets[i]; process;
		     process = process->next_in_bucket)
			if (!has_answered(process, end))
				return false;
	return true;
}

unsigned int dispatcher__running(const struct dispatcher *dispatcher)
{
	return dispatcher->running;
}

void dispatcher__each(struct dispatcher *dispatcher,
		      void (*handle)(void *context, struct process *process), void *context)
{
	for (int i = 0; i < BUCKETS; i++) {
		struct process *next;

		for (struct process *process = dispatcher->buckets[i]; process; process = next) {
			next = process->next_in_bucket;
			handle(context, process);
		}
	}
	for (struct process *process = dispatcher->ends; process; process = process->next_in_bucket)
		handle(context, process);
}

static void look_for_end(void *context, struct process *process)
{
	if (process->ended || !kill(process->pid, 0) || errno != ESRCH)
		return;
	/* What it sent before its end has been read since the last look. */
	if (process->gone)
		end_process(context, process);
	else
		process->gone = true;
}

void dispatcher__end_gone(struct dispatcher *dispatcher)
{
	dispatcher__each(dispatcher, look_for_end, dispatcher);
}

void dispatcher__end_all(struct dispatcher *dispatcher)
{
	for (int i = 0; i < BUCKETS; i++)
		while (dispatcher->buckets[i])
			end_process(dispatcher, dispatcher->buckets[i]);
	dispatcher__report_ends(dispatcher);
}

void dispatcher__free(struct dispatcher *dispatcher)
{
	if (!dispatcher)
		return;
	dispatcher->sink.process_end = NULL;
	dispatcher__end_all(dispatcher);
	launch_window__free(dispatcher->window);
	free(dispatcher);
}

void dispatcher__lost(const struct dispatcher *dispatcher, const struct stream_counters *kernel,
		      uint32_t groups, struct session_lost_counts *counts)
{
	struct loss_sums sums = dispatcher->lost;

	for (int i = 0; i < BUCKETS; i++)
		for (const struct process *process = dispatcher->buckets[i]; process;
		     process = process->next_in_bucket)
			loss_sums__add(&sums, process);
	for (const struct process *process = dispatcher->ends; process;
	     process = process->next_in_bucket)
		loss_sums__add(&sums, process);
	loss_sums__count(&sums, kernel, groups, counts);
	counts->session[SESSION_LOST_YIELDED] = dispatcher->yields;
}
