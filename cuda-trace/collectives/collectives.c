// SPDX-License-Identifier: BSD-2-Clause
/* One thread. The process controls what comes: everything is bounded. */
#include "cuda-trace/collectives/collectives.h"

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
	uint64_t number;
	uint64_t time;
	uint64_t stream;
	bool launched;
	struct nccl_comm_work work;
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
	struct nccl_comm_work work;
};

struct known_comm {
	uint64_t address;
	uint32_t comm, rank;
};

struct collectives {
	struct nccl_comms *comms;
	struct collectives_options options;
	bool expects_kernels;
	uint64_t issues; /* so far */
	struct known_comm *known;
	uint32_t known_count, known_capacity;
	struct thread *threads;
	uint32_t thread_count, thread_capacity;
	struct pending *buckets[BUCKETS];
	uint32_t pending_count;
};

struct collectives *collectives__new(struct nccl_comms *comms,
				     const struct collectives_options *options)
{
	struct collectives *collectives = calloc(1, sizeof(*collectives));

	if (!collectives)
		return NULL;
	collectives->comms = comms;
	collectives->options = *options;
	return collectives;
}

static void note_launched(const struct collectives *collectives, const struct issue *issue,
			  uint32_t correlation)
{
	if (collectives->options.launched)
		collectives->options.launched(collectives->options.context, issue->number,
					      correlation);
}

static void drop_issue(struct collectives *collectives, const struct issue *issue)
{
	if (issue->launched)
		return;
	collectives->comms->unlaunched++;
	note_launched(collectives, issue, 0);
}

static void forget_pending(struct collectives *collectives)
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

void collectives__free(struct collectives *collectives)
{
	if (!collectives)
		return;
	for (uint32_t i = 0; i < collectives->thread_count; i++) {
		const struct thread *thread = &collectives->threads[i];

		for (uint32_t k = thread->first; k < thread->count; k++)
			drop_issue(collectives, &thread->issues[k]);
		free(thread->issues);
	}
	forget_pending(collectives);
	free(collectives->threads);
	free(collectives->known);
	free(collectives);
}

/* ---- communicators ---- */

static struct known_comm *find_comm(const struct collectives *collectives, uint64_t address)
{
	for (uint32_t i = collectives->known_count; i-- > 0;)
		if (collectives->known[i].address == address)
			return &collectives->known[i];
	return NULL;
}

