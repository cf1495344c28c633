// SPDX-License-Identifier: BSD-2-Clause
/*
 * CUPTI does not say which launch a sample belongs to: kernels run side by side while it samples.
 * So a kernel's samples are parted among the places that it was launched from, as its launches in
 * that process are. Sums over kernels, lines and reasons are exact; only what stands above the
 * kernel is an estimate, wrong by as much as some launches of it run longer than others.
 *
 * A launch comes as two halves, its record (which kernel) and its stack, in either order and far
 * apart if many threads launch. Failure mode: a half whose other one never comes. Halves live in a
 * table of fixed size, each correlation in its own place, and are written over.
 *
 * A launch that was captured ran nothing itself: as soon as its node is known, the launches of
 * graphs with that node count instead.
 */
#include "cuda-trace/profile/pc/pc_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/profile/pc/key_counts.h"
#include "cuda-trace/profile/pc/pc_graphs.h"
#include "cuda-trace/recording/callstacks.h"
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/base/intern.h"
#include "cuda-trace/profile/code/code_lines.h"
#include "cuda-trace/recording/store_callstacks.h"
#include "cuda-trace/base/text.h"

#define HALVES	    (1u << 16)
#define MAX_SAMPLES (1u << 18)
#define MAX_PLACES  (1u << 18) /* that kernels are launched from */
#define MAX_KERNELS 8192
#define MAX_BYTES   (32ul << 20)
#define TEXT	    4200

struct half {
	uint64_t node; /* of a graph, which the call created; 0 = none */
	uint32_t correlation;
	uint32_t stack, kernel; /* 0 = has not come */
	uint32_t counted;	/* the place that it was counted for; 0 = not counted */
};

struct own {
	struct own *next;
	const struct process *process; /* NULL = has ended */
	uint32_t number;	       /* from 1 */
	struct callstacks_process *callstacks;
	struct half *halves; /* NULL = none came, or no memory */
	struct pc_graphs *graphs;
	char label[64];
};

struct sample_key {
	uint32_t process, instruction, reason;
};

struct place_key {
	uint32_t process, kernel, stack;
};

struct pc_stacks {
	struct own *processes;
	uint32_t process_count;
	struct callstacks *callstacks; /* NULL = no stacks are wanted */
	struct store_callstacks *stored;
	struct interned *kernels; /* demangled names */
	struct key_counts samples, places;
	uint64_t left_out;
	uint32_t period; /* one launch in so many has a stack; 0 = none has */
	struct pc_graphs_unknown unknown;
};

/* ---- what comes ---- */

static void put(void *context, enum spool_kind kind, const void *data, size_t size,
		const void *more, size_t more_size)
{
	struct pc_stacks *all = context;
	uint8_t *whole = malloc(size + more_size + 1);

	if (!whole)
		return;
	memcpy(whole, data, size);
	if (more_size)
		memcpy(whole + size, more, more_size);
	store_callstacks__fact(all->stored, kind, whole, size + more_size);
	free(whole);
}

/* Both halves are there. */
static void put_place(struct pc_stacks *all, struct own *own, struct half *half)
{
	const struct place_key key = {own->number, half->kernel, half->stack};

	if (half->counted)
		return;
	half->counted =
		key_counts__add(&all->places, &key, sizeof(key), half->node ? 0 : all->period);
	if (half->node)
		pc_graphs__origin(own->graphs, half->node, half->counted);
}

/* NULL = no memory. */
static struct half *half_of(struct own *own, uint32_t correlation)
{
	struct half *half;

	if (!own->halves)
		own->halves = calloc(HALVES, sizeof(*own->halves));
	if (!own->halves)
		return NULL;
	half = &own->halves[correlation % HALVES];
	if (half->correlation != correlation)
		*half = (struct half){.correlation = correlation};
	return half;
}

static void put_half(struct pc_stacks *all, struct own *own, uint32_t correlation, uint32_t stack,
		     uint32_t kernel)
{
	struct half *half = half_of(own, correlation);

	if (!half)
		return;
	half->stack = stack ? stack : half->stack;
	half->kernel = kernel ? kernel : half->kernel;
	if (half->stack && half->kernel)
		put_place(all, own, half);
}

static void put_stack(void *context, void *owner, const struct spool_sample *sample)
{
	put_half(context, owner, sample->head.correlation, sample->stack, 0);
}

