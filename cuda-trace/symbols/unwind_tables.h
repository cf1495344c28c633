/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules by which frames of mapped files are unwound: read by a process without privileges
 * (eh_frame.c) when they are first needed, and kept by module, so that each file is read once.
 */
#ifndef CUDA_TRACE_SYMBOLS_UNWIND_TABLES_H
#define CUDA_TRACE_SYMBOLS_UNWIND_TABLES_H

#include <stdbool.h>
#include "cuda-trace/symbols/eh_frame.h"
#include "cuda-trace/symbols/mappings.h"

struct unwind_tables;

struct unwind_tables *unwind_tables__new(void);
/* The rule for an address of that module, as its ELF file has it; NULL = there is none. Valid until
 * the next call. */
const struct unwind_row *unwind_tables__row(struct unwind_tables *tables,
					    const struct modules *modules, uint32_t module,
					    uint64_t address);
/*
 * Where a process has to be started to read rules, it may as well read others that are likely to be
 * needed next: `next` gives their addresses in the module, false at the end. NULL = there are none.
 */
typedef bool (*unwind_guess)(void *context, uint32_t module, uint64_t *address);
void unwind_tables__guess(struct unwind_tables *tables, unwind_guess next, void *context);
/* Files whose tables were not read because that took too long altogether. */
uint32_t unwind_tables__refused(const struct unwind_tables *tables);
void unwind_tables__free(struct unwind_tables *tables);

#endif
