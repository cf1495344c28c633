/* SPDX-License-Identifier: BSD-2-Clause */
/* Which package a file came with. */
#ifndef CUDA_TRACE_INVENTORY_LIBCUPTI_OWNER_H
#define CUDA_TRACE_INVENTORY_LIBCUPTI_OWNER_H

#include "cuda-trace/inventory/filetree.h"

struct library;
struct packages;

/* Fills library->owner with "package version (how it is managed)", or leaves it "". */
void owner__find(struct filetree *tree, const struct packages *packages, struct library *library);

#endif
