// SPDX-License-Identifier: BSD-2-Clause
/*
 * A stack comes when its launch does, its kernels some 100 ms later, perhaps in the next interval:
 * samples are kept for two. A process that has ended stays until its interval does.
 */
#include "cuda-trace/push/push_profile.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/proc/cgroup.h"
#include "cuda-trace/push/push_graphs.h"
#include "cuda-trace/push/push_stalls.h"
#include "cuda-trace/push/push_tree.h"

#define MAX_GROUPS   (1u << 16) /* kernels of a stream, in an interval */
#define MAX_CALLS    (1u << 18) /* stacks of these */
#define MAX_SAMPLES  (1u << 17) /* launches with a stack, in an interval */
#define FORGET_AFTER (1u << 15) /* stacks, or frames, or functions that differ */
#define HINTS	     (1u << 20) /* bits */

/* Launches and what is known of their stacks. Most have none: a bit for each of the last million
 * correlation ids says so without a search in a table that is too large for the cache. */
struct samples {
	struct key_index stacks; /* by process and correlation id */
	uint64_t hints[HINTS / 64];
};

struct push_profile {
	uint32_t period;
	bool by_pid;
	struct callstacks *callstacks;
	struct store_callstacks *stored;
	struct push_process *processes;
	uint32_t process_count;		 /* that there ever were: each has a number */
	struct samples *samples, *older; /* of this interval, and of the one before */
	struct push_groups groups;
	struct key_index group_index, call_index;
	uint32_t last; /* group of the last kernel, which is likely that of the next; 0 = none */
	struct push_profile_counts counts;
	uint64_t lost_samples;
	struct push_stalls *stalls; /* NULL = the profiles are of kernels */
};

static void put_fact(void *context, enum spool_kind kind, const void *data, size_t size,
		     const void *more, size_t more_size)
{
	struct push_profile *profile = context;
	uint8_t *fact = malloc(size + more_size + 1);

	if (!fact)
		return;
	memcpy(fact, data, size);
	if (more_size)
		memcpy(fact + size, more, more_size);
	store_callstacks__fact(profile->stored, kind, fact, size + more_size);
	free(fact);
}

static uint64_t sample_key(const struct push_process *own, uint32_t correlation)
{
	return (uint64_t)own->number << 32 | correlation;
}

/* Those of neighbouring correlation ids are neighbours. */
static uint32_t hint_of(uint64_t key)
{
	return ((uint32_t)key + (uint32_t)(key >> 32) * 0x9e3779b1u) % HINTS;
}

static uint32_t *find_sample(const struct samples *samples, uint64_t key)
{
	uint32_t hint = hint_of(key);

	return samples->hints[hint / 64] >> hint % 64 & 1 ? key_index__at(&samples->stacks, key)
							  : NULL;
}

static bool add_sample(struct samples *samples, uint64_t key, uint32_t stack)
{
	uint32_t *known = find_sample(samples, key), hint = hint_of(key);

	if (known) {
		*known = stack;
		return true;
	}
	samples->hints[hint / 64] |= 1ull << hint % 64;
	return samples->stacks.count < MAX_SAMPLES && key_index__add(&samples->stacks, key, stack);
}

static void clear_samples(struct samples *samples)
{
	if (!samples)
		return;
	key_index__free(&samples->stacks);
	memset(samples, 0, sizeof(*samples));
}

static void put_sample(void *context, void *owner, const struct spool_sample *sample)
{
	struct push_profile *profile = context;

	if (profile->stalls)
		push_stalls__stack(profile->stalls, owner, sample->head.correlation, sample->stack);
	if (!add_sample(profile->samples, sample_key(owner, sample->head.correlation),
			sample->stack))
		profile->lost_samples++;
}

struct push_profile *push_profile__new(uint32_t period, bool by_pid, bool samples)
{
	struct push_profile *profile = calloc(1, sizeof(*profile));
	const struct callstacks_sink sink = {profile, put_fact, put_sample};

