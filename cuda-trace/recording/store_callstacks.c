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

#define MAX	   (1u << 20) /* things of one kind */
#define MAX_FRAMES 1280	      /* of a call stack */

struct module {
	char *path;
	char build_id[65];
};

struct function {
	char *file, *name;
};

struct frame {
	struct spool_frame fact;
	char *symbol; /* NULL = unknown */
	char *source; /* file; NULL = unknown */
	uint32_t line;
};

struct stack {
	uint32_t *numbers; /* NULL = none of that number */
	uint16_t frames, python_frames;
	bool written;
};

struct store_callstacks {
	struct db *db;
	struct module *modules;
	struct function *functions;
	struct frame *frames;
	struct stack *stacks;
	uint32_t module_capacity, function_capacity, frame_capacity, stack_capacity;
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

/* Space for the element of that number; false = the file claims too many, or no memory. */
#define make_space(list, capacity, number) \
	((number) && (number) < MAX && array_grow__zeroed(list, capacity, (number) + 1))

static void read_module(struct store_callstacks *stacks, const uint8_t *data, size_t size)
{
	struct spool_module fact;
	struct module *module;

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	if (!make_space(stacks->modules, stacks->module_capacity, fact.number))
		return;
	module = &stacks->modules[fact.number];
	if (module->path)
		return;
	module->path = strndup((const char *)data + sizeof(fact), size - sizeof(fact));
	for (uint32_t i = 0; i < fact.build_id_size && i < sizeof(fact.build_id); i++)
		snprintf(module->build_id + 2 * i, 3, "%02x", fact.build_id[i]);
}

static void read_function(struct store_callstacks *stacks, const uint8_t *data, size_t size)
{
	struct spool_function fact;
	struct function *function;
	const char *text = (const char *)data + sizeof(fact);

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	size -= sizeof(fact);
	if (fact.file_bytes > size ||
	    !make_space(stacks->functions, stacks->function_capacity, fact.number))
		return;
	function = &stacks->functions[fact.number];
	if (function->file)
		return;
	function->file = strndup(text, fact.file_bytes);
	function->name = strndup(text + fact.file_bytes, size - fact.file_bytes);
}

static void read_frame(struct store_callstacks *stacks, const uint8_t *data, size_t size)
{
	struct spool_frame fact;

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	if (make_space(stacks->frames, stacks->frame_capacity, fact.number))
		stacks->frames[fact.number].fact = fact;
}

static void read_symbol(struct store_callstacks *stacks, const uint8_t *data, size_t size)
{
	uint32_t number;

	if (size < sizeof(number))
		return;
	memcpy(&number, data, sizeof(number));
	if (number < stacks->frame_capacity && !stacks->frames[number].symbol)
		stacks->frames[number].symbol =
			strndup((const char *)data + sizeof(number), size - sizeof(number));
}

static void read_line(struct store_callstacks *stacks, const uint8_t *data, size_t size)
{
	uint32_t head[2];

	if (size < sizeof(head))
		return;
	memcpy(head, data, sizeof(head));
	if (head[0] >= stacks->frame_capacity || stacks->frames[head[0]].source)
		return;
	stacks->frames[head[0]].line = head[1];
	stacks->frames[head[0]].source =
		strndup((const char *)data + sizeof(head), size - sizeof(head));
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
	    !make_space(stacks->stacks, stacks->stack_capacity, fact.number))
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

