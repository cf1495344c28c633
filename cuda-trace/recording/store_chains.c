// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chains begin at the CUDA call: what CUPTI and the agent do inside of it is nobody's question. The
 * interpreter's own functions give way to the Python functions that they run. All numbers come from
 * a file, so each is checked before it is used.
 */
#include "cuda-trace/recording/store_chains.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX	   (1u << 20) /* things of one kind */
#define MAX_FRAMES 1280	      /* of a chain */

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
};

struct stack {
	uint32_t *numbers; /* NULL = none of that number */
	uint16_t frames, python_frames;
	bool written;
};

struct sample {
	uint64_t key; /* process and correlation; 0 = free */
	uint32_t stack;
};

struct chains {
	struct db *db;
	struct module *modules;
	struct function *functions;
	struct frame *frames;
	struct stack *stacks;
	uint32_t module_capacity, function_capacity, frame_capacity, stack_capacity;
	struct sample *samples;
	size_t sample_count, sample_capacity;
	uint32_t period;
};

struct chains *store_chains__new(struct db *db)
{
	struct chains *chains = calloc(1, sizeof(*chains));

	if (chains)
		chains->db = db;
	return chains;
}

/* Space for the element of that number, zeroed; false = the file claims too many, or no memory. */
static bool make_space(void *list, uint32_t *capacity, uint32_t number, size_t size)
{
	uint32_t more = number + number / 2 + 64;
	void *larger;

	if (!number || number >= MAX)
		return false;
	if (number < *capacity)
		return true;
	larger = reallocarray(*(void **)list, more, size);
	if (!larger)
		return false;
	memset((char *)larger + *capacity * size, 0, (more - *capacity) * size);
	*(void **)list = larger;
	*capacity = more;
	return true;
}

static void take_module(struct chains *chains, const uint8_t *data, size_t size)
{
	struct spool_module fact;
	struct module *module;

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	if (!make_space(&chains->modules, &chains->module_capacity, fact.number, sizeof(*module)))
		return;
	module = &chains->modules[fact.number];
	if (module->path)
		return;
	module->path = strndup((const char *)data + sizeof(fact), size - sizeof(fact));
	for (uint32_t i = 0; i < fact.build_id_size && i < sizeof(fact.build_id); i++)
		snprintf(module->build_id + 2 * i, 3, "%02x", fact.build_id[i]);
}

static void take_function(struct chains *chains, const uint8_t *data, size_t size)
{
	struct spool_function fact;
	struct function *function;
	const char *text = (const char *)data + sizeof(fact);

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	size -= sizeof(fact);
	if (fact.file_bytes > size || !make_space(&chains->functions, &chains->function_capacity,
						  fact.number, sizeof(*function)))
		return;
	function = &chains->functions[fact.number];
	if (function->file)
		return;
	function->file = strndup(text, fact.file_bytes);
	function->name = strndup(text + fact.file_bytes, size - fact.file_bytes);
}

static void take_frame(struct chains *chains, const uint8_t *data, size_t size)
{
	struct spool_frame fact;

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	if (make_space(&chains->frames, &chains->frame_capacity, fact.number,
		       sizeof(*chains->frames)))
		chains->frames[fact.number].fact = fact;
}

static void take_symbol(struct chains *chains, const uint8_t *data, size_t size)
{
	uint32_t number;

	if (size < sizeof(number))
		return;
	memcpy(&number, data, sizeof(number));
	if (number < chains->frame_capacity && !chains->frames[number].symbol)
		chains->frames[number].symbol =
			strndup((const char *)data + sizeof(number), size - sizeof(number));
}

static void take_stack(struct chains *chains, const uint8_t *data, size_t size)
{
	struct spool_stack fact;
	struct stack *stack;
	size_t bytes;

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	bytes = ((size_t)fact.frames + fact.python_frames) * sizeof(uint32_t);
	if (bytes > size - sizeof(fact) || fact.frames + fact.python_frames > MAX_FRAMES ||
	    !make_space(&chains->stacks, &chains->stack_capacity, fact.number, sizeof(*stack)))
		return;
	stack = &chains->stacks[fact.number];
	if (stack->numbers)
		return;
	stack->numbers = malloc(bytes + 1);
	if (!stack->numbers)
		return;
	memcpy(stack->numbers, data + sizeof(fact), bytes);
	stack->frames = fact.frames;
	stack->python_frames = fact.python_frames;
}

