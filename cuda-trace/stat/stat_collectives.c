// SPDX-License-Identifier: BSD-2-Clause
/* One thread. The process controls what comes: everything is bounded. */
#include "cuda-trace/stat/stat_collectives.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/capture/nccl_calls.h"

#define MAX_COMMS   1024
#define MAX_THREADS 1024
#define MAX_ISSUES  65536 /* of a thread, whose launches have not come yet */
#define MAX_PENDING 65536
#define BUCKETS	    1024

/* What is launched for one communicator at one time: a call, or a group. */
struct issue {
	uint64_t time;
	uint64_t stream;
	bool launched;
	struct stat_comm_work work;
};

struct thread {
	uint32_t tid;
	bool open; /* the last issues are of a group that has not ended */
	struct issue *issues;
	uint32_t first, count, capacity; /* those before `first` are done with */
};

/* One half of a launch and its kernel, by correlation id. */
struct pending {
	struct pending *next;
	uint32_t correlation;
	bool is_kernel;
	uint64_t start, end;
	struct stat_comm_work work;
};

struct known_comm {
	uint64_t address;
	uint32_t comm, rank;
};

struct stat_collectives {
	struct stat_comms *comms;
	bool timed;
	struct known_comm *known;
	uint32_t known_count, known_capacity;
	struct thread *threads;
	uint32_t thread_count, thread_capacity;
	struct pending *buckets[BUCKETS];
	uint32_t pending_count;
};

struct stat_collectives *stat_collectives__new(struct stat_comms *comms, bool timed)
{
	struct stat_collectives *collectives = calloc(1, sizeof(*collectives));

	if (!collectives)
		return NULL;
	collectives->comms = comms;
	collectives->timed = timed;
	return collectives;
}

static void forget_pending(struct stat_collectives *collectives)
{
	for (int i = 0; i < BUCKETS; i++)
		while (collectives->buckets[i]) {
			struct pending *pending = collectives->buckets[i];

			collectives->buckets[i] = pending->next;
			collectives->comms->unlaunched += !pending->is_kernel;
			free(pending);
		}
	collectives->pending_count = 0;
}

void stat_collectives__free(struct stat_collectives *collectives)
{
	if (!collectives)
		return;
	for (uint32_t i = 0; i < collectives->thread_count; i++) {
		const struct thread *thread = &collectives->threads[i];

		for (uint32_t k = thread->first; k < thread->count; k++)
			collectives->comms->unlaunched += !thread->issues[k].launched;
		free(thread->issues);
	}
	forget_pending(collectives);
	free(collectives->threads);
	free(collectives->known);
	free(collectives);
}

/* ---- communicators ---- */

static struct known_comm *find_comm(const struct stat_collectives *collectives, uint64_t address)
{
	for (uint32_t i = collectives->known_count; i-- > 0;)
		if (collectives->known[i].address == address)
			return &collectives->known[i];
	return NULL;
}

static struct known_comm *add_comm(struct stat_collectives *collectives,
				   const struct process *process, uint64_t address, int comm,
				   int32_t rank)
{
	int index = comm < 0 ? -1 : stat_comms__rank(collectives->comms, comm, process->pid, rank);
	struct known_comm *known = find_comm(collectives, address);

	if (index < 0)
		return NULL;
	if (!known) {
		if (collectives->known_count == MAX_COMMS ||
		    !array_grow__for_one(collectives->known, collectives->known_capacity,
					 collectives->known_count))
			return NULL;
		known = &collectives->known[collectives->known_count++];
	}
	*known = (struct known_comm){address, comm, index};
	return known;
}

static void note_made(struct stat_collectives *collectives, const struct process *process,
		      const struct event_collective *call)
{
	const struct known_comm *parent = find_comm(collectives, call->parent);

	if (!call->comm)
		return;
	add_comm(collectives, process, call->comm,
		 stat_comms__find(collectives->comms, call->id, call->size > 0 ? call->size : 0,
				  parent ? (int32_t)parent->comm : -1),
		 call->rank);
}

/* One that was made before it was observed is this process's own: nobody knows its other ranks. */
static const struct known_comm *comm_of(struct stat_collectives *collectives,
					const struct process *process,
					const struct event_collective *call)
{
	const struct known_comm *known = find_comm(collectives, call->comm);

	if (known)
		return known;
	return add_comm(collectives, process, call->comm,
			stat_comms__find(collectives->comms, 0, 0, -1),
			process->rank.known ? (int32_t)process->rank.rank : -1);
}

