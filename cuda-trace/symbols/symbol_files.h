/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the names of a file's functions: in the file itself, or in another with the same build-id.
 */
#ifndef CUDA_TRACE_SYMBOLS_SYMBOL_FILES_H
#define CUDA_TRACE_SYMBOLS_SYMBOL_FILES_H

#include "cuda-trace/symbols/symbols.h"

/* Of a file at hand; what is stripped of names is looked for in /usr/lib/debug. NULL = none. */
struct symbols *symbol_files__read(int fd, const struct elf_outline *outline);
/* Of the same build, from a server, if debuginfod__allow() was called. NULL = none. */
struct symbols *symbol_files__fetch(const struct elf_outline *outline);
/* The file of the same build in /usr/lib/debug, or from a server, to be closed; -1 = there is none.
 */
int symbol_files__open_debug(const struct elf_outline *outline);

/*
 * Of a file that only its build-id (hexadecimal) and its path elsewhere are known of. Looks in
 * FOLDER/.build-id/xx/yyy.debug (also below FOLDER/usr/lib/debug), FOLDER/.build-id/xx/yyy (as
 * packages of symbols and debuginfod's caches have it), FOLDER/BUILDID/debuginfo, FOLDER/PATH and
 * FOLDER/NAME; takes only what has that build-id.
 */
struct symbols *symbol_files__find(const char *folder, const char *build_id, const char *path);
/* Opens these files one after the other, from *place on, which is 0 at first and then continues; to
 * be closed; -1 = there is no other one. */
int symbol_files__open(const char *folder, const char *build_id, const char *path,
		       unsigned int *place);

#endif