int store_chains__fact(struct chains *chains, enum spool_kind kind, const uint8_t *data,
		       size_t size)
{
	uint32_t period;

	if (kind == SPOOL_MODULE)
		take_module(chains, data, size);
	else if (kind == SPOOL_FUNCTION)
		take_function(chains, data, size);
	else if (kind == SPOOL_FRAME)
		take_frame(chains, data, size);
	else if (kind == SPOOL_SYMBOL)
		take_symbol(chains, data, size);
	else if (kind == SPOOL_STACK)
		take_stack(chains, data, size);
	if (kind == SPOOL_PERIOD && size >= sizeof(period)) {
		memcpy(&period, data, sizeof(period));
		if (period > chains->period)
			chains->period = period;
	}
	return 0;
}

bool store_chains__any(const struct chains *chains)
{
	return chains->stack_capacity != 0;
}

uint32_t store_chains__period(const struct chains *chains)
{
	return chains->period;
}

static struct sample *sample_slot(const struct chains *chains, uint64_t key)
{
	size_t mask = chains->sample_capacity - 1, i = key * 0x9e3779b97f4a7c15ull >> 20 & mask;

	while (chains->samples[i].key && chains->samples[i].key != key)
		i = (i + 1) & mask;
	return &chains->samples[i];
}

static int grow_samples(struct chains *chains)
{
	size_t capacity = chains->sample_capacity;
	struct sample *old = chains->samples;

	chains->samples = calloc(capacity ? capacity * 2 : 4096, sizeof(*old));
	if (!chains->samples) {
		chains->samples = old;
		return -ENOMEM;
	}
	chains->sample_capacity = capacity ? capacity * 2 : 4096;
	for (size_t i = 0; i < capacity; i++)
		if (old[i].key)
			*sample_slot(chains, old[i].key) = old[i];
	free(old);
	return 0;
}

/* Never 0: processes are numbered from 1. */
static uint64_t sample_key(uint32_t process, uint32_t correlation)
{
	return (uint64_t)process << 32 | correlation;
}

int store_chains__sample(struct chains *chains, uint32_t process, const struct spool_sample *sample)
{
	struct sample *slot;

	if (chains->sample_count * 2 >= chains->sample_capacity && grow_samples(chains))
		return -ENOMEM;
	slot = sample_slot(chains, sample_key(process, sample->head.correlation));
	chains->sample_count += !slot->key;
	slot->key = sample_key(process, sample->head.correlation);
	slot->stack = sample->stack;
	return 0;
}

static const struct frame *frame_at(const struct chains *chains, uint32_t number)
{
	static const struct frame unknown;

	number &= ~SPOOL_FRAME_ENTRY;
	return number && number < chains->frame_capacity ? &chains->frames[number] : &unknown;
}

