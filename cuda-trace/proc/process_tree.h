/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts a process and its descendants into an eBPF map.
 */
#ifndef CUDA_TRACE_PROC_PROCESS_TREE_H
#define CUDA_TRACE_PROC_PROCESS_TREE_H

#include <stdint.h>

/* Adds pid and its present descendants as keys; 0 or -errno. */
int tree__add(int map, uint32_t pid);

#endif
