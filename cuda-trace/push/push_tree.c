// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/recording/store_text.h"
#include "cuda-trace/report/report_graph_origins.h"

#define NAME_BYTES 4096

struct planting {
	const struct push_tree_options *options;
	struct stacks *stacks;
	uint32_t node; /* UINT32_MAX = no memory */
};

char *push_tree__kernel_name(struct process *process, uint32_t name)
{
	const char *text = process__pretty_name(process, name);

	return store__clean_text(text, strnlen(text, NAME_BYTES));
}

static bool is_same_source(const struct push_source *a, const struct push_source *b, bool by_pid)
{
	return (!by_pid || a->pid == b->pid) && !strcmp(a->comm, b->comm) &&
	       !strcmp(a->container, b->container) &&
	       !memcmp(&a->origin, &b->origin, sizeof(a->origin));
}

static void descend(struct planting *planting, const char *name)
{
	if (planting->node != UINT32_MAX)
		planting->node = stacks__child(planting->stacks, planting->node, name);
}

static void add_frame(void *context, const struct shown_frame *frame)
{
	struct planting *planting = context;
	char marked[NAME_BYTES + sizeof(INLINED_MARK)];
	struct stacks_node *node;
	char *name;

	snprintf(marked, sizeof(marked), "%.*s%s", NAME_BYTES, frame->name,
		 frame->inlined ? INLINED_MARK : "");
	name = store__clean_text(marked, strlen(marked));

	if (!name)
		planting->node = UINT32_MAX;
	else
		descend(planting, name);
	free(name);
	if (planting->node == UINT32_MAX)
		return;
	node = &planting->stacks->nodes[planting->node];
	node->inlined = frame->inlined;
	if (node->module || !frame->path)
		return;
	node->module = store__clean_text(frame->path, strnlen(frame->path, NAME_BYTES));
	node->build_id = frame->build_id ? strdup(frame->build_id) : NULL;
	node->address = frame->address;
}

static void add_place(struct planting *planting, const char *format, uint32_t number)
{
	char text[32];

	snprintf(text, sizeof(text), format, number);
	descend(planting, text);
	if (planting->node != UINT32_MAX)
		planting->stacks->nodes[planting->node].place = true;
}

/* Samples of no kernel. */
static bool is_dropped(const struct planting *planting, const struct push_group *group)
{
	return planting->options->samples && !group->reason;
}

/* stack 0 = it is not known. */
static int add_leaf(struct planting *planting, const struct push_group *group, const char *kernel,
		    uint32_t stack, uint64_t ns, uint64_t count)
{
	const struct push_source *source = &group->owner->source;
	char process[sizeof(source->comm) + 16];
	struct stacks_node *node;

	if (planting->options->samples && !ns)
		return 0;
	planting->node = 0;
	snprintf(process, sizeof(process), "%s (%u)", source->comm, source->pid);
	descend(planting, process);
	if (planting->node != UINT32_MAX)
		planting->stacks->nodes[planting->node].stable = strlen(source->comm);
	if (stack)
		store_callstacks__frames(planting->options->stored, stack, add_frame, planting);
	else if (planting->options->period && !is_dropped(planting, group))
		descend(planting, group->in_graph ? UNRECORDED_CREATION : "[no stack]");
	add_place(planting, "GPU %u", group->device);
	if (!planting->options->samples)
		add_place(planting, "stream %u", group->stream);
	descend(planting, kernel);
	if (planting->node != UINT32_MAX)
		planting->stacks->nodes[planting->node].kernel = !is_dropped(planting, group);
	if (group->reason)
		descend(planting, group->reason);
	if (planting->node == UINT32_MAX)
		return -ENOMEM;
	node = &planting->stacks->nodes[planting->node];
	node->leaf = true;
	node->pid = source->pid;
	node->device = group->device;
	node->stream = group->stream;
	stacks__add(planting->stacks, planting->node, ns, planting->options->samples ? 0 : count);
	return 0;
}

/* `part` of `whole`, of `total`. */
static uint64_t share_of(uint64_t total, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)total * part / whole) : 0;
}

/* Differences of running sums, so that nothing is lost by rounding: the sum is the group's. */
static int add_scaled(struct planting *planting, const struct push_group *group, const char *name,
		      uint64_t known_ns, uint64_t known)
{
	const struct push_call *calls = planting->options->groups->calls;
	uint64_t seen_ns = 0, seen = 0;
	int err = 0;

	for (uint32_t i = group->calls; i && !err; i = calls[i].next) {
		const struct push_call *call = &calls[i];

		err = add_leaf(planting, group, name, call->stack,
			       share_of(group->ns, seen_ns + call->ns, known_ns) -
				       share_of(group->ns, seen_ns, known_ns),
			       share_of(group->count, seen + call->count, known) -
				       share_of(group->count, seen, known));
		seen_ns += call->ns;
		seen += call->count;
	}
	return err;
}

static int add_exact(struct planting *planting, const struct push_group *group, const char *name,
		     uint64_t known_ns, uint64_t known)
{
	const struct push_call *calls = planting->options->groups->calls;
	int err = 0;

	for (uint32_t i = group->calls; i && !err; i = calls[i].next)
		err = add_leaf(planting, group, name, calls[i].stack, calls[i].ns, calls[i].count);
	if (!err && known < group->count)
		err = add_leaf(planting, group, name, 0, group->ns - known_ns,
			       group->count - known);
	return err;
}

/* Stacks of kernels in graphs are those of the nodes' creation: exact, and no sample. */
static int add_group(struct planting *planting, struct push_group *group)
{
	const struct push_call *calls = planting->options->groups->calls;
	uint64_t known_ns = 0, known = 0;

	if (!group->text)
		group->text = push_tree__kernel_name(group->owner->process, group->name);
	if (!group->text)
		return -ENOMEM;
	for (uint32_t i = group->calls; i; i = calls[i].next) {
		known_ns += calls[i].ns;
		known += calls[i].count;
	}
	if ((planting->options->samples || planting->options->period > 1) && !group->in_graph &&
	    known_ns)
		return add_scaled(planting, group, group->text, known_ns, known);
	return add_exact(planting, group, group->text, known_ns, known);
}

/* Those of the source of group `first`, and of no earlier one. */
static int make_one(const struct push_tree_options *options, uint32_t first, bool *done)
{
	struct stacks stacks = {.period = options->period, .samples = options->samples};
	struct planting planting = {options, &stacks, 0};
	struct push_source source = options->groups->list[first].owner->source;
	int err = stacks__child(&stacks, 0, "all") ? -ENOMEM : 0;

	for (uint32_t i = first; i <= options->groups->count && !err; i++) {
		struct push_group *group = &options->groups->list[i];
		const struct push_source *own = &group->owner->source;

		if (done[i] || !is_same_source(&source, own, options->by_pid))
			continue;
		done[i] = true;
		if (own->pid != source.pid)
			source.pid = 0;
		source.kernels += options->samples ? 0 : group->count;
		source.samples += options->samples ? group->count : 0;
		source.ns += options->samples ? 0 : group->ns;
		err = add_group(&planting, group);
	}
	if (!err)
		err = options->take(options->context, &source, &stacks);
	stacks__free(&stacks);
	return err;
}

int push_tree__make(const struct push_tree_options *options)
{
	bool *done = calloc(options->groups->count + 1, sizeof(*done));
	int err = done ? 0 : -ENOMEM;

	for (uint32_t i = 1; !err && i <= options->groups->count; i++)
		if (!done[i])
			err = make_one(options, i, done);
	free(done);
	return err;
}
