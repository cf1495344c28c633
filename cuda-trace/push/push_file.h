/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of the queue: lines that describe the item, an empty line, the body. */
#ifndef CUDA_TRACE_PUSH_PUSH_FILE_H
#define CUDA_TRACE_PUSH_PUSH_FILE_H

#include "cuda-trace/push/push_item.h"

#define PUSH_FILE_ENDING ".push"

/* The file has that name when it is complete. 0 or -errno. */
int push_file__write(int folder, const char *name, const struct push_item *item);
/* body: with its body, whose checksum is right. -EBADMSG = it is damaged, or no such file; *item,
 * which the caller frees, is NULL where nothing of it is known. */
int push_file__read(int folder, const char *name, bool body, struct push_item **item);

#endif
