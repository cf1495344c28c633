// SPDX-License-Identifier: BSD-2-Clause
/*
 * Has in its memory what CPython 3.MINOR has there, by the declarations in its headers, and
 * launches kernels from two functions of it, the outer one on line 12 of program.py, the inner one
 * on line 5. For versions that no distribution here provides: -DMINOR=8, 9 and 10, and 14, which is
 * a free-threaded build, whose second thread executes a copy of the bytecode.
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tests/workloads/program.h"

#define LAUNCHES 20
#define EXPORT	 __attribute__((visibility("default")))
#define FUNCTION __attribute__((visibility("default"), noinline))

#if MINOR < 14
struct object {
	int64_t references;
	void *type;
};
#else
struct object {
	uint64_t thread;
	uint16_t flags;
	uint8_t mutex, gc;
	uint32_t local;
	int64_t shared;
	void *type;
};
#endif

struct bytes {
	struct object object;
	int64_t size, hash;
	char data[32];
};

struct text {
	struct object object;
	int64_t length, hash;
	uint32_t state __attribute__((aligned(4)));
#if MINOR < 12
	void *wide;
#else
	uint32_t unused;
#endif
	char data[32];
};

/* interned, kind (1 byte a character), compact, ASCII, and before 3.12 ready. */
#if MINOR < 14
#define TEXT_STATE (1 | 1 << 2 | 1 << 5 | 1 << 6 | 1 << 7)
#else
#define TEXT_STATE (1 | 1 << 8 | 1 << 11 | 1 << 12)
#endif

/* How far the functions are: at bytes 6 and 7 of their code. */
#define AT 6

#if MINOR < 10
static const char inner_lines[] = {0, 0, 6, 1, 4, 1}, outer_lines[] = {0, 12, 4, -1, 4, 1};
#elif MINOR == 10
static const char inner_lines[] = {6, -128, 4, 1, 4, 1}, outer_lines[] = {4, 12, 4, -1, 4, 1};
#else
/* Entries of four units, of two and of four: each with a change of the line as a signed number. */
static const char inner_lines[] = {(char)0xeb, 2, (char)0xeb, 2},
		  outer_lines[] = {(char)0xe9, 24, (char)0xeb, 3, (char)0xeb, 2};
#endif

#if MINOR < 14
struct code {
	struct object object;
	int argument_count, positional, keyword_only, locals, stack_size, flags, first_line;
	void *code, *constants, *names, *variables, *free_variables, *cells, *cell_arguments;
	struct text *file, *name;
	struct bytes *lines;
};

struct frame {
	struct object object;
	int64_t size;
	struct frame *back;
	struct code *code;
	void *builtins, *globals, *locals, *value_stack;
#if MINOR < 10
	void *stack_top, *trace;
#else
	void *trace;
	int stack_depth;
#endif
	char trace_lines, trace_opcodes;
	void *generator;
	int last_instruction, line;
};

struct thread {
	struct thread *previous, *next;
	void *interpreter;
	struct frame *frame;
	int recursion_depth, recursion_headroom, check_counter, tracing;
#if MINOR < 10
	int use_tracing;
#else
	void *cframe;
#endif
	void *profile, *trace, *profile_object, *trace_object, *exception[3], *handled[4], *top;
	void *dictionary;
	int gil_counter;
	void *asynchronous;
	unsigned long thread_id;
};

struct interpreter {
	struct interpreter *next;
	struct thread *threads;
};

struct runtime {
	int state[4];
	void *finalizing;
	void *mutex;
	struct interpreter *interpreters;
};
#else
struct copies {
	int64_t size;
	char *entries[2];
};

struct code {
	struct object object;
	int64_t size;
	int first_line;
	struct text *file, *name, *qualified_name;
	struct bytes *lines;
	struct copies *copies;
	char instructions[16];
};

struct frame {
	uint64_t executable; /* the lowest bit: it is not counted as a reference */
	struct frame *back;
	void *function, *globals, *builtins, *locals, *object;
	char *instruction;
	void *stack_pointer;
	int32_t copy;
	uint16_t return_offset;
	char owner;
};

struct thread {
	struct thread *previous, *next;
	void *interpreter;
	struct frame *frame;
	unsigned long thread_id, native_thread_id;
};

struct interpreter {
	int64_t id;
	struct interpreter *next;
	struct thread *threads;
};

/* As 3.14 describes itself, with the names of pycore_debug_offsets.h. */
struct runtime {
	char cookie[8];
	uint64_t version, free_threaded;
	uint64_t runtime_size, finalizing, interpreters_head;
	uint64_t interpreter_size, id, next, threads_head, threads_main, gc, modules, sysdict;
	uint64_t builtins, gil, gil_state, gil_enabled, gil_locked, gil_holder, generation, tlbc;
	uint64_t thread_size, thread_prev, thread_next, interp, current_frame, thread_id;
	uint64_t native_thread_id, datastack_chunk, status;
	uint64_t frame_size, previous, executable, instr_ptr, localsplus, owner, stackpointer;
	uint64_t tlbc_index;
	uint64_t code_size, filename, name, qualname, linetable, firstlineno, argcount, names;
	uint64_t kinds, co_code_adaptive, co_tlbc;
	uint64_t object[2], type[4], tuple[3], list[3], set[4], dict[3], real[2], integer[3];
	uint64_t bytes_size, ob_size, ob_sval;
	uint64_t unicode_size, state, length, asciiobject_size;
	struct interpreter *interpreters;
};
#endif

