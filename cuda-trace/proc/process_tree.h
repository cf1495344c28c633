/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process and its descendants, put into an eBPF map.
 */
#ifndef CUDA_TRACE_PROC_PROCESS_TREE_H
#define CUDA_TRACE_PROC_PROCESS_TREE_H

#include <stdint.h>

/* The map's keys become pid and what descends from it now; 0 or -errno. */
int tree__add(int map, uint32_t pid);

#endif