/* ---- calls ---- */

static struct thread *thread_of(struct stat_collectives *collectives, uint32_t tid)
{
	for (uint32_t i = 0; i < collectives->thread_count; i++)
		if (collectives->threads[i].tid == tid)
			return &collectives->threads[i];
	if (collectives->thread_count >= MAX_THREADS ||
	    !array_grow__for_one(collectives->threads, collectives->thread_capacity,
				 collectives->thread_count))
		return NULL;
	collectives->threads[collectives->thread_count] = (struct thread){.tid = tid};
	return &collectives->threads[collectives->thread_count++];
}

/* Moves what waits to the front, once that is worth it. */
static void prune_thread(struct thread *thread)
{
	if (thread->first < 64 || thread->first < thread->count / 2)
		return;
	memmove(thread->issues, thread->issues + thread->first,
		(thread->count - thread->first) * sizeof(*thread->issues));
	thread->count -= thread->first;
	thread->first = 0;
}

static struct issue *add_issue(struct stat_collectives *collectives, struct thread *thread)
{
	prune_thread(thread);
	if (thread->count - thread->first >= MAX_ISSUES) {
		collectives->comms->unlaunched += !thread->issues[thread->first].launched;
		thread->first++;
		prune_thread(thread);
	}
	if (!array_grow__for_one(thread->issues, thread->capacity, thread->count))
		return NULL;
	thread->issues[thread->count] = (struct issue){};
	return &thread->issues[thread->count++];
}

/* The open group's issue of this communicator and stream. */
static struct issue *issue_of(struct thread *thread, const struct known_comm *comm, uint64_t stream)
{
	for (uint32_t i = thread->count; thread->open && i-- > thread->first;) {
		struct issue *issue = &thread->issues[i];

		if (issue->time != UINT64_MAX)
			break;
		if (issue->work.comm == comm->comm && issue->work.rank == comm->rank &&
		    issue->stream == stream)
			return issue;
	}
	return NULL;
}

static void add_part(struct stat_comm_work *work, uint32_t function, uint64_t bytes)
{
	struct stat_comm_part *part = work->parts;

	while (part < work->parts + work->part_count && part->function != function)
		part++;
	if (part == work->parts + STAT_COMM_PARTS)
		part--;
	else if (part == work->parts + work->part_count)
		work->part_count++;
	part->function = function;
	part->calls++;
	part->bytes += bytes;
}

static void note_operation(struct stat_collectives *collectives, const struct process *process,
			   const struct event_collective *call)
{
	const struct known_comm *comm = comm_of(collectives, process, call);
	struct thread *thread = collectives->timed ? thread_of(collectives, call->tid) : NULL;
	struct stat_comm_sums *sums;
	struct issue *issue;

	if (!comm)
		return;
	sums = &collectives->comms->list[comm->comm].sums[call->function];
	sums->calls++;
	sums->bytes += nccl_calls__bytes(call);
	if (!thread)
		return;
	issue = issue_of(thread, comm, call->stream);
	if (!issue) {
		issue = add_issue(collectives, thread);
		if (!issue)
			return;
		issue->time = call->depth ? UINT64_MAX : call->time;
		issue->stream = call->stream;
		issue->work.comm = comm->comm;
		issue->work.rank = comm->rank;
		thread->open = call->depth != 0;
	}
	if (call->known && !issue->work.numbered) {
		issue->work.numbered = true;
		issue->work.number = call->sequence;
	}
	add_part(&issue->work, call->function, nccl_calls__bytes(call));
}

static void end_group(struct stat_collectives *collectives, const struct event_collective *call)
{
	struct thread *thread = collectives->timed ? thread_of(collectives, call->tid) : NULL;

	for (uint32_t i = thread ? thread->count : 0; i-- > 0 && i >= thread->first;) {
		if (thread->issues[i].time != UINT64_MAX)
			break;
		thread->issues[i].time = call->time;
	}
	if (thread)
		thread->open = false;
}

void stat_collectives__call(struct stat_collectives *collectives, const struct process *process,
			    const struct event_collective *call)
{
	if (!collectives || !call->function || call->function >= NCCL_FUNCTIONS)
		return;
	if (call->function < NCCL_OPERATIONS)
		note_operation(collectives, process, call);
	else if (call->function == NCCL_GROUP_END)
		end_group(collectives, call);
	else if (call->function > NCCL_GROUP_END)
		note_made(collectives, process, call);
}

