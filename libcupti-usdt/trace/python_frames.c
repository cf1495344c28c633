// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds CPython by the two variables that it exports. 3.13 describes its own layout at the start of
 * _PyRuntime (Include/internal/pycore_runtime.h); those of 3.11 and 3.12 are not described, and are
 * the same in all releases of each. Nothing of Python is called, and nothing but that description
 * is read: whoever walks the frames does so from outside, where a wrong pointer is only a failed
 * read.
 */
#include "libcupti-usdt/trace/python_frames.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "libcupti-usdt/agent_memory.h"
#include "libcupti-usdt/emit/status.h"

#define COOKIE "xdebugpy"

/* The beginning of 3.13's _Py_DebugOffsets, word by word. */
enum debug_word {
	DEBUG_COOKIE = 0,
	DEBUG_INTERPRETERS_HEAD = 5,
	DEBUG_INTERPRETER_NEXT = 8,
	DEBUG_THREADS_HEAD = 9,
	DEBUG_THREAD_NEXT = 21,
	DEBUG_CURRENT_FRAME = 23,
	DEBUG_THREAD_NATIVE_ID = 25,
	DEBUG_FRAME_PREVIOUS = 29,
	DEBUG_FRAME_EXECUTABLE = 30,
	DEBUG_FRAME_INSTRUCTION = 31,
	DEBUG_FRAME_OWNER = 33,
	DEBUG_CODE_FILENAME = 35,
	DEBUG_CODE_QUALNAME = 37,
	DEBUG_CODE_LINETABLE = 38,
	DEBUG_CODE_FIRSTLINENO = 39,
	DEBUG_CODE_INSTRUCTIONS = 43,
	DEBUG_BYTES_SIZE = 65,
	DEBUG_BYTES_DATA = 66,
	DEBUG_UNICODE_STATE = 68,
	DEBUG_UNICODE_LENGTH = 69,
	DEBUG_UNICODE_ASCII = 70,
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
	.bytes_size = 16,
	.bytes_data = 32,
};

static struct cuda_python python;
static struct cuda_interpreter interpreter;

static void read_debug_offsets(struct cuda_python *to, const uint64_t *words)
{
	*to = (struct cuda_python){
		.interpreters_head = words[DEBUG_INTERPRETERS_HEAD],
		.interpreter_next = words[DEBUG_INTERPRETER_NEXT],
		.threads_head = words[DEBUG_THREADS_HEAD],
		.thread_next = words[DEBUG_THREAD_NEXT],
		.thread_native_id = words[DEBUG_THREAD_NATIVE_ID],
		.thread_cframe = CUDA_PYTHON_NONE,
		.current_frame = words[DEBUG_CURRENT_FRAME],
		.frame_code = words[DEBUG_FRAME_EXECUTABLE],
		.frame_previous = words[DEBUG_FRAME_PREVIOUS],
		.frame_instruction = words[DEBUG_FRAME_INSTRUCTION],
		.frame_owner = words[DEBUG_FRAME_OWNER],
		.frame_entry = CUDA_PYTHON_NONE,
		.owner_shim = 3,
		.code_filename = words[DEBUG_CODE_FILENAME],
		.code_qualname = words[DEBUG_CODE_QUALNAME],
		.code_linetable = words[DEBUG_CODE_LINETABLE],
		.code_firstlineno = words[DEBUG_CODE_FIRSTLINENO],
		.code_instructions = words[DEBUG_CODE_INSTRUCTIONS],
		.unicode_length = words[DEBUG_UNICODE_LENGTH],
		.unicode_state = words[DEBUG_UNICODE_STATE],
		.unicode_ascii = words[DEBUG_UNICODE_ASCII],
		/* Two words more: the UTF-8 form of a string that is not ASCII. */
		.unicode_compact = words[DEBUG_UNICODE_ASCII] + 16,
		.bytes_size = words[DEBUG_BYTES_SIZE],
		.bytes_data = words[DEBUG_BYTES_DATA],
	};
}

static void find_layout(const unsigned long *version, const void *runtime)
{
	switch (*version >> 16) {
	case 0x030b:
		python = layout_3_11;
		break;
	case 0x030c:
		python = layout_3_12;
		break;
	case 0x030d:
		if (memcmp(runtime, COOKIE, sizeof(COOKIE) - 1) != 0)
			return;
		read_debug_offsets(&python, runtime);
		break;
	default:
		return;
	}
	python.version = *version;
	python.runtime = (uintptr_t)runtime;
	python.size = sizeof(python);
}

void python_frames__find(void)
{
	const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version");
	const void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!runtime)
		return;
	if (version)
		find_layout(version, runtime);
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
