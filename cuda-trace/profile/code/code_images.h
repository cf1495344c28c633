/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Images of modules, read from the memory of the processes that were sampled while they live or
 * from their files, and what their line tables say of instructions. One thread.
 */
#ifndef CUDA_TRACE_PROFILE_CODE_CODE_IMAGES_H
#define CUDA_TRACE_PROFILE_CODE_CODE_IMAGES_H

#include <stdbool.h>
#include "cuda-trace/profile/code/code_table.h"
#include "cuda-trace/capture/process.h"

struct pc_images;

/* code: those without lines as well, to be disassembled. */
struct pc_images *pc_images__new(bool code);
/* CUDA_RECORD_PC_IMAGE; others are ignored. */
void pc_images__record(struct pc_images *images, const struct process *process,
		       const struct cuda_record *record);
/* Of a file: takes the bytes over (malloc). */
void pc_images__add(struct pc_images *images, uint64_t cubin, uint8_t *bytes, size_t size,
		    enum code_lines_from from);
bool pc_images__has(const struct pc_images *images, uint64_t cubin);
/* NULL = it is not there. Hostile. */
const uint8_t *pc_images__bytes(const struct pc_images *images, uint64_t cubin, size_t *size);
/* Lines of functions whose image is of a file, and inline stacks of the instructions that have a
 * line; valid as long as the images. */
void pc_images__resolve(struct pc_images *images, const struct code_table *table);
/* "deepest < middle": the inlined functions that an instruction is in, demangled, from the
 * innermost; "" = it is in none. Untrusted. */
const char *pc_images__inlined(const struct code_place *place, char *text, size_t size);
/* code_place__name(), and these behind it. Returns text. */
const char *pc_images__name(const struct code_place *place, const char *lead, char *text,
			    size_t size);
void pc_images__free(struct pc_images *images);

#endif
