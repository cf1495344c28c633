/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a loaded address of an ELF file lies in the file: what uprobes want.
 */
#ifndef CUDA_TRACE_SYMBOLS_ELF_SEGMENTS_H
#define CUDA_TRACE_SYMBOLS_ELF_SEGMENTS_H

#include <gelf.h>
#include <stdint.h>

/* Of a segment with all of these flags (PF_X); 0 = in none. */
uint64_t elf_segments__offset(Elf *elf, uint64_t address, uint32_t flags);

#endif
