/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instructions of functions as text, by nvdisasm. What it prints is of a hostile image and
 * bounded; it must be escaped like everything else. One thread.
 */
#ifndef CUDA_TRACE_PROFILE_PC_DISASSEMBLY_H
#define CUDA_TRACE_PROFILE_PC_DISASSEMBLY_H

#include "cuda-trace/profile/code/code_images.h"
#include "cuda-trace/profile/pc/pc_table.h"

/* Of a function, by offset. */
struct disassembled {
	struct disassembled_line {
		uint64_t offset;
		const char *text; /* untrusted; "BRA 0x740" */
	} * lines;
	uint32_t count;
};

struct disassembly;

struct disassembly *disassembly__new(void);
/* Whether there is an nvdisasm. */
bool disassembly__can(const struct disassembly *all);
/* Text of the functions of which an instruction has no line, or, `wanted`, of all, as far as there
 * are images, most samples first; valid as long as `all`. Takes some seconds at most; says on
 * stderr what came short. */
void disassembly__run(struct disassembly *all, const struct pc_images *images,
		      struct pc_table *table, bool wanted);
void disassembly__free(struct disassembly *all);

/* The text at an offset; NULL = unknown. */
const char *disassembled__at(const struct disassembled *code, uint64_t offset);

#endif
