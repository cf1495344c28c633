/* SPDX-License-Identifier: BSD-2-Clause */
/* The loader's cache of a tree: which file a bare library name leads to. */
#ifndef CUDA_TRACE_INVENTORY_LDCACHE_H
#define CUDA_TRACE_INVENTORY_LDCACHE_H

#include "cuda-trace/inventory/filetree.h"

/* Calls each for every entry whose name begins with `prefix`; stops when it returns non-zero.
 * 0, or -errno (-EBADMSG: not a cache that is understood). */
typedef int (*ldcache_fn)(void *context, const char *name, const char *path);
int ldcache__each(const struct filetree *tree, const char *prefix, ldcache_fn each, void *context);

#endif