EXPORT extern struct runtime _PyRuntime;
static struct interpreter interpreter;
static struct thread threads[2] = {{.next = &threads[1], .interpreter = &interpreter},
				   {.interpreter = &interpreter}};
static struct text file, inner_name, outer_name;
static struct bytes inner_table, outer_table;
static struct code
	inner = {.first_line = 4, .file = &file, .name = &inner_name, .lines = &inner_table},
	outer = {.first_line = 1, .file = &file, .name = &outer_name, .lines = &outer_table};
static struct program program;

#if MINOR < 14
/* What a version has first. */
EXPORT void PyCode_NewWithPosOnlyArgs(void)
{
}
#if MINOR >= 9
EXPORT void PyFrame_GetBack(void)
{
}
#endif
#if MINOR >= 10
EXPORT void Py_NewRef(void)
{
}
#endif
#define LAST_INSTRUCTION (MINOR < 10 ? AT : AT / 2)

struct runtime _PyRuntime = {.interpreters = &interpreter};
static struct frame outer_frame = {.code = &outer, .last_instruction = LAST_INSTRUCTION},
		    inner_frame = {.back = &outer_frame,
				   .code = &inner,
				   .last_instruction = LAST_INSTRUCTION};

static void begin_thread(void)
{
	threads[0].thread_id = 1;
	threads[1].thread_id = pthread_self();
	threads[1].frame = &inner_frame;
}
#else
EXPORT const unsigned long Py_Version = 0x030e00f0;
enum { OWNED_BY_THREAD = 0, OWNED_BY_INTERPRETER = 3 };

struct runtime _PyRuntime = {
	.cookie = "xdebugpy",
	.version = 0x030e00f0,
	.free_threaded = 1,
	.interpreters_head = offsetof(struct runtime, interpreters),
	.next = offsetof(struct interpreter, next),
	.threads_head = offsetof(struct interpreter, threads),
	.thread_next = offsetof(struct thread, next),
	.current_frame = offsetof(struct thread, frame),
	.thread_id = offsetof(struct thread, thread_id),
	.native_thread_id = offsetof(struct thread, native_thread_id),
	.previous = offsetof(struct frame, back),
	.executable = offsetof(struct frame, executable),
	.instr_ptr = offsetof(struct frame, instruction),
	.owner = offsetof(struct frame, owner),
	.tlbc_index = offsetof(struct frame, copy),
	.filename = offsetof(struct code, file),
	.name = offsetof(struct code, name),
	.qualname = offsetof(struct code, qualified_name),
	.linetable = offsetof(struct code, lines),
	.firstlineno = offsetof(struct code, first_line),
	.co_code_adaptive = offsetof(struct code, instructions),
	.co_tlbc = offsetof(struct code, copies),
	.ob_size = offsetof(struct bytes, size),
	.ob_sval = offsetof(struct bytes, data),
	.state = offsetof(struct text, state),
	.length = offsetof(struct text, length),
	.asciiobject_size = offsetof(struct text, data),
	.interpreters = &interpreter,
};
static char inner_copy[16];
static struct copies inner_copies = {2, {inner.instructions, inner_copy}};
static struct frame base = {.owner = OWNED_BY_INTERPRETER},
		    outer_entry = {.back = &base, .owner = OWNED_BY_INTERPRETER},
		    outer_frame = {.back = &outer_entry, .instruction = outer.instructions + AT},
		    inner_entry = {.back = &outer_frame, .owner = OWNED_BY_INTERPRETER},
		    inner_frame = {.back = &inner_entry, .instruction = inner_copy + AT, .copy = 1};

static void begin_thread(void)
{
	inner_frame.executable = (uintptr_t)&inner | 1;
	outer_frame.executable = (uintptr_t)&outer | 1;
	inner.qualified_name = &inner_name;
	outer.qualified_name = &outer_name;
	inner.copies = &inner_copies;
	threads[0].native_thread_id = 1;
	threads[1].native_thread_id = syscall(SYS_gettid);
	threads[1].frame = &inner_frame;
}
#endif

static void set_text(struct text *text, const char *value)
{
	text->length = strlen(value);
	text->state = TEXT_STATE;
	memcpy(text->data, value, text->length);
}

static void set_bytes(struct bytes *bytes, const char *value, size_t size)
{
	bytes->size = size;
	memcpy(bytes->data, value, size);
}

FUNCTION void _PyEval_EvalFrameDefault(int depth);
FUNCTION void call(void);

void call(void)
{
	_PyEval_EvalFrameDefault(1);
}

void _PyEval_EvalFrameDefault(int depth)
{
	static const struct shape shape = {{1, 1, 1}, {1, 1, 1}, 0};

	if (!depth) {
		call();
		return;
	}
	for (int i = 0; i < LAUNCHES; i++)
		program__check(
			counted__launch(program__kernel(&program, "empty"), &shape, NULL, NULL),
			"cuLaunchKernel");
}

static void *run(void *unused)
{
	program__check(cuCtxSetCurrent(program.context), "cuCtxSetCurrent");
	begin_thread();
	_PyEval_EvalFrameDefault(0);
	return unused;
}

int main(void)
{
	pthread_t thread;

	set_text(&file, "/srv/program.py");
	set_text(&inner_name, "layer");
	set_text(&outer_name, "<module>");
	set_bytes(&inner_table, inner_lines, sizeof(inner_lines));
	set_bytes(&outer_table, outer_lines, sizeof(outer_lines));
	interpreter.threads = threads;
	program__start(&program);
	if (pthread_create(&thread, NULL, run, NULL))
		program__fail("no thread");
	pthread_join(thread, NULL);
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	program__expect();
	return 0;
}
