/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What nvdisasm -c prints of a cubin that cubin__make() made. Nothing in it is believed. One
 * thread.
 */
#ifndef CUDA_TRACE_PROFILE_PC_DISASSEMBLY_TEXT_H
#define CUDA_TRACE_PROFILE_PC_DISASSEMBLY_TEXT_H

#include <stddef.h>
#include "cuda-trace/profile/pc/disassembly.h"

struct disassembly_text; /* what is kept of it */

struct disassembly_text *disassembly_text__new(void);
/* The lines of functions f0, f1, ... into `to`, which is empty; `text` ends with a NUL, and is
 * changed. */
void disassembly_text__read(struct disassembly_text *kept, char *text, size_t length,
			    struct disassembled *const *to, uint32_t count);
/* The first line that nvdisasm complains in; "" = none. Untrusted. */
void disassembly_text__complaint(const char *text, size_t length, char *said, size_t size);
void disassembly_text__free(struct disassembly_text *kept);

#endif
