/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What dpkg and rpm know of a tree's libcupti files. Their databases are their own business: this
 * machine's dpkg-query and rpm read them, never those of an image.
 */
#ifndef CUDA_TRACE_INVENTORY_PACKAGES_H
#define CUDA_TRACE_INVENTORY_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/inventory/filetree.h"

struct packages;

/* A libcupti file of an installed package; untrusted texts. */
struct package_file {
	const char *path, *package, *version;
};

/* Asks within this time; NULL: no memory. */
struct packages *packages__read(struct filetree *tree, uint64_t ns);
void packages__free(struct packages *packages);
/* The i-th file, NULL after the last; packages may be NULL. */
const struct package_file *packages__file(const struct packages *packages, size_t i);
/* The version of an installed package whose name implies CUPTI; false if it is not installed. */
bool packages__version(const struct packages *packages, const char *package, char *out,
		       size_t size);
/* Why nothing is known, or NULL. */
const char *packages__untold(const struct packages *packages);

#endif