	if (!profile)
		return NULL;
	profile->period = period;
	profile->by_pid = by_pid;
	profile->stored = store_callstacks__new(NULL);
	profile->stalls = samples ? push_stalls__new() : NULL;
	if (period) {
		profile->callstacks = callstacks__new(&sink);
		profile->samples = calloc(1, sizeof(*profile->samples));
		profile->older = calloc(1, sizeof(*profile->older));
	}
	if (profile->stored && (!samples || profile->stalls) &&
	    (!period || (profile->callstacks && profile->samples && profile->older)))
		return profile;
	push_profile__free(profile);
	return NULL;
}

void push_profile__start(struct push_profile *profile, struct process *process)
{
	struct push_process *own = calloc(1, sizeof(*own));
	struct push_source *source;

	process->data = own;
	if (!own)
		return;
	own->process = process;
	own->number = ++profile->process_count;
	source = &own->source;
	source->pid = process->pid;
	text__show(source->comm, sizeof(source->comm), process->comm, EVENT_COMM_LEN);
	cgroup__of(process->pid, process->cgroup, own->cgroup, sizeof(own->cgroup));
	cgroup__container(own->cgroup, source->container, sizeof(source->container));
	own->origin_state = origin__find(process->pid, own->cgroup, &source->origin);
	own->next = profile->processes;
	profile->processes = own;
	if (!profile->callstacks)
		return;
	own->callstacks = callstacks_process__new(profile->callstacks, process->pid, own);
	own->graphs = push_graphs__new();
}

static bool is_group(const struct push_group *group, const struct push_process *own,
		     const struct cuda_kernel *kernel)
{
	return group->owner == own && group->name == kernel->name &&
	       group->stream == kernel->stream && group->device == kernel->device &&
	       group->in_graph == (kernel->graph != 0);
}

/* Groups are numbered from 1; 0 = there is no space for it. */
static uint32_t group_of(struct push_profile *profile, struct push_process *own,
			 const struct cuda_kernel *kernel)
{
	struct push_groups *groups = &profile->groups;
	uint64_t key;
	ssize_t known;

	if (profile->last && is_group(&groups->list[profile->last], own, kernel))
		return profile->last;
	key = key_index__mix((uint64_t)own->number << 32 | kernel->name,
			     (uint64_t)kernel->device << 32 | kernel->stream);
	known = key_index__match(&profile->group_index, key, i,
				 is_group(&groups->list[i], own, kernel));
	if (known >= 0)
		return profile->last = known;
	if (groups->count >= MAX_GROUPS ||
	    !array_grow__to(groups->list, groups->capacity, groups->count + 2) ||
	    !key_index__add(&profile->group_index, key, groups->count + 1))
		return 0;
	groups->list[++groups->count] = (struct push_group){
		.owner = own,
		.name = kernel->name,
		.device = kernel->device,
		.stream = kernel->stream,
		.in_graph = kernel->graph != 0,
		.by_node = kernel->graph != 0,
	};
	return profile->last = groups->count;
}

/* Without space the kernel is one without a stack. */
static void add_call(struct push_profile *profile, uint32_t group, uint32_t stack, uint64_t ns)
{
	struct push_groups *groups = &profile->groups;
	uint64_t key = (uint64_t)group << 32 | stack;
	uint32_t *known = key_index__at(&profile->call_index, key);
	struct push_call *call;

	if (known) {
		call = &groups->calls[*known];
	} else {
		if (groups->call_count >= MAX_CALLS ||
		    !array_grow__to(groups->calls, groups->call_capacity, groups->call_count + 2) ||
		    !key_index__add(&profile->call_index, key, groups->call_count + 1))
			return;
		call = &groups->calls[++groups->call_count];
		*call = (struct push_call){.stack = stack, .next = groups->list[group].calls};
		groups->list[group].calls = groups->call_count;
	}
	call->ns += ns;
	call->count++;
}

static uint32_t stack_of(const void *context, const void *owner, uint32_t correlation)
{
	const struct push_profile *profile = context;
	uint64_t key = sample_key(owner, correlation);
	const uint32_t *stack = find_sample(profile->samples, key);

	if (!stack)
		stack = find_sample(profile->older, key);
	return stack ? *stack : 0;
}

