// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel reserves a stack's place in the ring buffer before those of its new code objects, so
 * they come right behind it: a stack that names an unknown one waits for it. Only what is needed of
 * a dying process is done at once (its mappings and files); names are looked up at the end.
 */
#include "cuda-trace/recording/callstacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/base/intern.h"
#include "cuda-trace/proc/python_name.h"
#include "cuda-trace/recording/callstack_lines.h"
#include "cuda-trace/recording/callstack_names.h"
#include "cuda-trace/recording/stack_walks.h"
#include "cuda-trace/symbols/python_code.h"

/* A program that runs in circles has some thousand; one that wants our memory gets no more. */
#define MAX	       (1u << 18) /* frames, stacks, functions */
#define FRAME_BYTES    (16ul << 20)
#define STACK_BYTES    (64ul << 20)
#define FUNCTION_BYTES (32ul << 20)
#define CODE_BYTES     (64ul << 20) /* of Python's code objects, of all processes */
#define MAX_PENDING    64
#define MAX_SAID       8

struct callstacks {
	struct callstacks_sink sink;
	struct modules *modules;
	struct unwind_tables *tables;
	uint32_t modules_put;
	struct interned *functions; /* file, NUL, name */
	struct interned *frames;    /* struct frame_key */
	struct interned *stacks;    /* u16 frames, u16 Python's, then numbers of frames */
	size_t code_bytes_left;
	struct callstack_names names;
	struct callstacks_counts counts;
	uint32_t said_python; /* processes whose Python is not known */
};

/* A stack whose code objects have not come yet. */
struct pending_stack {
	struct event_stack event;
	struct native_stack native; /* as far as it is filled */
};

struct callstacks_process {
	struct callstacks *all;
	void *owner;
	uint32_t pid;
	struct mappings *mappings;
	struct stack_walks *walks;
	struct python_codes *codes;
	struct pending_stack *pending[MAX_PENDING];
	uint32_t pending_count;
	bool is_looked_at;	/* for Python */
	bool has_python_frames; /* of an interpreter that the agent knows */
	char python[64];	/* one that it does not know, unless has_python_frames; "" = none */
};

struct numbered_stack {
	uint16_t frames, python_frames;
	uint32_t numbers[UNWIND_FRAMES + STACK_ADDRESSES + STACK_PYTHON_FRAMES];
};

struct callstacks *callstacks__new(const struct callstacks_sink *sink)
{
	struct callstacks *callstacks = calloc(1, sizeof(*callstacks));

	if (!callstacks)
		return NULL;
	callstacks->sink = *sink;
	callstacks->code_bytes_left = CODE_BYTES;
	callstacks->modules = modules__new();
	callstacks->tables = unwind_tables__new();
	callstacks->functions = intern__new(MAX, FUNCTION_BYTES);
	callstacks->frames = intern__new(MAX, FRAME_BYTES);
	callstacks->stacks = intern__new(MAX, STACK_BYTES);
	if (callstacks->modules && callstacks->tables && callstacks->functions &&
	    callstacks->frames && callstacks->stacks)
		return callstacks;
	callstacks__free(callstacks);
	return NULL;
}

struct callstacks_process *callstacks_process__new(struct callstacks *callstacks, uint32_t pid,
						   void *owner)
{
	struct callstacks_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->all = callstacks;
	process->owner = owner;
	process->pid = pid;
	process->mappings = mappings__new(pid, callstacks->modules);
	process->walks =
		stack_walks__new(callstacks->tables, callstacks->modules, process->mappings);
	process->codes = python_codes__new(&callstacks->code_bytes_left);
	if (process->mappings && process->walks && process->codes)
		return process;
	callstacks_process__free(process);
	return NULL;
}

static void put(struct callstacks *all, enum spool_kind kind, const void *data, size_t size,
		const void *more, size_t more_size)
{
	all->sink.put(all->sink.context, kind, data, size, more, more_size);
}

