// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds CPython by what it exports. 3.13 and later describe their own layout at the start of
 * _PyRuntime (Include/internal/pycore_runtime.h, pycore_debug_offsets.h), each in words of its own;
 * those of 3.8 to 3.12 are not described, and are the same in all releases of each. Nothing of
 * Python is called, and nothing but that description is read: whoever walks the frames does so from
 * outside, where a wrong pointer is only a failed read.
 */
#include "libcupti-usdt/trace/python_frames.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "libcupti-usdt/agent_memory.h"
#include "libcupti-usdt/emit/status.h"

#define COOKIE		"xdebugpy"
#define PYTHON_3(minor) (0x03000000u | (minor) << 16)

/* Numbers of words in _Py_DebugOffsets that say where a field is; 0 = it has no such word. */
struct debug_words {
	uint8_t interpreters_head, interpreter_next, threads_head, thread_next, current_frame;
	uint8_t thread_native_id, frame_previous, frame_executable, frame_instruction, frame_owner;
	uint8_t frame_copy, code_filename, code_qualname, code_linetable, code_firstlineno;
	uint8_t code_instructions, code_copies, bytes_size, bytes_data;
	uint8_t unicode_state, unicode_length, unicode_ascii;
};

#define WORD_FREE_THREADED 2 /* 1: a build without the GIL */

static const struct debug_words words_3_13 = {
	.interpreters_head = 5,
	.interpreter_next = 8,
	.threads_head = 9,
	.thread_next = 21,
	.current_frame = 23,
	.thread_native_id = 25,
	.frame_previous = 29,
	.frame_executable = 30,
	.frame_instruction = 31,
	.frame_owner = 33,
	.code_filename = 35,
	.code_qualname = 37,
	.code_linetable = 38,
	.code_firstlineno = 39,
	.code_instructions = 43,
	.bytes_size = 65,
	.bytes_data = 66,
	.unicode_state = 68,
	.unicode_length = 69,
	.unicode_ascii = 70,
};

static const struct debug_words words_3_14 = {
	.interpreters_head = 5,
	.interpreter_next = 8,
	.threads_head = 9,
	.thread_next = 24,
	.current_frame = 26,
	.thread_native_id = 28,
	.frame_previous = 32,
	.frame_executable = 33,
	.frame_instruction = 34,
	.frame_owner = 36,
	.frame_copy = 38,
	.code_filename = 40,
	.code_qualname = 42,
	.code_linetable = 43,
	.code_firstlineno = 44,
	.code_instructions = 48,
	.code_copies = 49,
	.bytes_size = 75,
	.bytes_data = 76,
	.unicode_state = 78,
	.unicode_length = 79,
	.unicode_ascii = 80,
};

static const struct debug_words words_3_15 = {
	.interpreters_head = 5,
	.interpreter_next = 8,
	.threads_head = 9,
	.thread_next = 24,
	.current_frame = 26,
	.thread_native_id = 31,
	.frame_previous = 40,
	.frame_executable = 41,
	.frame_instruction = 42,
	.frame_owner = 44,
	.frame_copy = 46,
	.code_filename = 48,
	.code_qualname = 50,
	.code_linetable = 51,
	.code_firstlineno = 52,
	.code_instructions = 56,
	.code_copies = 57,
	.bytes_size = 87,
	.bytes_data = 88,
	.unicode_state = 90,
	.unicode_length = 91,
	.unicode_ascii = 92,
};

