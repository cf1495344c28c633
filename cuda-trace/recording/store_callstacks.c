// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call stacks begin at the CUDA call: what CUPTI and the agent do inside of it is nobody's
 * question. The interpreter's own functions give way to the Python functions that they run. All
 * numbers come from a file, so each is checked before it is used.
 */
#include "cuda-trace/recording/store_callstacks.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/recording/store_frames.h"

#define MAX_FRAMES 1280 /* of a call stack */

struct stack {
	uint32_t *numbers; /* NULL = none of that number */
	uint16_t frames, python_frames;
	bool written;
};

struct store_callstacks {
	struct db *db;
	struct store_frames frames;
	struct stack *stacks;
	uint32_t stack_capacity;
	struct key_index samples; /* stacks by sample_key() */
	uint32_t period;
};

struct store_callstacks *store_callstacks__new(struct db *db)
{
	struct store_callstacks *stacks = calloc(1, sizeof(*stacks));

	if (stacks)
		stacks->db = db;
	return stacks;
}

static void read_stack(struct store_callstacks *stacks, const uint8_t *data, size_t size)
{
	struct spool_stack fact;
	struct stack *stack;
	size_t bytes;

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	bytes = ((size_t)fact.frames + fact.python_frames) * sizeof(uint32_t);
	if (bytes > size - sizeof(fact) || fact.frames + fact.python_frames > MAX_FRAMES ||
	    !fact.number || fact.number >= STORE_FRAMES_MAX ||
	    !array_grow__zeroed(stacks->stacks, stacks->stack_capacity, fact.number + 1))
		return;
	stack = &stacks->stacks[fact.number];
	if (stack->numbers)
		return;
	stack->numbers = malloc(bytes + 1);
	if (!stack->numbers)
		return;
	memcpy(stack->numbers, data + sizeof(fact), bytes);
	stack->frames = fact.frames;
	stack->python_frames = fact.python_frames;
}

int store_callstacks__fact(struct store_callstacks *stacks, enum spool_kind kind,
			   const uint8_t *data, size_t size)
{
	uint32_t period;

	store_frames__fact(&stacks->frames, kind, data, size);
	if (kind == SPOOL_STACK)
		read_stack(stacks, data, size);
	if (kind == SPOOL_PERIOD && size >= sizeof(period)) {
		memcpy(&period, data, sizeof(period));
		if (period > stacks->period)
			stacks->period = period;
	}
	return 0;
}

bool store_callstacks__any(const struct store_callstacks *stacks)
{
	return stacks->stack_capacity != 0;
}

uint32_t store_callstacks__period(const struct store_callstacks *stacks)
{
	return stacks->period;
}

static uint64_t sample_key(uint32_t process, uint32_t correlation)
{
	return (uint64_t)process << 32 | correlation;
}

int store_callstacks__sample(struct store_callstacks *stacks, uint32_t process,
			     const struct spool_sample *sample)
{
	uint64_t key = sample_key(process, sample->head.correlation);
	uint32_t *known = key_index__at(&stacks->samples, key);

	if (known)
		*known = sample->stack;
	else if (!key_index__add(&stacks->samples, key, sample->stack))
		return -ENOMEM;
	return 0;
}

static bool is_in(const struct store_callstacks *stacks, const struct stored_frame *frame,
		  const char *name)
{
	const struct stored_module *module = store_frames__module(&stacks->frames, frame);

	return module && !strncmp(store_frames__base_name(module->path), name, strlen(name));
}

static bool is_interpreter(const struct store_callstacks *stacks, const struct stored_frame *frame)
{
	return is_in(stacks, frame, "python3") || is_in(stacks, frame, "libpython3");
}

/* Of python -X perf: the same functions once more, without lines. */
static bool is_trampoline(const struct stored_frame *frame)
{
	return frame->symbol && !strncmp(frame->symbol, "py::", 4);
}

static bool is_evaluation(const struct stored_frame *frame)
{
	static const char name[] = "_PyEval_EvalFrameDefault";

	return frame->symbol && !strncmp(frame->symbol, name, sizeof(name) - 1);
}

/* Where threads begin: outside of everything that a Python function does. */
static bool is_bottom(const struct stored_frame *frame)
{
	static const char *const names[] = {"_start", "main", "__libc_start", "start_thread",
					    "clone"};

	for (size_t i = 0; frame->symbol && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(frame->symbol, names[i], strlen(names[i])))
			return true;
	return false;
}

/* A chain as it is shown, innermost first. */
struct chain {
	const struct stored_frame *frames[MAX_FRAMES];
	size_t count;
};