static void put_new_modules(struct callstacks *all)
{
	while (all->modules_put < modules__count(all->modules)) {
		const struct module *module = modules__at(all->modules, ++all->modules_put);
		struct spool_module entry = {
			.number = all->modules_put,
			.build_id_size = module->outline.build_id_size,
		};

		memcpy(entry.build_id, module->outline.build_id, sizeof(entry.build_id));
		put(all, SPOOL_MODULE, &entry, sizeof(entry), module->path,
		    strnlen(module->path, 4096));
		if (module->pid)
			callstack_names__remember_jit(&all->names, module->pid);
	}
}

/* 0 = there is no space for it. */
static uint32_t number_of(struct callstacks *all, const struct frame_key *key)
{
	struct spool_frame entry = {
		.module = key->module,
		.function = key->function,
		.line = key->line,
		.address = key->address,
	};
	bool is_new;

	entry.number = intern__number(all->frames, key, sizeof(*key), &is_new);
	if (is_new)
		put(all, SPOOL_FRAME, &entry, sizeof(entry), NULL, 0);
	return entry.number;
}

/* Of a caller what is known is where it goes on: its call is before that. */
static uint32_t number_of_address(struct callstacks_process *process, uint64_t address,
				  bool is_caller)
{
	struct frame_key key = {0};

	key.module = mappings__find(process->mappings, address - is_caller, &key.address);
	put_new_modules(process->all);
	return number_of(process->all, &key);
}

static uint32_t number_of_function(struct callstacks *all, const char *file, const char *name)
{
	size_t file_bytes = strlen(file), name_bytes = strlen(name);
	char text[CODE_FILE_LEN * 4 + CODE_NAME_LEN * 4 + 2];
	struct spool_function entry = {.file_bytes = file_bytes};
	bool is_new;

	memcpy(text, file, file_bytes);
	text[file_bytes] = 0;
	memcpy(text + file_bytes + 1, name, name_bytes);
	entry.number = intern__number(all->functions, text, file_bytes + 1 + name_bytes, &is_new);
	memmove(text + file_bytes, name, name_bytes);
	if (is_new)
		put(all, SPOOL_FUNCTION, &entry, sizeof(entry), text, file_bytes + name_bytes);
	return entry.number;
}

static uint32_t number_of_python(struct callstacks_process *process,
				 const struct stack_python_frame *frame)
{
	const struct python_code *code =
		python_codes__find(process->codes, frame->code, frame->key);
	struct frame_key key = {0};

	key.function = code ? number_of_function(process->all, python_code__file(code),
						 python_code__name(code))
			    : number_of_function(process->all, "", "");
	if (!key.function)
		return 0;
	key.line = code ? python_code__line(code, frame->instruction) : 0;
	return number_of(process->all, &key) | (frame->entry ? SPOOL_FRAME_ENTRY : 0);
}

static void put_stack(struct callstacks *all, uint32_t number, const struct numbered_stack *stack)
{
	struct spool_stack entry = {number, stack->frames, stack->python_frames};

	put(all, SPOOL_STACK, &entry, sizeof(entry), stack->numbers,
	    (stack->frames + stack->python_frames) * sizeof(stack->numbers[0]));
}

/*
 * How many frames there are up to the last one that lies in some file's code, or in all if none
 * does (the process was gone). Code without frame pointers uses their register for anything, and
 * what the walk then takes for return addresses are none.
 */
static size_t without_strays(const struct callstacks *all, const struct numbered_stack *stack)
{
	for (size_t n = stack->frames; n; n--) {
		uint32_t number = stack->numbers[n - 1];
		const struct frame_key *key = number ? intern__at(all->frames, number, NULL) : NULL;

		if (key && key->module)
			return n;
	}
	return stack->frames;
}

/* False: a frame of it found no space, and what it would show is not what was. */
static bool is_complete(const struct numbered_stack *stack)
{
	for (size_t i = 0; i < (size_t)stack->frames + stack->python_frames; i++)
		if (!(stack->numbers[i] & ~SPOOL_FRAME_ENTRY))
			return false;
	return true;
}