/* 3.8 to 3.10: each frame is an object, and a call of the evaluation loop. */
static const struct cuda_python layout_3_8 = {
	.interpreters_head = 32,
	.interpreter_next = 0,
	.threads_head = 8,
	.thread_next = 8,
	.thread_native_id = CUDA_PYTHON_NONE,
	.thread_pthread = 176,
	.thread_cframe = CUDA_PYTHON_NONE,
	.current_frame = 24,
	.frame_code = 32,
	.frame_previous = 24,
	.frame_instruction = 104,
	.instruction_unit = 1,
	.frame_owner = CUDA_PYTHON_NONE,
	.frame_entry = CUDA_PYTHON_NONE,
	.owner_shim = CUDA_PYTHON_NONE,
	.frame_copy = CUDA_PYTHON_NONE,
	.code_copies = CUDA_PYTHON_NONE,
	.code_filename = 104,
	.code_qualname = 112, /* co_name */
	.code_linetable = 120,
	.code_firstlineno = 40,
	.unicode_length = 16,
	.unicode_state = 32,
	.unicode_kind = 2,
	.unicode_ascii = 48,
	.unicode_compact = 72,
	.bytes_size = 16,
	.bytes_data = 32,
};

static const struct cuda_python layout_3_11 = {
	.interpreters_head = 40,
	.interpreter_next = 0,
	.threads_head = 16,
	.thread_next = 8,
	.thread_native_id = 160,
	.thread_cframe = 56,
	.current_frame = 8,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instruction = 56,
	.frame_owner = 69,
	.frame_entry = 68,
	.owner_shim = CUDA_PYTHON_NONE,
	.code_filename = 112,
	.code_qualname = 128,
	.code_linetable = 136,
	.code_firstlineno = 72,
	.code_instructions = 184,
	.unicode_length = 16,
	.unicode_state = 32,
	.unicode_ascii = 48,
	.unicode_compact = 72,
	.thread_pthread = CUDA_PYTHON_NONE,
	.frame_copy = CUDA_PYTHON_NONE,
	.code_copies = CUDA_PYTHON_NONE,
	.unicode_kind = 2,
	.bytes_size = 16,
	.bytes_data = 32,
};

static const struct cuda_python layout_3_12 = {
	.interpreters_head = 40,
	.interpreter_next = 0,
	.threads_head = 72,
	.thread_next = 8,
	.thread_native_id = 144,
	.thread_cframe = 56,
	.current_frame = 0,
	.frame_code = 0,
	.frame_previous = 8,
	.frame_instruction = 56,
	.frame_owner = 70,
	.frame_entry = CUDA_PYTHON_NONE,
	.owner_shim = 3,
	.code_filename = 112,
	.code_qualname = 128,
	.code_linetable = 136,
	.code_firstlineno = 68,
	.code_instructions = 192,
	.unicode_length = 16,
	.unicode_state = 32,
	.unicode_ascii = 40,
	.unicode_compact = 56,
	.thread_pthread = CUDA_PYTHON_NONE,
	.frame_copy = CUDA_PYTHON_NONE,
	.code_copies = CUDA_PYTHON_NONE,
	.unicode_kind = 2,
	.bytes_size = 16,
	.bytes_data = 32,
};

static struct cuda_python python;
static struct cuda_interpreter interpreter;

static uint16_t offset_at(const uint64_t *offsets, uint8_t word)
{
	return word ? offsets[word] : CUDA_PYTHON_NONE;
}