/* Or its node, if it has one: see find_stacks_of_nodes(). */
static uint32_t stack_of_kernel(const struct push_profile *profile, const struct push_process *own,
				const struct cuda_kernel *kernel)
{
	if (!profile->callstacks)
		return 0;
	return kernel->graph ? push_graphs__number(own->graphs, kernel->graph_node)
			     : stack_of(profile, own, kernel->head.correlation);
}

static void add_kernel(struct push_profile *profile, struct push_process *own,
		       const struct cuda_kernel *kernel)
{
	uint32_t group = own ? group_of(profile, own, kernel) : 0, stack;
	uint64_t ns = kernel->end > kernel->start ? kernel->end - kernel->start : 0;

	profile->counts.kernels++;
	if (!group) {
		profile->counts.not_fit++;
		return;
	}
	profile->groups.list[group].ns += ns;
	profile->groups.list[group].count++;
	stack = stack_of_kernel(profile, own, kernel);
	if (stack)
		add_call(profile, group, stack, ns);
}

static void add_to_stalls(struct push_profile *profile, struct push_process *own,
			  const struct cuda_record *record)
{
	if (record->kind == CUDA_RECORD_PC_SAMPLE)
		push_stalls__sample(profile->stalls, own, (const void *)record);
	else if (record->kind == CUDA_RECORD_PC_WINDOW)
		push_stalls__window(profile->stalls, own, (const void *)record);
	else if (record->kind == CUDA_RECORD_LAUNCH && profile->callstacks)
		push_stalls__launch(profile->stalls, own, (const void *)record,
				    stack_of(profile, own, record->correlation));
}

void push_profile__record(struct push_profile *profile, struct process *process,
			  const struct cuda_record *record)
{
	struct push_process *own = process->data;

	if (profile->stalls) {
		if (own)
			add_to_stalls(profile, own, record);
		return;
	}
	if (record->kind == CUDA_RECORD_KERNEL)
		add_kernel(profile, own, (const struct cuda_kernel *)record);
	else if (record->kind == CUDA_RECORD_GRAPH_NODE && own)
		push_graphs__node(own->graphs, (const struct cuda_graph_node *)record);
}

void push_profile__stack(struct push_profile *profile, struct process *process,
			 const struct event *event)
{
	struct push_process *own = process->data;

	if (!own || !own->callstacks)
		return;
	push_graphs__stack(own->graphs, event);
	callstacks_process__take(own->callstacks, event);
}

/* At the end of the interval, or of the process: nodes may come after their kernels. */
static void find_stacks_of_nodes(struct push_profile *profile, const struct push_process *own)
{
	struct push_call *calls = profile->groups.calls;

	for (uint32_t i = 1; i <= profile->groups.count; i++) {
		struct push_group *group = &profile->groups.list[i];

		if (group->owner != own || !group->by_node)
			continue;
		group->by_node = false;
		for (uint32_t at = group->calls; at; at = calls[at].next)
			calls[at].stack = push_graphs__stack_of(own->graphs, calls[at].stack,
								stack_of, profile, own);
	}
}

/* Names of kernels go with the process. */
static void keep_names(struct push_profile *profile, struct push_process *own)
{
	for (uint32_t i = 1; i <= profile->groups.count; i++) {
		struct push_group *group = &profile->groups.list[i];

		if (group->owner == own && !group->text)
			group->text = push_tree__kernel_name(own->process, group->name);
	}
}

void push_profile__end(struct push_profile *profile, struct process *process)
{
	struct push_process *own = process->data;

	if (!own)
		return;
	process->data = NULL;
	keep_names(profile, own);
	find_stacks_of_nodes(profile, own);
	callstacks_process__free(own->callstacks);
	push_graphs__free(own->graphs);
	own->callstacks = NULL;
	own->graphs = NULL;
	own->process = NULL;
}

static void forget_ended(struct push_profile *profile)
{
	struct push_process **at = &profile->processes;

	while (*at) {
		struct push_process *own = *at;

		if (own->process) {
			at = &own->next;
			continue;
		}
		*at = own->next;
		free(own);
	}
}