	if (kind == SPOOL_MODULE)
		read_module(stacks, data, size);
	else if (kind == SPOOL_FUNCTION)
		read_function(stacks, data, size);
	else if (kind == SPOOL_FRAME)
		read_frame(stacks, data, size);
	else if (kind == SPOOL_SYMBOL)
		read_symbol(stacks, data, size);
	else if (kind == SPOOL_LINE)
		read_line(stacks, data, size);
	else if (kind == SPOOL_STACK)
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

static const struct frame *frame_at(const struct store_callstacks *stacks, uint32_t number)
{
	static const struct frame unknown;

	number &= ~SPOOL_FRAME_ENTRY;
	return number && number < stacks->frame_capacity ? &stacks->frames[number] : &unknown;
}

static const struct module *module_of(const struct store_callstacks *stacks,
				      const struct frame *frame)
{
	uint32_t number = frame->fact.module;

	return number && number < stacks->module_capacity && stacks->modules[number].path
		       ? &stacks->modules[number]
		       : NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool is_in(const struct store_callstacks *stacks, const struct frame *frame,
		  const char *name)
{
	const struct module *module = module_of(stacks, frame);

	return module && !strncmp(base_name(module->path), name, strlen(name));
}

static bool is_interpreter(const struct store_callstacks *stacks, const struct frame *frame)
{
	return is_in(stacks, frame, "python3") || is_in(stacks, frame, "libpython3");
}

/* Of python -X perf: the same functions once more, without lines. */
static bool is_trampoline(const struct frame *frame)
{
	return frame->symbol && !strncmp(frame->symbol, "py::", 4);
}

static bool is_evaluation(const struct frame *frame)
{
	static const char name[] = "_PyEval_EvalFrameDefault";

	return frame->symbol && !strncmp(frame->symbol, name, sizeof(name) - 1);
}

/* Where threads begin: outside of everything that a Python function does. */
static bool is_bottom(const struct frame *frame)
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
	const struct frame *frames[MAX_FRAMES];
	size_t count;
};

static void add(struct chain *chain, const struct frame *frame)
{
	if (chain->count < MAX_FRAMES)
		chain->frames[chain->count++] = frame;
}

/* How many frames lie inside of the CUDA call: CUPTI's, the agent's, the driver's but its first. */
static size_t inside_call(const struct store_callstacks *stacks, const struct stack *stack)
{
	size_t i = 0;

	while (i < stack->frames && is_in(stacks, frame_at(stacks, stack->numbers[i]), "libcupti"))
		i++;
	while (i + 1 < stack->frames &&
	       is_in(stacks, frame_at(stacks, stack->numbers[i]), "libcuda.so") &&
	       is_in(stacks, frame_at(stacks, stack->numbers[i + 1]), "libcuda.so"))
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
		add(chain, frame_at(stacks, stack->numbers[at]));
	}
	return at;
}

static bool has_evaluation(const struct store_callstacks *stacks, const struct stack *stack)
{
	for (size_t i = 0; i < stack->frames; i++)
		if (is_evaluation(frame_at(stacks, stack->numbers[i])))
			return true;
	return false;
}

static void merge(const struct store_callstacks *stacks, const struct stack *stack,
		  struct chain *chain)
{
	size_t python = stack->frames, end = python + stack->python_frames;
	bool whole = has_evaluation(stacks, stack);