static void read_debug_offsets(struct cuda_python *to, const struct debug_words *words,
			       const uint64_t *offsets)
{
	/* The copies of a thread's own, and interned as a byte: since 3.14. */
	bool copies = offsets[WORD_FREE_THREADED] && words->frame_copy;

	*to = (struct cuda_python){
		.interpreters_head = offsets[words->interpreters_head],
		.interpreter_next = offsets[words->interpreter_next],
		.threads_head = offsets[words->threads_head],
		.thread_next = offsets[words->thread_next],
		.thread_native_id = offsets[words->thread_native_id],
		.thread_pthread = CUDA_PYTHON_NONE,
		.thread_cframe = CUDA_PYTHON_NONE,
		.current_frame = offsets[words->current_frame],
		.frame_code = offsets[words->frame_executable],
		.frame_previous = offsets[words->frame_previous],
		.frame_instruction = offsets[words->frame_instruction],
		.frame_owner = offsets[words->frame_owner],
		.frame_entry = CUDA_PYTHON_NONE,
		.owner_shim = 3,
		.frame_copy = offset_at(offsets, copies ? words->frame_copy : 0),
		.code_copies = offset_at(offsets, copies ? words->code_copies : 0),
		.code_filename = offsets[words->code_filename],
		.code_qualname = offsets[words->code_qualname],
		.code_linetable = offsets[words->code_linetable],
		.code_firstlineno = offsets[words->code_firstlineno],
		.code_instructions = offsets[words->code_instructions],
		.unicode_length = offsets[words->unicode_length],
		.unicode_state = offsets[words->unicode_state],
		.unicode_kind = copies ? 8 : 2,
		.unicode_ascii = offsets[words->unicode_ascii],
		/* Two words more: the UTF-8 form of a string that is not ASCII. */
		.unicode_compact = offsets[words->unicode_ascii] + 16,
		.bytes_size = offsets[words->bytes_size],
		.bytes_data = offsets[words->bytes_data],
	};
}

static uintptr_t thread_pointer(void)
{
	uintptr_t pointer;

#ifdef __x86_64__
	__asm__("mov %%fs:0, %0" : "=r"(pointer));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
	return pointer;
}

/* A version that describes itself. */
static bool find_described(const struct debug_words *words, const void *runtime)
{
	if (memcmp(runtime, COOKIE, sizeof(COOKIE) - 1) != 0)
		return false;
	read_debug_offsets(&python, words, runtime);
	return true;
}

static void set_before_3_11(uint32_t version)
{
	python = layout_3_8;
	if (version == PYTHON_3(10)) {
		python.frame_instruction = 96;
		python.instruction_unit = 2;
	}
	python.pthread_offset = (int32_t)(pthread_self() - thread_pointer());
}

/* False: it is not known. */
static bool find_layout(uint32_t version, const void *runtime)
{
	switch (version & ~0xffffu) {
	case PYTHON_3(8):
	case PYTHON_3(9):
	case PYTHON_3(10):
		set_before_3_11(version);
		return true;
	case PYTHON_3(11):
		python = layout_3_11;
		return true;
	case PYTHON_3(12):
		python = layout_3_12;
		return true;
	case PYTHON_3(13):
		return find_described(&words_3_13, runtime);
	case PYTHON_3(14):
		return find_described(&words_3_14, runtime);
	case PYTHON_3(15):
		return find_described(&words_3_15, runtime);
	default:
		return false;
	}
}

/* Versions before 3.11 do not export theirs, but each has functions that are new in it. */
static uint32_t find_version(void)
{
	const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version");

	if (version)
		return *version;
	if (dlsym(RTLD_DEFAULT, "Py_NewRef"))
		return PYTHON_3(10);
	if (dlsym(RTLD_DEFAULT, "PyFrame_GetBack"))
		return PYTHON_3(9);
	if (dlsym(RTLD_DEFAULT, "PyCode_NewWithPosOnlyArgs"))
		return PYTHON_3(8);
	return 0;
}

void python_frames__find(void)
{
	const void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
	const ElfW(Sym) *symbol = NULL;
	uint32_t version;
	Dl_info info;

	if (!runtime)
		return;
	version = find_version();
	if (find_layout(version, runtime)) {
		python.version = version;
		python.runtime = (uintptr_t)runtime;
		python.size = sizeof(python);
	}
	interpreter.runtime = (uintptr_t)runtime;
	if (dladdr1(runtime, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	    info.dli_saddr == runtime)
		interpreter.bytes = symbol->st_size;
	interpreter.frames = python.size ? (uintptr_t)&python : 0;
	status__set_interpreter((uintptr_t)&interpreter);
}

const struct cuda_python *python_frames__get(void)
{
	return python.size ? &python : NULL;
}
