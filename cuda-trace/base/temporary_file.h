/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creates files with unpredictable names beside the file that they will replace. Safe for any
 * number of processes at once, in folders that others can write to. Any thread.
 */
#ifndef CUDA_TRACE_BASE_TEMPORARY_FILE_H
#define CUDA_TRACE_BASE_TEMPORARY_FILE_H

#include <sys/types.h>

#define TEMPORARY_TAG_SIZE 17 /* hexadecimal digits and the terminating NUL */

/* Random digits. */
void temporary_file__tag(char tag[TEMPORARY_TAG_SIZE]);

/* Creates "PREFIX.TAG" in the folder (or AT_FDCWD) and opens it for writing; the caller frees
 * *name. A file descriptor or -errno. */
int temporary_file__open(int folder, const char *prefix, mode_t mode, char **name);

#endif