static struct known_comm *add_comm(struct collectives *collectives, uint64_t address, int comm,
				   int32_t rank)
{
	int index = comm < 0 ? -1
			     : nccl_comms__rank(collectives->comms, comm, collectives->options.pid,
						rank);
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

static void note_made(struct collectives *collectives, const struct event_collective *call)
{
	const struct known_comm *parent = find_comm(collectives, call->parent);

	if (!call->comm)
		return;
	add_comm(collectives, call->comm,
		 nccl_comms__find(collectives->comms, call->id, call->size > 0 ? call->size : 0,
				  parent ? (int32_t)parent->comm : -1),
		 call->rank);
}

/* One that was made before it was observed is this process's own: nobody knows its other ranks. */
static const struct known_comm *comm_of(struct collectives *collectives,
					const struct event_collective *call)
{
	const struct rank *rank = &collectives->options.rank;
	const struct known_comm *known = find_comm(collectives, call->comm);

	if (known)
		return known;
	return add_comm(collectives, call->comm, nccl_comms__find(collectives->comms, 0, 0, -1),
			rank->known ? (int32_t)rank->rank : -1);
}

/* ---- calls ---- */

static struct thread *thread_of(struct collectives *collectives, uint32_t tid)
{
	for (uint32_t i = 0; i < collectives->thread_count; i++)
		if (collectives->threads[i].tid == tid)
			return &collectives->threads[i];
	if (collectives->thread_count >= MAX_THREADS ||
	    !array_grow__for_one(collectives->threads, collectives->thread_capacity,
				 collectives->thread_count))
		return NULL;
	collectives->threads[collectives->thread_count] = (struct thread){.tid = tid};
	collectives->expects_kernels = true;
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

static struct issue *add_issue(struct collectives *collectives, struct thread *thread)
{
	prune_thread(thread);
	if (thread->count - thread->first >= MAX_ISSUES) {
		drop_issue(collectives, &thread->issues[thread->first]);
		thread->first++;
		prune_thread(thread);
	}
	if (!array_grow__for_one(thread->issues, thread->capacity, thread->count))
		return NULL;
	thread->issues[thread->count] = (struct issue){.number = ++collectives->issues};
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

static void add_part(struct nccl_comm_work *work, uint32_t function, uint64_t bytes)
{
	struct nccl_comm_part *part = work->parts;

	while (part < work->parts + work->part_count && part->function != function)
		part++;
	if (part == work->parts + NCCL_COMM_PARTS)
		part--;
	else if (part == work->parts + work->part_count)
		work->part_count++;
	part->function = function;
	part->calls++;
	part->bytes += bytes;
}

static void count_call(struct collectives *collectives, const struct known_comm *comm,
		       const struct event_collective *call)
{
	struct nccl_comm_sums *sums = &collectives->comms->list[comm->comm].sums[call->function];

	sums->calls++;
	sums->bytes += nccl_calls__bytes(call);
}

static void add_to_work(struct nccl_comm_work *work, const struct known_comm *comm,
			const struct event_collective *call)
{
	work->comm = comm->comm;
	work->rank = comm->rank;
	if (call->known && !work->numbered) {
		work->numbered = true;
		work->number = call->sequence;
	}
	add_part(work, call->function, nccl_calls__bytes(call));
}

static uint64_t note_operation(struct collectives *collectives, const struct event_collective *call)
{
	const struct known_comm *comm = comm_of(collectives, call);
	struct thread *thread =
		collectives->options.timed ? thread_of(collectives, call->tid) : NULL;
	struct issue *issue;

	if (!comm)
		return 0;
	count_call(collectives, comm, call);
	if (!thread)
		return 0;
	issue = issue_of(thread, comm, call->stream);
	if (!issue) {
		issue = add_issue(collectives, thread);
		if (!issue)
			return 0;
		issue->time = call->depth ? UINT64_MAX : call->time;
		issue->stream = call->stream;
		thread->open = call->depth != 0;
	}
	add_to_work(&issue->work, comm, call);
	return issue->number;
}

static void end_group(struct collectives *collectives, const struct event_collective *call)
{
	struct thread *thread =
		collectives->options.timed ? thread_of(collectives, call->tid) : NULL;

	for (uint32_t i = thread ? thread->count : 0; i-- > 0 && i >= thread->first;) {
		if (thread->issues[i].time != UINT64_MAX)
			break;
		thread->issues[i].time = call->time;
	}
	if (thread)
		thread->open = false;
}

uint64_t collectives__call(struct collectives *collectives, const struct event_collective *call)
{
	if (!collectives || !call->function || call->function >= NCCL_FUNCTIONS)
		return 0;
	if (call->function < NCCL_OPERATIONS)
		return note_operation(collectives, call);
	if (call->function == NCCL_GROUP_END)
		end_group(collectives, call);
	else if (call->function > NCCL_GROUP_END)
		note_made(collectives, call);
	return 0;
}

/* ---- launches and kernels ---- */

/* ncclDevKernel_..., ncclKernel_... (before 2.19). */
bool collectives__is_nccl(const char *name)
{
	if (!name)
		return false;
	if (!strncmp(name, "_Z", 2))
		name += 2 + strspn(name + 2, "0123456789");
	return !strncmp(name, "ncclDevKernel", 13) || !strncmp(name, "ncclKernel", 10);
}

/* Of those of the latest time that is not behind the launch's end: one of its stream that has
 * launched nothing yet, or else any, or else (a large group has several kernels) one of its stream.
 */
static struct issue *issue_before(struct collectives *collectives, struct thread *thread,
				  uint64_t end, uint64_t stream)
{
	struct issue *found = NULL;
	uint32_t next = thread->first;
	uint64_t time = 0;

	for (uint32_t i = thread->first; i < thread->count && thread->issues[i].time <= end; i++)
		if (thread->issues[i].time != time) {
			time = thread->issues[i].time;
			next = i;
		}
	for (; thread->first < next; thread->first++)
		drop_issue(collectives, &thread->issues[thread->first]);
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

static struct pending **pending_of(struct collectives *collectives, uint32_t correlation)
{
	struct pending **link = &collectives->buckets[correlation % BUCKETS];

	while (*link && (*link)->correlation != correlation)
		link = &(*link)->next;
	return link;
}

static void put_pending(struct collectives *collectives, struct pending **link,
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

static void drop_pending(struct collectives *collectives, struct pending **link)
{
	struct pending *pending = *link;

	*link = pending->next;
	free(pending);
	collectives->pending_count--;
}

/* Waits for the other half, or ends its waiting. */
static void put_half(struct collectives *collectives, struct pending **link,
		     const struct pending *half)
{
	const struct pending *kernel = half->is_kernel ? half : *link;
	const struct pending *call = half->is_kernel ? *link : half;

	if (!*link) {
		put_pending(collectives, link, half);
		return;
	}
	if (kernel->is_kernel && !call->is_kernel)
		nccl_comms__kernel(collectives->comms, &call->work, kernel->start, kernel->end);
	drop_pending(collectives, link);
}

/* Records of a recording come by their times: calls before their kernel. */
void collectives__recorded(struct collectives *collectives, const struct event_collective *call,
			   uint32_t correlation)
{
	struct pending half = {.correlation = correlation}, **link;
	const struct known_comm *comm;

	if (!collectives || !call->function || call->function >= NCCL_FUNCTIONS)
		return;
	if (call->function > NCCL_GROUP_END)
		note_made(collectives, call);
	comm = call->function < NCCL_OPERATIONS ? comm_of(collectives, call) : NULL;
	if (!comm)
		return;
	count_call(collectives, comm, call);
	if (!collectives->options.timed)
		return;
	collectives->expects_kernels = true;
	if (!correlation) {
		collectives->comms->unlaunched++;
		return;
	}
	link = pending_of(collectives, correlation);
	if (*link && !(*link)->is_kernel) {
		add_to_work(&(*link)->work, comm, call);
		return;
	}
	add_to_work(&half.work, comm, call);
	put_half(collectives, link, &half);
}

void collectives__launch(struct collectives *collectives, const struct cuda_launch *launch,
			 const char *name)
{
	struct pending half = {.correlation = launch->head.correlation};
	/* A thread makes no call of NCCL while it launches. So what is before the end is before the
	 * launch, even if the clocks of probes and of the agent differ by a microsecond. */
	uint64_t end = launch->end > launch->start ? launch->end : launch->start;
	struct thread *thread;
	struct issue *issue;

	if (!collectives || !collectives->thread_count || launch->result ||
	    launch->domain == CUDA_DOMAIN_RUNTIME || !collectives__is_nccl(name))
		return;
	thread = thread_of(collectives, launch->tid);
	issue = thread ? issue_before(collectives, thread, end, launch->stream) : NULL;
	if (!issue)
		return;
	issue->launched = true;
	note_launched(collectives, issue, half.correlation);
	half.work = issue->work;
	if (collectives->options.launched)
		return;
	put_half(collectives, pending_of(collectives, half.correlation), &half);
}

void collectives__kernel(struct collectives *collectives, const struct cuda_kernel *kernel,
			 const char *name)
{
	const struct pending half = {
		.correlation = kernel->head.correlation,
		.is_kernel = true,
		.start = kernel->start,
		.end = kernel->end,
	};

	if (!collectives || !collectives->expects_kernels || kernel->graph ||
	    !collectives__is_nccl(name))
		return;
	put_half(collectives, pending_of(collectives, half.correlation), &half);
}