/* 0 = there is no space for it. */
static uint32_t number_of_stack(struct callstacks *all, const struct numbered_stack *stack)
{
	size_t count = (size_t)stack->frames + stack->python_frames;
	uint32_t number;
	bool is_new;

	if (!is_complete(stack))
		return 0;
	number = intern__number(all->stacks, stack, offsetof(struct numbered_stack, numbers[count]),
				&is_new);
	if (is_new)
		put_stack(all, number, stack);
	return number;
}

static void count_source(struct callstacks_counts *counts, enum stack_source source)
{
	counts->incomplete += source == STACK_INCOMPLETE;
	counts->by_pointers += source == STACK_BY_POINTERS;
}

static void add_stack(struct callstacks_process *process, const struct event_stack *event,
		      const struct native_stack *native)
{
	struct callstacks *all = process->all;
	struct numbered_stack stack;
	struct spool_sample sample = {
		.head = {SPOOL_SAMPLE,
			 event->start ? sizeof(sample) : offsetof(struct spool_sample, start),
			 event->correlation},
		.tid = event->tid,
		.start = event->start,
		.end = event->end,
	};
	size_t n = 0;

	stack.frames = native->count;
	for (uint32_t i = 0; i < native->count; i++)
		stack.numbers[n++] = number_of_address(process, native->addresses[i], i > 0);
	n = stack.frames = without_strays(all, &stack);
	for (int i = 0; i < event->frames; i++) {
		if (event->python_frames[i].code)
			stack.numbers[n++] = number_of_python(process, &event->python_frames[i]);
		else if (n > stack.frames)
			stack.numbers[n - 1] |= SPOOL_FRAME_ENTRY;
	}
	stack.python_frames = n - stack.frames;
	sample.stack = number_of_stack(all, &stack);
	if (!sample.stack) {
		all->counts.lost++;
		return;
	}
	all->counts.samples++;
	all->counts.without_python += event->python == STACK_PYTHON_STRANGE;
	all->counts.cut += event->python == STACK_PYTHON_CUT || native->source == STACK_CUT;
	count_source(&all->counts, native->source);
	all->sink.put_sample(all->sink.context, process->owner, &sample);
}

static bool is_known(const struct callstacks_process *process, const struct event_stack *event)
{
	for (int i = 0; i < event->frames; i++)
		if (event->python_frames[i].code &&
		    !python_codes__find(process->codes, event->python_frames[i].code,
					event->python_frames[i].key))
			return false;
	return true;
}

/* Takes those whose code objects have come; with `all`, also the others, the oldest first. */
static void add_pending(struct callstacks_process *process, bool all)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < process->pending_count; i++) {
		struct pending_stack *pending = process->pending[i];

		if (!all && !is_known(process, &pending->event)) {
			process->pending[kept++] = pending;
			continue;
		}
		add_stack(process, &pending->event, &pending->native);
		free(pending);
	}
	process->pending_count = kept;
}

static void keep_pending(struct callstacks_process *process, const struct event *event,
			 const struct native_stack *native)
{
	size_t bytes = offsetof(struct native_stack, addresses[native->count]);
	struct pending_stack *pending;

	if (process->pending_count == MAX_PENDING)
		add_pending(process, true);
	pending = calloc(1, offsetof(struct pending_stack, native) + bytes);
	if (!pending) {
		process->all->counts.lost++;
		return;
	}
	memcpy(&pending->event, event->data,
	       event->bytes < sizeof(pending->event) ? event->bytes : sizeof(pending->event));
	memcpy(&pending->native, native, bytes);
	process->pending[process->pending_count++] = pending;
	/* Its files can be had only while the process lives, which may be over soon. */
	for (uint32_t i = 0; i < native->count; i++)
		number_of_address(process, native->addresses[i], i > 0);
}