	for (size_t i = inside_call(stacks, stack); i < stack->frames; i++) {
		const struct frame *frame = frame_at(stacks, stack->numbers[i]);

		if (!stack->python_frames) {
			add(chain, frame);
		} else if (is_evaluation(frame)) {
			python = add_python(stacks, stack, python, chain);
		} else if (!is_interpreter(stacks, frame) && !is_trampoline(frame)) {
			/* Without frame pointers the walk came out somewhere outside of Python. */
			if (!whole && is_bottom(frame))
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

/* A frame's name, in `text` if it has to be made. */
static const char *name_of(const struct store_callstacks *stacks, const struct frame *frame,
			   bool *unresolved, char text[8192])
{
	const struct module *module = module_of(stacks, frame);
	const struct function *function;
	const size_t size = 8192;

	*unresolved = false;
	if (frame->fact.function && frame->fact.function < stacks->function_capacity) {
		function = &stacks->functions[frame->fact.function];
		*unresolved = !function->name || !*function->name;
		if (*unresolved)
			snprintf(text, size, "[Python]");
		else if (frame->fact.line)
			snprintf(text, size, "%s:%d %s", base_name(function->file),
				 frame->fact.line, function->name);
		else
			snprintf(text, size, "%s %s", base_name(function->file), function->name);
	} else if (frame->symbol) {
		return frame->symbol;
	} else {
		*unresolved = true;
		snprintf(text, size, "%s%s0x%llx", module ? base_name(module->path) : "",
			 module ? "+" : "", (unsigned long long)frame->fact.address);
	}
	return text;
}

static int put_row(const struct store_callstacks *stacks, int64_t id, int64_t depth,
		   const struct frame *frame)
{
	const struct module *module = module_of(stacks, frame);
	uint32_t number = frame->fact.function;
	bool is_python =
		number && number < stacks->function_capacity && stacks->functions[number].file;
	const char *path = is_python ? stacks->functions[number].file
			   : module  ? module->path
				     : "[unknown]";
	bool unresolved;
	char text[8192];
	int64_t symbol = put_string(stacks, name_of(stacks, frame, &unresolved, text));
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
	row.CALLCHAIN.moduleAddress = is_python ? DB_NULL : (int64_t)frame->fact.address;
	if (!is_python && module && *module->build_id)
		row.CALLCHAIN.buildId = put_string(stacks, module->build_id);
	if (!is_python && frame->source) {
		row.CALLCHAIN.sourceFile = put_string(stacks, frame->source);
		row.CALLCHAIN.sourceLine = frame->line;
	}
	return db__insert(stacks->db, DB_CALLCHAIN, row.values);
}

static const char *path_of(const struct store_callstacks *stacks, const struct frame *frame)
{
	const struct module *module = module_of(stacks, frame);
	uint32_t number = frame->fact.function;

	if (number && number < stacks->function_capacity && stacks->functions[number].file)
		return stacks->functions[number].file;
	return module ? module->path : NULL;
}

void store_callstacks__frames(const struct store_callstacks *stacks, uint32_t number,
			      void (*take)(void *context, const struct shown_frame *frame),
			      void *context)
{
	struct chain chain = {.count = 0};
	char text[8192];

	if (number < stacks->stack_capacity && stacks->stacks[number].numbers)
		merge(stacks, &stacks->stacks[number], &chain);
	for (size_t i = chain.count; i--;) {
		const struct frame *frame = chain.frames[i];
		const struct module *module = module_of(stacks, frame);
		struct shown_frame shown = {
			.path = path_of(stacks, frame),
			.build_id = module && *module->build_id ? module->build_id : NULL,
			.address = frame->fact.address,
		};

		shown.name = name_of(stacks, frame, &shown.nameless, text);
		take(context, &shown);
	}
}

int64_t store_callstacks__of(struct store_callstacks *stacks, uint32_t process,
			     uint32_t correlation)
{
	const uint32_t *number = key_index__at(&stacks->samples, sample_key(process, correlation));
	struct chain chain = {.count = 0};
	struct stack *stack;
	int err = 0;

	if (!number || *number >= stacks->stack_capacity)
		return DB_NULL;
	stack = &stacks->stacks[*number];
	if (!stack->numbers)
		return DB_NULL;
	if (!stack->written)
		merge(stacks, stack, &chain);
	for (size_t i = 0; i < chain.count && !err; i++)
		err = put_row(stacks, *number, i, chain.frames[i]);
	stack->written = true;
	return err ? err : (int64_t)*number;
}

void store_callstacks__free(struct store_callstacks *stacks)
{
	if (!stacks)
		return;
	for (uint32_t i = 0; i < stacks->module_capacity; i++)
		free(stacks->modules[i].path);
	for (uint32_t i = 0; i < stacks->function_capacity; i++) {
		free(stacks->functions[i].file);
		free(stacks->functions[i].name);
	}
	for (uint32_t i = 0; i < stacks->frame_capacity; i++) {
		free(stacks->frames[i].symbol);
		free(stacks->frames[i].source);
	}
	for (uint32_t i = 0; i < stacks->stack_capacity; i++)
		free(stacks->stacks[i].numbers);
	free(stacks->modules);
	free(stacks->functions);
	free(stacks->frames);
	free(stacks->stacks);
	key_index__free(&stacks->samples);
	free(stacks);
}