static void add(struct chain *chain, const struct stored_frame *frame)
{
	if (chain->count < MAX_FRAMES)
		chain->frames[chain->count++] = frame;
}

/* How many frames lie inside of the CUDA call: CUPTI's, the agent's, the driver's but its first. */
static size_t inside_call(const struct store_callstacks *stacks, const struct stack *stack)
{
	size_t i = 0;

	while (i < stack->frames &&
	       is_in(stacks, store_frames__at(&stacks->frames, stack->numbers[i]), "libcupti"))
		i++;
	while (i + 1 < stack->frames &&
	       is_in(stacks, store_frames__at(&stacks->frames, stack->numbers[i]), "libcuda.so") &&
	       is_in(stacks, store_frames__at(&stacks->frames, stack->numbers[i + 1]),
		     "libcuda.so"))
		i++;
	/* A walk that ended in there: better its last frame than none. */
	return i < stack->frames || stack->python_frames || !i ? i : i - 1;
}

/* Adds the Python frames of one call of the evaluation loop; where the next one begins. */
static size_t add_python(const struct store_callstacks *stacks, const struct stack *stack,
			 size_t at, struct chain *chain)
{
	bool last = false;

	for (; at < (size_t)stack->frames + stack->python_frames && !last; at++) {
		last = stack->numbers[at] & SPOOL_FRAME_ENTRY;
		add(chain, store_frames__at(&stacks->frames, stack->numbers[at]));
	}
	return at;
}

static bool has_evaluation(const struct store_callstacks *stacks, const struct stack *stack)
{
	for (size_t i = 0; i < stack->frames; i++)
		if (is_evaluation(store_frames__at(&stacks->frames, stack->numbers[i])))
			return true;
	return false;
}

/* Does the interpreter's code begin here, seen from the innermost frame? */
static bool begins_run(const struct store_callstacks *stacks, const struct stack *stack, size_t i)
{
	return is_interpreter(stacks, store_frames__at(&stacks->frames, stack->numbers[i])) &&
	       (!i ||
		!is_interpreter(stacks, store_frames__at(&stacks->frames, stack->numbers[i - 1])));
}

static size_t count_runs(const struct store_callstacks *stacks, const struct stack *stack)
{
	size_t runs = 0;

	/* The outermost frame of a thread is where it begins; in a program, that is in its file. */
	for (size_t i = 0; i + 1 < stack->frames; i++)
		runs += begins_run(stacks, stack, i);
	return runs;
}

/*
 * The frames of Python stand where the evaluation loop is. Where it has no name (a compiler moved
 * its code, and the file has no symbols for that), each run of the interpreter's code takes those
 * of one call of the loop, and the outermost run all that are left.
 */
static void merge(const struct store_callstacks *stacks, const struct stack *stack,
		  struct chain *chain)
{
	size_t python = stack->frames, end = python + stack->python_frames;
	bool whole = has_evaluation(stacks, stack);
	size_t runs = whole ? 0 : count_runs(stacks, stack);

	for (size_t i = inside_call(stacks, stack); i < stack->frames; i++) {
		const struct stored_frame *frame =
			store_frames__at(&stacks->frames, stack->numbers[i]);

		if (!stack->python_frames) {
			add(chain, frame);
		} else if (is_evaluation(frame)) {
			python = add_python(stacks, stack, python, chain);
		} else if (runs && begins_run(stacks, stack, i)) {
			do {
				python = add_python(stacks, stack, python, chain);
			} while (runs == 1 && python < end);
			runs--;
		} else if (!is_interpreter(stacks, frame) && !is_trampoline(frame)) {
			/* Without frame pointers the walk came out somewhere outside of Python. */
			if (!whole && python < end && is_bottom(frame))
				break;
			add(chain, frame);
		}
	}
	while (python < end)
		python = add_python(stacks, stack, python, chain);
}

static int64_t put_string(const struct store_callstacks *stacks, const char *text)
{
	size_t size = strlen(text);

	return db__string(stacks->db, text, size < 4096 ? size : 4096);
}