static void clear(struct key_index *index)
{
	key_index__free(index);
	*index = (struct key_index){};
}

static void begin_anew(struct push_profile *profile)
{
	struct samples *samples;

	for (uint32_t i = 1; i <= profile->groups.count; i++)
		free(profile->groups.list[i].text);
	free(profile->groups.list);
	free(profile->groups.calls);
	profile->groups = (struct push_groups){};
	profile->last = 0;
	clear(&profile->group_index);
	clear(&profile->call_index);
	clear_samples(profile->older);
	samples = profile->older;
	profile->older = profile->samples;
	profile->samples = samples;
	if (profile->stalls)
		push_stalls__next(profile->stalls);
	forget_ended(profile);
}

/* Programs whose stacks never repeat would fill the memory. Launches whose kernels are still to
 * come have no stack then. */
static void forget_stacks(struct push_profile *profile)
{
	struct callstacks_counts counts;
	struct store_callstacks *stored;

	if (!profile->callstacks)
		return;
	callstacks__count(profile->callstacks, &counts);
	if (counts.stacks < FORGET_AFTER && counts.frames < 2 * FORGET_AFTER)
		return;
	stored = store_callstacks__new(NULL);
	if (!stored)
		return;
	store_callstacks__free(profile->stored);
	profile->stored = stored;
	callstacks__forget(profile->callstacks);
	clear_samples(profile->older);
	if (profile->stalls)
		push_stalls__forget_stacks(profile->stalls);
	for (struct push_process *own = profile->processes; own; own = own->next)
		push_graphs__forget_stacks(own->graphs);
}

static void find_origins(struct push_profile *profile)
{
	for (struct push_process *own = profile->processes; own; own = own->next)
		if (own->origin_state != ORIGIN_KNOWN)
			own->origin_state = origin__find(own->process ? own->source.pid : 0,
							 own->cgroup, &own->source.origin);
}

int push_profile__take(struct push_profile *profile,
		       int (*take)(void *context, const struct push_source *source,
				   struct stacks *stacks),
		       void *context)
{
	struct push_tree_options options = {
		.groups = &profile->groups,
		.stored = profile->stored,
		.period = profile->period,
		.by_pid = profile->by_pid,
		.samples = profile->stalls != NULL,
		.take = take,
		.context = context,
	};
	int err = 0;

	find_origins(profile);
	for (struct push_process *own = profile->processes; own; own = own->next) {
		push_graphs__keep(own->graphs, stack_of, profile, own);
		find_stacks_of_nodes(profile, own);
	}
	if (profile->stalls)
		err = push_stalls__fill(profile->stalls, &profile->groups);
	if (!err && profile->groups.count) {
		profile->counts.intervals++;
		if (profile->callstacks)
			callstacks__name(profile->callstacks);
		err = push_tree__make(&options);
	}
	begin_anew(profile);
	forget_stacks(profile);
	return err;
}

void push_profile__count(const struct push_profile *profile, struct push_profile_counts *counts,
			 struct callstacks_counts *stacks)
{
	*counts = profile->counts;
	memset(stacks, 0, sizeof(*stacks));
	if (profile->callstacks)
		callstacks__count(profile->callstacks, stacks);
	stacks->lost += profile->lost_samples;
}

void push_profile__count_samples(const struct push_profile *profile,
				 struct push_stall_counts *counts)
{
	*counts = (struct push_stall_counts){};
	if (profile->stalls)
		push_stalls__count(profile->stalls, counts);
}

void push_profile__free(struct push_profile *profile)
{
	if (!profile)
		return;
	for (struct push_process *own = profile->processes; own; own = own->next) {
		callstacks_process__free(own->callstacks);
		push_graphs__free(own->graphs);
		if (own->process)
			own->process->data = NULL;
		own->process = NULL;
	}
	begin_anew(profile);
	clear_samples(profile->older);
	free(profile->older);
	free(profile->samples);
	callstacks__free(profile->callstacks);
	push_stalls__free(profile->stalls);
	if (profile->stored)
		store_callstacks__free(profile->stored);
	free(profile);
}