struct pc_stacks *pc_stacks__new(uint32_t period)
{
	struct pc_stacks *all = calloc(1, sizeof(*all));
	const struct callstacks_sink sink = {all, put, put_stack};

	if (!all)
		return NULL;
	all->period = period;
	if (period) {
		all->callstacks = callstacks__new(&sink);
		all->stored = store_callstacks__new(NULL);
	}
	all->kernels = intern__new(MAX_KERNELS, MAX_BYTES);
	if (all->kernels && key_counts__init(&all->samples, MAX_SAMPLES, MAX_BYTES) &&
	    key_counts__init(&all->places, MAX_PLACES, MAX_BYTES) &&
	    (!period || (all->callstacks && all->stored)))
		return all;
	pc_stacks__free(all);
	return NULL;
}

void pc_stacks__start(struct pc_stacks *all, struct process *process)
{
	struct own *own = calloc(1, sizeof(*own));
	char comm[40];

	if (!own)
		return;
	own->process = process;
	own->number = ++all->process_count;
	snprintf(own->label, sizeof(own->label), "%s (%u)",
		 text__show(comm, sizeof(comm), process->comm, 0), process->pid);
	if (all->callstacks) {
		own->callstacks = callstacks_process__new(all->callstacks, process->pid, own);
		own->graphs = pc_graphs__new();
	}
	own->next = all->processes;
	all->processes = own;
}

/* The same one is looked up again and again. */
static struct own *own_of(struct pc_stacks *all, const struct process *process)
{
	struct own **at = &all->processes, *own;

	while (*at && (*at)->process != process)
		at = &(*at)->next;
	own = *at;
	if (!own)
		return NULL;
	*at = own->next;
	own->next = all->processes;
	all->processes = own;
	return own;
}

static uint32_t kernel_of(struct pc_stacks *all, struct process *process, uint32_t name)
{
	const char *pretty = process__pretty_name(process, name);

	return intern__number(all->kernels, pretty, strlen(pretty) + 1, NULL);
}

static void handle_launch(struct pc_stacks *all, struct own *own, struct process *process,
			  const struct cuda_launch *launch)
{
	uint32_t kernel;

	if (!launch->name || launch->result)
		return;
	kernel = kernel_of(all, process, launch->name);
	if (kernel)
		put_half(all, own, launch->head.correlation, 0, kernel);
}

/* Its launch may have been taken for one that ran a kernel. */
static void handle_origin(struct pc_stacks *all, struct own *own, struct process *process,
			  const struct cuda_graph_origin *origin)
{
	struct half *half = half_of(own, origin->head.correlation);
	uint64_t node = pc_graphs__node_of(origin);

	pc_graphs__origin(own->graphs, node, 0);
	if (!half || half->node)
		return;
	half->node = node;
	if (half->counted)
		all->places.counts[half->counted] -= all->period;
	half->counted = 0;
	put_half(all, own, origin->head.correlation, 0, kernel_of(all, process, origin->name));
}

static void handle_host(struct pc_stacks *all, struct own *own, struct process *process,
			const struct cuda_record *record)
{
	const struct cuda_launch *launch = (const void *)record;

	if (record->kind == CUDA_RECORD_LAUNCH)
		handle_launch(all, own, process, launch);
	else if (record->kind == CUDA_RECORD_GRAPH_NODE)
		pc_graphs__node(own->graphs, (const void *)record);
	else if (record->kind == CUDA_RECORD_GRAPH_ORIGIN)
		handle_origin(all, own, process, (const void *)record);
	else if (record->kind == CUDA_RECORD_GRAPH_LAUNCH && !launch->result && launch->grid[0])
		pc_graphs__launch(own->graphs, launch->grid[0], launch->start);
	else if (record->kind == CUDA_RECORD_GRAPH_CHANGE)
		pc_graphs__change(own->graphs, (const void *)record);
}

void pc_stacks__record(struct pc_stacks *all, struct process *process,
		       const struct cuda_record *record, const struct pc_table *table)
{
	struct own *own = own_of(all, process);
	const struct pc_place *place = &table->latest;

	if (own && all->callstacks)
		handle_host(all, own, process, record);
	if (!own || record->kind != CUDA_RECORD_PC_SAMPLE || !place->samples)
		return;
	const struct sample_key key = {own->number, place->instruction, place->reason};

	if (!key_counts__add(&all->samples, &key, sizeof(key), place->samples))
		all->left_out += place->samples;
}