static int put_row(const struct store_callstacks *stacks, int64_t id, int64_t depth,
		   const struct stored_frame *frame, uint32_t level)
{
	const struct stored_module *module = store_frames__module(&stacks->frames, frame);
	const struct stored_function *python = store_frames__python(&stacks->frames, frame);
	const char *path = python ? python->file : module ? module->path : "[unknown]";
	uint32_t line;
	const char *source = store_frames__source(frame, level, &line);
	bool unresolved;
	char text[FRAME_NAME];
	int64_t symbol = put_string(
		stacks, store_frames__name(&stacks->frames, frame, level, &unresolved, text));
	int64_t path_id = put_string(stacks, path);
	union record_row row;

	if (symbol < 0 || path_id < 0)
		return symbol < 0 ? (int)symbol : (int)path_id;
	record_columns__to_row(DB_CALLCHAIN, NULL, 0, 0, &row);
	row.CALLCHAIN.id = id;
	row.CALLCHAIN.symbol = symbol;
	row.CALLCHAIN.module = path_id;
	row.CALLCHAIN.unresolved = unresolved;
	row.CALLCHAIN.stackDepth = depth;
	row.CALLCHAIN.moduleAddress = python ? DB_NULL : (int64_t)frame->fact.address;
	if (!python && module && *module->build_id)
		row.CALLCHAIN.buildId = put_string(stacks, module->build_id);
	if (!python && source) {
		row.CALLCHAIN.sourceFile = put_string(stacks, source);
		row.CALLCHAIN.sourceLine = line;
	}
	row.CALLCHAIN.inlined = level < frame->inlined_count;
	return db__insert(stacks->db, DB_CALLCHAIN, row.values);
}

/* The innermost level that is shown: a CUDA call hides what was inlined into it, too. */
static uint32_t first_level(const struct store_callstacks *stacks, const struct chain *chain,
			    size_t at)
{
	const struct stored_frame *frame = chain->frames[at];

	return !at && is_in(stacks, frame, "libcuda.so") ? frame->inlined_count : 0;
}

/* The function that a frame is of, and those that were inlined there. */
static void show_frame(const struct store_callstacks *stacks, const struct stored_frame *frame,
		       uint32_t first, void (*take)(void *context, const struct shown_frame *frame),
		       void *context)
{
	const struct stored_module *module = store_frames__module(&stacks->frames, frame);
	const struct stored_function *python = store_frames__python(&stacks->frames, frame);
	const char *path = python ? python->file : module ? module->path : NULL;
	char text[FRAME_NAME];

	for (uint32_t level = frame->inlined_count + 1; level-- > first;) {
		struct shown_frame shown = {
			.path = path,
			.build_id = module && *module->build_id ? module->build_id : NULL,
			.address = frame->fact.address,
			.inlined = level < frame->inlined_count,
		};

		shown.name =
			store_frames__name(&stacks->frames, frame, level, &shown.nameless, text);
		take(context, &shown);
	}
}

void store_callstacks__frames(const struct store_callstacks *stacks, uint32_t number,
			      void (*take)(void *context, const struct shown_frame *frame),
			      void *context)
{
	struct chain chain = {.count = 0};

	if (number < stacks->stack_capacity && stacks->stacks[number].numbers)
		merge(stacks, &stacks->stacks[number], &chain);
	for (size_t i = chain.count; i--;)
		show_frame(stacks, chain.frames[i], first_level(stacks, &chain, i), take, context);
}

/* With those that were inlined. */
static int put_rows(const struct store_callstacks *stacks, int64_t id, const struct chain *chain)
{
	int64_t depth = 0;
	int err = 0;

	for (size_t i = 0; i < chain->count; i++) {
		const struct stored_frame *frame = chain->frames[i];

		for (uint32_t level = first_level(stacks, chain, i);
		     level <= frame->inlined_count && !err; level++)
			err = put_row(stacks, id, depth++, frame, level);
	}
	return err;
}

int64_t store_callstacks__of(struct store_callstacks *stacks, uint32_t process,
			     uint32_t correlation)
{
	const uint32_t *number = key_index__at(&stacks->samples, sample_key(process, correlation));
	struct chain chain = {.count = 0};
	struct stack *stack;
	int err;

	if (!number || *number >= stacks->stack_capacity)
		return DB_NULL;
	stack = &stacks->stacks[*number];
	if (!stack->numbers)
		return DB_NULL;
	if (!stack->written)
		merge(stacks, stack, &chain);
	err = put_rows(stacks, *number, &chain);
	stack->written = true;
	return err ? err : (int64_t)*number;
}

void store_callstacks__free(struct store_callstacks *stacks)
{
	if (!stacks)
		return;
	for (uint32_t i = 0; i < stacks->stack_capacity; i++)
		free(stacks->stacks[i].numbers);
	store_frames__free(&stacks->frames);
	free(stacks->stacks);
	key_index__free(&stacks->samples);
	free(stacks);
}
