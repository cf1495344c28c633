/* SPDX-License-Identifier: BSD-2-Clause */
/* The NVIDIA driver of this machine. */
#ifndef CUDA_TRACE_INVENTORY_DRIVER_INVENTORY_H
#define CUDA_TRACE_INVENTORY_DRIVER_INVENTORY_H

#include <stdint.h>
#include "cuda-trace/inventory/filetree.h"

struct driver {
	char module[64];		 /* version of the kernel module, "" = not loaded */
	char libcuda[FILETREE_PATH_MAX]; /* the library that programs get, "" = none found */
	uint32_t cuda;			 /* 1000 * major + 10 * minor, 0 = unknown */
	bool guessed; /* cuda comes from the module's version, not from libcuda */
};

/* The tree must be the machine's own. */
void driver__read(const struct filetree *tree, struct driver *driver);

#endif