void pc_stacks__event(struct pc_stacks *all, struct process *process, const struct event *event)
{
	struct own *own = own_of(all, process);

	if (own && own->callstacks)
		callstacks_process__take(own->callstacks, event);
}

static void add_replays(void *context, uint32_t place, uint64_t launches)
{
	struct pc_stacks *all = context;

	all->places.counts[place] += launches;
}

static void end(struct pc_stacks *all, struct own *own)
{
	callstacks_process__free(own->callstacks); /* the last stacks come from it */
	pc_graphs__sum(own->graphs, add_replays, all, &all->unknown);
	pc_graphs__free(own->graphs);
	free(own->halves);
	own->graphs = NULL;
	own->callstacks = NULL;
	own->halves = NULL;
	own->process = NULL;
}

void pc_stacks__end(struct pc_stacks *all, struct process *process)
{
	struct own *own = own_of(all, process);

	if (own)
		end(all, own);
}

/* ---- the tree ---- */

struct planting {
	struct pc_stacks *all;
	const struct pc_table *table;
	struct stacks *tree;
	uint32_t *places;    /* numbers in all->places, by process and kernel */
	uint32_t *functions; /* the kernel of each function, 0 = none of that name was launched */
	const char **labels; /* of processes */
	uint32_t node;	     /* where the next frame goes */
};

static const struct place_key *place_at(const struct pc_stacks *all, uint32_t number)
{
	return intern__at(all->places.keys, number, NULL);
}

static const struct pc_stacks *sorting;

static int by_kernel(const void *a, const void *b)
{
	const struct place_key *x = place_at(sorting, *(const uint32_t *)a);
	const struct place_key *y = place_at(sorting, *(const uint32_t *)b);

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->kernel != y->kernel)
		return x->kernel < y->kernel ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static int prepare(struct planting *planting)
{
	const struct pc_stacks *all = planting->all;
	const struct pc_table *table = planting->table;
	uint32_t n = intern__count(all->places.keys);

	planting->places = calloc(n + 1, sizeof(*planting->places));
	planting->functions = calloc(table->function_count + 1, sizeof(*planting->functions));
	planting->labels = calloc(all->process_count + 1, sizeof(*planting->labels));
	if (!planting->places || !planting->functions || !planting->labels)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		planting->places[i] = i + 1;
	sorting = all;
	qsort(planting->places, n, sizeof(*planting->places), by_kernel);
	for (uint32_t i = 0; i < table->function_count; i++)
		planting->functions[i] = intern__find(all->kernels, table->functions[i].of.name,
						      strlen(table->functions[i].of.name) + 1);
	for (const struct own *own = all->processes; own; own = own->next)
		planting->labels[own->number] = own->label;
	return 0;
}

static bool is_before(const struct place_key *key, uint32_t process, uint32_t kernel)
{
	return key->process < process || (key->process == process && key->kernel < kernel);
}

/* Where the kernel was launched from, in `places`; how many. */
static uint32_t find_places(const struct planting *planting, uint32_t process, uint32_t kernel,
			    uint32_t *first)
{
	const uint32_t end = intern__count(planting->all->places.keys);
	uint32_t n = 0;

	*first = sorted__count_before(
		end, i, is_before(place_at(planting->all, planting->places[i]), process, kernel));
	for (; kernel && *first + n < end; n++) {
		const struct place_key *key = place_at(planting->all, planting->places[*first + n]);

		if (key->process != process || key->kernel != kernel)
			break;
	}
	return n;
}

/* Below planting->node, which becomes it; UINT32_MAX stays that. */
static void descend(struct planting *planting, const char *name)
{
	char clean[TEXT];

	if (planting->node != UINT32_MAX)
		planting->node = stacks__child(
			planting->tree, planting->node,
			text__show(clean, sizeof(clean), name, sizeof(clean) / 4 - 1));
}

static void add_frame(void *context, const struct shown_frame *frame)
{
	struct planting *planting = context;
	char marked[TEXT];

	snprintf(marked, sizeof(marked), "%s" INLINED_MARK, frame->name);
	descend(planting, frame->inlined ? marked : frame->name);
}

