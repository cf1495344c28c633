/* SPDX-License-Identifier: BSD-2-Clause */
/* Which package a file came with, read from the databases themselves: nothing is run in a tree. */
#ifndef CUDA_TRACE_DOCTOR_OWNER_H
#define CUDA_TRACE_DOCTOR_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include "cuda-trace/doctor_filetree.h"

struct library;
struct owners;

/* What dpkg says of all libcupti files, read once; NULL: no memory. */
struct owners *owners__read(struct filetree *tree);
void owners__free(struct owners *owners);
/* Fills library->owner with "package version (how it is managed)", or leaves it "". */
void owner__find(struct filetree *tree, const struct owners *owners, struct library *library);
/* The version of an installed Debian package; false if it is not installed. */
bool owner__dpkg_version(const struct filetree *tree, const char *package, char *out, size_t size);

#endif
