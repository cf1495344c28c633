/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcupti in a helper process of the tool's own, never in the tool: it opens libraries that may
 * crash or hang.
 */
#ifndef CUDA_TRACE_INVENTORY_LIBCUPTI_OPEN_H
#define CUDA_TRACE_INVENTORY_LIBCUPTI_OPEN_H

#include <stddef.h>

/*
 * The first that can be opened, its path in `path`: the one that CUDA_TRACE_LIBCUPTI names, or
 * where the loader, toolkits and packages have it. NULL: there is none.
 */
void *libcupti_open__open(char *path, size_t size);

#endif