static int add_leaf(struct planting *planting, const struct sample_key *key, uint32_t stack,
		    uint64_t samples)
{
	const struct pc_table *table = planting->table;
	const struct pc_instruction *instruction = &table->instructions[key->instruction];
	const char *slash = instruction->at.file ? strrchr(instruction->at.file, '/') : NULL;
	char line[TEXT];

	planting->node = 0;
	descend(planting, planting->labels[key->process]);
	if (stack)
		store_callstacks__frames(planting->all->stored, stack, add_frame, planting);
	else if (planting->all->callstacks)
		descend(planting, "[no stack]");
	descend(planting, table->functions[instruction->at.function].of.name);
	/* From the kernel's own line inwards. */
	for (uint32_t i = instruction->at.depth; i-- > 1;) {
		char *pretty = demangle(instruction->at.chain[i - 1].function ?: "");

		snprintf(line, sizeof(line), "%.1000s:%u", instruction->at.chain[i].file,
			 instruction->at.chain[i].line);
		descend(planting, line);
		descend(planting, pretty ?: instruction->at.chain[i - 1].function ?: "?");
		free(pretty);
	}
	if (instruction->at.file)
		snprintf(line, sizeof(line), "%.1000s:%u", slash ? slash + 1 : instruction->at.file,
			 instruction->at.line);
	else
		snprintf(line, sizeof(line), "+0x%llx", (unsigned long long)instruction->at.offset);
	descend(planting, line);
	descend(planting, pc_table__reason(table, key->reason));
	if (planting->node == UINT32_MAX)
		return -ENOMEM;
	planting->tree->nodes[planting->node].leaf = true;
	stacks__add(planting->tree, planting->node, samples, 0);
	return 0;
}

/* Differences of running sums, so that what is rounded off is not lost. */
static int part(struct planting *planting, const struct sample_key *key, uint64_t samples)
{
	const struct pc_instruction *instruction = &planting->table->instructions[key->instruction];
	uint32_t first, count = find_places(planting, key->process,
					    planting->functions[instruction->at.function], &first);
	uint64_t whole = 0, seen = 0, given = 0, so_far;
	int err = 0;

	for (uint32_t i = first; i < first + count; i++)
		whole += planting->all->places.counts[planting->places[i]];
	if (!whole)
		return add_leaf(planting, key, 0, samples);
	for (uint32_t i = first; i < first + count && !err; i++) {
		seen += planting->all->places.counts[planting->places[i]];
		so_far = (uint64_t)((unsigned __int128)samples * seen / whole);
		if (so_far > given)
			err = add_leaf(planting, key,
				       place_at(planting->all, planting->places[i])->stack,
				       so_far - given);
		given = so_far;
	}
	return err;
}

int pc_stacks__tree(struct pc_stacks *all, const struct pc_table *table, struct stacks *tree)
{
	struct planting planting = {.all = all, .table = table, .tree = tree};
	struct callstacks_counts counts;
	int err;

	memset(tree, 0, sizeof(*tree));
	tree->samples = true;
	tree->period = all->callstacks ? 1 : 0;
	if (all->callstacks) {
		callstacks__name(all->callstacks);
		callstacks__count(all->callstacks, &counts);
		tree->nameless = counts.nameless;
	}
	for (struct own *own = all->processes; own; own = own->next)
		end(all, own);
	err = stacks__child(tree, 0, "all") ? -ENOMEM : prepare(&planting);
	for (uint32_t i = 1; !err && i <= intern__count(all->samples.keys); i++)
		err = part(&planting, intern__at(all->samples.keys, i, NULL),
			   all->samples.counts[i]);
	free(planting.places);
	free(planting.functions);
	free(planting.labels);
	if (err)
		stacks__free(tree);
	return err;
}

const struct pc_graphs_unknown *pc_stacks__unknown(const struct pc_stacks *all)
{
	return &all->unknown;
}

uint64_t pc_stacks__left_out(const struct pc_stacks *all)
{
	return all->left_out;
}

void pc_stacks__free(struct pc_stacks *all)
{
	if (!all)
		return;
	while (all->processes) {
		struct own *own = all->processes;

		all->processes = own->next;
		end(all, own);
		free(own);
	}
	callstacks__free(all->callstacks);
	store_callstacks__free(all->stored);
	intern__free(all->kernels);
	key_counts__free(&all->samples);
	key_counts__free(&all->places);
	free(all);
}
