/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens folders without letting another user decide where the path leads: every link and every
 * folder on the way must belong to the caller or to root. Any thread.
 */
#ifndef CUDA_TRACE_BASE_TRUSTED_FOLDER_H
#define CUDA_TRACE_BASE_TRUSTED_FOLDER_H

#include <errno.h>
#include <stdbool.h>

/* A link or a folder on the way belongs to another user. */
#define TRUSTED_FOLDER_FOREIGN (-EKEYREJECTED)

/* Opens the absolute path (O_PATH); make: creates the folders that are missing. A file descriptor,
 * TRUSTED_FOLDER_FOREIGN, or another -errno. */
int trusted_folder__open(const char *path, bool make);

#endif
