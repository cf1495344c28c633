/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files in a folder know about addresses in builds that are not at hand themselves, only
 * by build-id: functions, source lines, functions that were inlined.
 */
#ifndef CUDA_TRACE_SYMBOLS_SYMBOL_FOLDER_H
#define CUDA_TRACE_SYMBOLS_SYMBOL_FOLDER_H

#include <stddef.h>
#include <stdint.h>

struct inlined_call;
struct symbol_folder;
struct symbol_build;

/* The path must live as long. NULL = no memory. */
struct symbol_folder *symbol_folder__new(const char *path);
/* The build, whose file has that path where it ran. NULL = no memory, or there are too many. */
struct symbol_build *symbol_folder__build(struct symbol_folder *folder, const char *build_id,
					  const char *path);
void symbol_folder__free(struct symbol_folder *folder);

/* Lines and inlined functions are found for addresses that were wanted before the first question
 * about them: debug information is read once. */
void symbol_build__want(struct symbol_build *build, uint64_t address);
/* Untrusted texts, valid until the free. The function, as its file spells it; NULL = not known. */
const char *symbol_build__function(struct symbol_build *build, uint64_t address);
/* As source_lines__at() and inlined_calls__at(). */
uint32_t symbol_build__line(struct symbol_build *build, uint64_t address, const char **path);
size_t symbol_build__inlined(struct symbol_build *build, uint64_t address,
			     const struct inlined_call **first);

#endif