static void note_python(struct callstacks_process *process, const struct event_stack *stack)
{
	process->has_python_frames |= stack->python != STACK_PYTHON_NONE;
	if (process->is_looked_at || process->has_python_frames)
		return;
	process->is_looked_at = true;
	python_name__read(process->pid, process->python, sizeof(process->python));
}

static void say_python(const struct callstacks_process *process)
{
	if (process->python[0] && !process->has_python_frames &&
	    process->all->said_python++ < MAX_SAID)
		fprintf(stderr,
			"cuda-trace: process %u runs %s, whose frames are not known: no Python "
			"functions are in its stacks (they are known of CPython 3.8 to 3.15)\n",
			process->pid, process->python);
}

void callstacks_process__take(struct callstacks_process *process, const struct event *event)
{
	const struct event_stack *stack = (const void *)event->data;
	static struct native_stack native;

	if (event->kind == EVENT_CODE) {
		python_codes__add(process->codes, (const void *)event->data);
		add_pending(process, false);
		return;
	}
	if (event->kind == EVENT_STACK_COPY) {
		stack_walks__handle_copy(process->walks, (const void *)event->data);
		return;
	}
	note_python(process, stack);
	stack_walks__find(process->walks, stack, &native);
	if (is_known(process, stack))
		add_stack(process, stack, &native);
	else
		keep_pending(process, event, &native);
}

void callstacks_process__free(struct callstacks_process *process)
{
	if (!process)
		return;
	add_pending(process, true);
	say_python(process);
	stack_walks__free(process->walks);
	mappings__free(process->mappings);
	python_codes__free(process->codes);
	free(process);
}

static void put_symbol(void *context, uint32_t number, const char *mangled)
{
	struct callstacks *all = context;
	char *pretty = demangle(mangled);
	const char *name = pretty ? pretty : mangled;

	put(all, SPOOL_SYMBOL, &number, sizeof(number), name, strnlen(name, 4096));
	all->counts.nameless--;
	free(pretty);
}

/* Of Python's code objects that did not come, or found no space, the name is empty. */
static bool has_name(const struct callstacks *all, const struct frame_key *key)
{
	const char *text;
	size_t size;

	if (!key->function)
		return false;
	text = intern__at(all->functions, key->function, &size);
	return text[size - 1];
}

void callstacks__name(struct callstacks *all)
{
	const struct callstack_lines_sink lines = {all->sink.context, all->sink.put};
	uint32_t named = all->names.named;

	for (uint32_t i = named + 1; i <= intern__count(all->frames); i++)
		all->counts.nameless += !has_name(all, intern__at(all->frames, i, NULL));
	callstack_names__find(&all->names, all->modules, all->frames, put_symbol, all);
	callstack_lines__put(all->modules, all->frames, named, &lines);
}

void callstacks__forget(struct callstacks *all)
{
	struct interned *functions = intern__new(MAX, FUNCTION_BYTES);
	struct interned *frames = intern__new(MAX, FRAME_BYTES);
	struct interned *stacks = intern__new(MAX, STACK_BYTES);

	/* Without memory it goes on with what there is. */
	if (!functions || !frames || !stacks) {
		intern__free(functions);
		intern__free(frames);
		intern__free(stacks);
		return;
	}
	intern__free(all->functions);
	intern__free(all->frames);
	intern__free(all->stacks);
	all->functions = functions;
	all->frames = frames;
	all->stacks = stacks;
	all->modules_put = all->names.named = all->counts.nameless = 0;
}

void callstacks__count(const struct callstacks *all, struct callstacks_counts *counts)
{
	*counts = all->counts;
	counts->stacks = intern__count(all->stacks);
	counts->frames = intern__count(all->frames);
}

void callstacks__free(struct callstacks *callstacks)
{
	if (!callstacks)
		return;
	callstack_names__free(&callstacks->names);
	unwind_tables__free(callstacks->tables);
	modules__free(callstacks->modules);
	intern__free(callstacks->functions);
	intern__free(callstacks->frames);
	intern__free(callstacks->stacks);
	free(callstacks);
}
