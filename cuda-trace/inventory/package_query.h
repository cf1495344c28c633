/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a program of this machine (dpkg-query, rpm) on the database of a tree that may be hostile.
 */
#ifndef CUDA_TRACE_INVENTORY_PACKAGE_QUERY_H
#define CUDA_TRACE_INVENTORY_PACKAGE_QUERY_H

#include <stdint.h>
#include "cuda-trace/inventory/filetree.h"

/*
 * Where the program finds the tree, unless that is the machine's own (tree->own): mounted in its
 * own mount namespace only, over a folder that every system has and it has no need of.
 */
#define QUERY_ROOT "/tmp"

/*
 * All that `argv` (argv[0] a full path on this machine) prints within the time, to be freed.
 * It sees the tree read-only, without devices and links, and runs without rights, terminal and
 * environment. *err is its exit status then. NULL and *err: -ENOENT (no such program), -EPERM
 * (this user cannot make such a view of the tree), -ETIMEDOUT, -EPROTO (it died).
 */
char *query__output(const struct filetree *tree, char *const argv[], uint64_t ns, int *err);

#endif
