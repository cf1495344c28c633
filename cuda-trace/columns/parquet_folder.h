/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder that an export goes to. It is a new one, an empty one, or one in which nothing but an
 * older export is: that stays until the new one is complete. Messages go to stderr. One thread.
 */
#ifndef CUDA_TRACE_COLUMNS_PARQUET_FOLDER_H
#define CUDA_TRACE_COLUMNS_PARQUET_FOLDER_H

#include <stdio.h>

struct parquet_folder;

/* 0, or -errno after a message. */
int parquet_folder__open(struct parquet_folder **folder, const char *path);
/* A new file, which becomes NAME.parquet at the end; NULL after a message. */
FILE *parquet_folder__create(struct parquet_folder *folder, const char *name);
/* `err` is what went wrong with it, without a message. 0, or -errno after a message. */
int parquet_folder__close_file(struct parquet_folder *folder, FILE *file, int err);
/* With err, which has been reported, all is as it was before. 0 or -errno. */
int parquet_folder__finish(struct parquet_folder *folder, int err);

#endif