/* ---- launches and kernels ---- */

/* ncclDevKernel_..., ncclKernel_... (before 2.19), maybe mangled. */
static bool is_nccl(const struct process *process, uint32_t id)
{
	const char *name = process__name(process, id);

	if (!name)
		return false;
	if (!strncmp(name, "_Z", 2))
		name += 2 + strspn(name + 2, "0123456789");
	return !strncmp(name, "ncclDevKernel", 13) || !strncmp(name, "ncclKernel", 10);
}

/* Of those of the latest time that is not behind the launch: one of its stream that has launched
 * nothing yet, or else any, or else (a large group has several kernels) one of its stream. */
static struct issue *issue_before(struct stat_collectives *collectives, struct thread *thread,
				  uint64_t start, uint64_t stream)
{
	struct issue *found = NULL;
	uint32_t next = thread->first;
	uint64_t time = 0;

	for (uint32_t i = thread->first; i < thread->count && thread->issues[i].time <= start; i++)
		if (thread->issues[i].time != time) {
			time = thread->issues[i].time;
			next = i;
		}
	for (; thread->first < next; thread->first++)
		collectives->comms->unlaunched += !thread->issues[thread->first].launched;
	for (uint32_t i = next; i < thread->count && thread->issues[i].time == time; i++) {
		struct issue *issue = &thread->issues[i];

		if (issue->stream == stream && !issue->launched)
			return issue;
		if (!found || (found->launched && !issue->launched) ||
		    (found->launched && issue->stream == stream))
			found = issue;
	}
	return found;
}

static struct pending **pending_of(struct stat_collectives *collectives, uint32_t correlation)
{
	struct pending **link = &collectives->buckets[correlation % BUCKETS];

	while (*link && (*link)->correlation != correlation)
		link = &(*link)->next;
	return link;
}

static void put_pending(struct stat_collectives *collectives, struct pending **link,
			const struct pending *half)
{
	struct pending *pending;

	if (collectives->pending_count >= MAX_PENDING) {
		forget_pending(collectives);
		link = pending_of(collectives, half->correlation);
	}
	pending = malloc(sizeof(*pending));
	if (!pending)
		return;
	*pending = *half;
	pending->next = *link;
	*link = pending;
	collectives->pending_count++;
}

static void drop_pending(struct stat_collectives *collectives, struct pending **link)
{
	struct pending *pending = *link;

	*link = pending->next;
	free(pending);
	collectives->pending_count--;
}

void stat_collectives__launch(struct stat_collectives *collectives, const struct process *process,
			      const struct cuda_launch *launch)
{
	struct pending half = {.correlation = launch->head.correlation}, **link;
	struct thread *thread;
	struct issue *issue;

	if (!collectives || !collectives->thread_count || launch->result ||
	    launch->domain == CUDA_DOMAIN_RUNTIME || !is_nccl(process, launch->name))
		return;
	thread = thread_of(collectives, launch->tid);
	issue = thread ? issue_before(collectives, thread, launch->start, launch->stream) : NULL;
	if (!issue)
		return;
	issue->launched = true;
	half.work = issue->work;
	link = pending_of(collectives, half.correlation);
	if (!*link) {
		put_pending(collectives, link, &half);
		return;
	}
	if ((*link)->is_kernel)
		stat_comms__kernel(collectives->comms, &half.work, (*link)->start, (*link)->end);
	drop_pending(collectives, link);
}

void stat_collectives__kernel(struct stat_collectives *collectives, const struct process *process,
			      const struct cuda_kernel *kernel)
{
	const struct pending half = {
		.correlation = kernel->head.correlation,
		.is_kernel = true,
		.start = kernel->start,
		.end = kernel->end,
	};
	struct pending **link;

	if (!collectives || !collectives->thread_count || kernel->graph ||
	    !is_nccl(process, kernel->name))
		return;
	link = pending_of(collectives, half.correlation);
	if (!*link) {
		put_pending(collectives, link, &half);
		return;
	}
	if (!(*link)->is_kernel)
		stat_comms__kernel(collectives->comms, &(*link)->work, half.start, half.end);
	drop_pending(collectives, link);
}