static const struct module *module_of(const struct chains *chains, const struct frame *frame)
{
	uint32_t number = frame->fact.module;

	return number && number < chains->module_capacity && chains->modules[number].path
		       ? &chains->modules[number]
		       : NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool is_in(const struct chains *chains, const struct frame *frame, const char *name)
{
	const struct module *module = module_of(chains, frame);

	return module && !strncmp(base_name(module->path), name, strlen(name));
}

static bool is_interpreter(const struct chains *chains, const struct frame *frame)
{
	return is_in(chains, frame, "python3") || is_in(chains, frame, "libpython3");
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
static size_t inside_call(const struct chains *chains, const struct stack *stack)
{
	size_t i = 0;

	while (i < stack->frames && is_in(chains, frame_at(chains, stack->numbers[i]), "libcupti"))
		i++;
	while (i + 1 < stack->frames &&
	       is_in(chains, frame_at(chains, stack->numbers[i]), "libcuda.so") &&
	       is_in(chains, frame_at(chains, stack->numbers[i + 1]), "libcuda.so"))
		i++;
	/* A walk that ended in there: better its last frame than none. */
	return i < stack->frames || stack->python_frames || !i ? i : i - 1;
}

/* Adds the Python frames of one call of the evaluation loop; where the next one begins. */
static size_t add_python(const struct chains *chains, const struct stack *stack, size_t at,
			 struct chain *chain)
{
	bool last = false;

	for (; at < (size_t)stack->frames + stack->python_frames && !last; at++) {
		last = stack->numbers[at] & SPOOL_FRAME_ENTRY;
		add(chain, frame_at(chains, stack->numbers[at]));
	}
	return at;
}

static bool has_evaluation(const struct chains *chains, const struct stack *stack)
{
	for (size_t i = 0; i < stack->frames; i++)
		if (is_evaluation(frame_at(chains, stack->numbers[i])))
			return true;
	return false;
}

static void merge(const struct chains *chains, const struct stack *stack, struct chain *chain)
{
	size_t python = stack->frames, end = python + stack->python_frames;
	bool whole = has_evaluation(chains, stack);

	for (size_t i = inside_call(chains, stack); i < stack->frames; i++) {
		const struct frame *frame = frame_at(chains, stack->numbers[i]);

		if (!stack->python_frames) {
			add(chain, frame);
		} else if (is_evaluation(frame)) {
			python = add_python(chains, stack, python, chain);
		} else if (!is_interpreter(chains, frame) && !is_trampoline(frame)) {
			/* Without frame pointers the walk came out somewhere outside of Python. */
			if (!whole && is_bottom(frame))
				break;
			add(chain, frame);
		}
	}
	while (python < end)
		python = add_python(chains, stack, python, chain);
}

static int64_t put_string(const struct chains *chains, const char *text)
{
	size_t size = strlen(text);

	return db__string(chains->db, text, size < 4096 ? size : 4096);
}

/* A frame's name, in `text` if it has to be made. */
static const char *name_of(const struct chains *chains, const struct frame *frame, bool *unresolved,
			   char text[8192])
{
	const struct module *module = module_of(chains, frame);
	const struct function *function;
	const size_t size = 8192;

	*unresolved = false;
	if (frame->fact.function && frame->fact.function < chains->function_capacity) {
		function = &chains->functions[frame->fact.function];
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

static int put_row(const struct chains *chains, int64_t id, int64_t depth,
		   const struct frame *frame)
{
	const struct module *module = module_of(chains, frame);
	uint32_t number = frame->fact.function;
	bool is_python =
		number && number < chains->function_capacity && chains->functions[number].file;
	const char *path = is_python ? chains->functions[number].file
			   : module  ? module->path
				     : "[unknown]";
	bool unresolved;
	char text[8192];
	int64_t symbol = put_string(chains, name_of(chains, frame, &unresolved, text));
	int64_t path_id = put_string(chains, path);
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
		row.CALLCHAIN.buildId = put_string(chains, module->build_id);
	return db__insert(chains->db, DB_CALLCHAIN, row.values);
}

void store_chains__frames(const struct chains *chains, uint32_t number,
			  void (*take)(void *context, const char *name, bool nameless),
			  void *context)
{
	struct chain chain = {.count = 0};
	char text[8192];
	bool nameless;

	if (number < chains->stack_capacity && chains->stacks[number].numbers)
		merge(chains, &chains->stacks[number], &chain);
	for (size_t i = chain.count; i--;) {
		const char *name = name_of(chains, chain.frames[i], &nameless, text);

		take(context, name, nameless);
	}
}

int64_t store_chains__of(struct chains *chains, uint32_t process, uint32_t correlation)
{
	const struct sample *sample;
	struct chain chain = {.count = 0};
	struct stack *stack;
	int err = 0;

	if (!chains->sample_count)
		return DB_NULL;
	sample = sample_slot(chains, sample_key(process, correlation));
	if (!sample->key || sample->stack >= chains->stack_capacity)
		return DB_NULL;
	stack = &chains->stacks[sample->stack];
	if (!stack->numbers)
		return DB_NULL;
	if (!stack->written)
		merge(chains, stack, &chain);
	for (size_t i = 0; i < chain.count && !err; i++)
		err = put_row(chains, sample->stack, i, chain.frames[i]);
	stack->written = true;
	return err ? err : (int64_t)sample->stack;
}

void store_chains__free(struct chains *chains)
{
	if (!chains)
		return;
	for (uint32_t i = 0; i < chains->module_capacity; i++)
		free(chains->modules[i].path);
	for (uint32_t i = 0; i < chains->function_capacity; i++) {
		free(chains->functions[i].file);
		free(chains->functions[i].name);
	}
	for (uint32_t i = 0; i < chains->frame_capacity; i++)
		free(chains->frames[i].symbol);
	for (uint32_t i = 0; i < chains->stack_capacity; i++)
		free(chains->stacks[i].numbers);
	free(chains->modules);
	free(chains->functions);
	free(chains->frames);
	free(chains->stacks);
	free(chains->samples);
	free(chains);
}
