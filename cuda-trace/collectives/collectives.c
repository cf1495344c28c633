// SPDX-License-Identifier: BSD-2-Clause
/* One thread. The process controls what comes: everything is bounded. */
#include "cuda-trace/collectives/collectives.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/collectives/kernel_halves.h"

#define MAX_COMMS   1024
#define MAX_THREADS 1024
#define MAX_ISSUES  65536 /* of a thread, whose launches have not come yet */

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

#define LEFT_OUT UINT32_MAX

struct known_comm {
	uint64_t address;
	uint32_t comm, rank; /* LEFT_OUT: there was no place for it */
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
	struct kernel_halves halves;
	struct graph_collectives *graphs; /* NULL until a call comes */
};

struct collectives *collectives__new(struct nccl_comms *comms,
				     const struct collectives_options *options)
{
	struct collectives *collectives = calloc(1, sizeof(*collectives));

	if (!collectives)
		return NULL;
	collectives->comms = comms;
	collectives->halves.comms = comms;
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

void collectives__free(struct collectives *collectives)
{
	if (!collectives)
		return;
	for (uint32_t i = 0; i < collectives->thread_count; i++) {
		const struct thread *thread = &collectives->threads[i];

		for (uint32_t k = thread->first; k < thread->count; k++)
			drop_issue(collectives, &thread->issues[k]);
		collectives->comms->waiting -= thread->capacity;
		free(thread->issues);
	}
	kernel_halves__forget(&collectives->halves);
	graph_collectives__free(collectives->graphs);
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

/* Another one has its address now. */
static void leave(struct collectives *collectives, const struct known_comm *known)
{
	const struct nccl_comm *comm = &collectives->comms->list[known->comm];

	if (known->comm != LEFT_OUT && known->rank < comm->rank_count)
		comm->ranks[known->rank].ended_ns = monotonic__ns();
}

static struct known_comm *add_comm(struct collectives *collectives, uint64_t address, int comm,
				   int32_t rank)
{
	int index = comm < 0 ? -1
			     : nccl_comms__rank(collectives->comms, comm, collectives->options.pid,
						rank);
	struct known_comm *known = find_comm(collectives, address);

	if (!known) {
		if (collectives->known_count == MAX_COMMS ||
		    !array_grow__for_one(collectives->known, collectives->known_capacity,
					 collectives->known_count))
			return NULL;
		known = &collectives->known[collectives->known_count++];
	} else if (known->comm != (uint32_t)comm || known->rank != (uint32_t)index) {
		leave(collectives, known);
	}
	*known = (struct known_comm){address, index < 0 ? LEFT_OUT : (uint32_t)comm, index};
	return index < 0 ? NULL : known;
}

static void note_made(struct collectives *collectives, const struct event_collective *call)
{
	const struct known_comm *parent = find_comm(collectives, call->parent);
	int comm;

	if (!call->comm)
		return;
	comm = nccl_comms__find(collectives->comms, call->id, call->size > 0 ? call->size : 0,
				parent && parent->comm != LEFT_OUT ? (int32_t)parent->comm : -1);
	if (comm >= 0 && call->function == NCCL_FOUND)
		nccl_comms__found(collectives->comms, comm);
	add_comm(collectives, call->comm, comm, call->rank);
}

/* One that was made before it was observed is this process's own: nobody knows its other ranks. */
static const struct known_comm *comm_of(struct collectives *collectives,
					const struct event_collective *call)
{
	const struct rank *rank = &collectives->options.rank;
	const struct known_comm *known = find_comm(collectives, call->comm);

	if (known)
		return known->comm == LEFT_OUT ? NULL : known;
	return add_comm(collectives, call->comm, nccl_comms__find(collectives->comms, 0, 0, -1),
			rank->known ? (int32_t)rank->rank : -1);
}

/* ---- calls ---- */

static bool has_launched_all(const struct thread *thread)
{
	uint32_t i = thread->first;

	while (i < thread->count && thread->issues[i].launched)
		i++;
	return i == thread->count;
}

static struct thread *thread_of(struct collectives *collectives, uint32_t tid)
{
	for (uint32_t i = 0; i < collectives->thread_count; i++)
		if (collectives->threads[i].tid == tid)
			return &collectives->threads[i];
	/* One that waits for nothing may be gone. */
	for (uint32_t i = 0; collectives->thread_count == MAX_THREADS && i < MAX_THREADS; i++)
		if (has_launched_all(&collectives->threads[i])) {
			collectives->threads[i].tid = tid;
			collectives->threads[i].first = collectives->threads[i].count = 0;
			collectives->threads[i].open = false;
			return &collectives->threads[i];
		}
	if (collectives->thread_count >= MAX_THREADS ||
	    !array_grow__for_one(collectives->threads, collectives->thread_capacity,
				 collectives->thread_count))
		return NULL;
	collectives->threads[collectives->thread_count] = (struct thread){.tid = tid};
	collectives->expects_kernels = true;
	return &collectives->threads[collectives->thread_count++];
}

/* Moves what waits to the front. */
static void move_up(struct thread *thread)
{
	memmove(thread->issues, thread->issues + thread->first,
		(thread->count - thread->first) * sizeof(*thread->issues));
	thread->count -= thread->first;
	thread->first = 0;
}

/* Once that is worth it. */
static void prune_thread(struct thread *thread)
{
	if (thread->first >= 64 && thread->first >= thread->count / 2)
		move_up(thread);
}

/* For one more issue: within the limit by forgetting the older half of this thread's. */
static bool make_place(struct collectives *collectives, struct thread *thread)
{
	struct nccl_comms *comms = collectives->comms;
	uint32_t before = thread->capacity;

	if (thread->count < before)
		return true;
	if (comms->limits.waiting && comms->waiting + before >= comms->limits.waiting) {
		if (!before)
			return false;
		for (; thread->first < before / 2 || !thread->first; thread->first++)
			drop_issue(collectives, &thread->issues[thread->first]);
		move_up(thread);
		return true;
	}
	if (!array_grow__for_one(thread->issues, thread->capacity, thread->count))
		return false;
	comms->waiting += thread->capacity - before;
	return true;
}

static struct issue *add_issue(struct collectives *collectives, struct thread *thread)
{
	prune_thread(thread);
	if (thread->count - thread->first >= MAX_ISSUES) {
		drop_issue(collectives, &thread->issues[thread->first]);
		thread->first++;
		prune_thread(thread);
	}
	if (!make_place(collectives, thread)) {
		collectives->comms->unlaunched++;
		return NULL;
	}
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
	if (!collectives->graphs &&
	    (!collectives->options.launched || collectives->options.graphs.replayed))
		collectives->graphs =
			graph_collectives__new(collectives->comms, &collectives->options.graphs);
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

/* Of those of the latest time that is not behind `latest`: one of its stream that has launched
 * nothing yet, or else any, or else (a large group has several kernels) one of its stream. */
static struct issue *issue_before(struct collectives *collectives, struct thread *thread,
				  uint64_t latest, uint64_t stream)
{
	struct issue *found = NULL;
	uint32_t next = thread->first;
	uint64_t time = 0;

	for (uint32_t i = thread->first; i < thread->count && thread->issues[i].time <= latest; i++)
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

/* Records of a recording come by their times: calls before their kernel. */
void collectives__recorded(struct collectives *collectives, const struct event_collective *call,
			   const struct recorded_kernel *kernel)
{
	struct kernel_half half = {.correlation = kernel->correlation, .node = kernel->graph_node};
	const struct known_comm *comm;
	struct nccl_comm_work *work;

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
	if (!kernel->correlation) {
		collectives->comms->unlaunched++;
		return;
	}
	work = kernel_halves__call(&collectives->halves, &half);
	add_to_work(work ? work : &half.work, comm, call);
	if (!work)
		kernel_halves__put(&collectives->halves, &half);
}

void collectives__launch(struct collectives *collectives, const struct cuda_launch *launch,
			 const char *name)
{
	struct kernel_half half = {.correlation = launch->head.correlation};
	uint64_t end = launch->end > launch->start ? launch->end : launch->start;
	/* A thread makes no call of NCCL while it launches. So its own call is before the middle,
	 * and the next one behind it, even if the clocks of probes and of the agent differ a
	 * little: a call was seen 32 ns before the end of the launch that it followed. */
	uint64_t middle = launch->start + (end - launch->start) / 2;
	struct graph_collectives_launch captured;
	struct thread *thread;
	struct issue *issue;

	if (!collectives || !collectives->thread_count || launch->result ||
	    launch->domain == CUDA_DOMAIN_RUNTIME || !collectives__is_nccl(name))
		return;
	thread = thread_of(collectives, launch->tid);
	issue = thread ? issue_before(collectives, thread, middle, launch->stream) : NULL;
	if (!issue)
		return;
	captured = (struct graph_collectives_launch){
		.tid = launch->tid,
		.correlation = launch->head.correlation,
		.start = launch->start,
		.end = end,
		.issue = issue->number,
		.again = issue->launched,
		.work = issue->work,
	};
	issue->launched = true;
	note_launched(collectives, issue, half.correlation);
	half.work = issue->work;
	if (!graph_collectives__launch(collectives->graphs, &captured) &&
	    !collectives->options.launched)
		kernel_halves__put(&collectives->halves, &half);
}

void collectives__node(struct collectives *collectives, const struct cuda_graph_node *node)
{
	uint32_t correlation = collectives ? graph_collectives__node(collectives->graphs, node) : 0;

	if (correlation)
		kernel_halves__drop(&collectives->halves, correlation);
}

void collectives__kernel(struct collectives *collectives, const struct cuda_kernel *kernel,
			 const char *name)
{
	const struct kernel_half half = {
		.correlation = kernel->head.correlation,
		.node = kernel->graph_node,
		.is_kernel = true,
		.device = kernel->device,
		.start = kernel->start,
		.end = kernel->end,
	};

	if (!collectives || !collectives->expects_kernels || !collectives__is_nccl(name))
		return;
	if (kernel->graph && collectives->graphs)
		graph_collectives__kernel(collectives->graphs, kernel);
	else if (!collectives->options.launched)
		kernel_halves__put(&collectives->halves, &half);
}
