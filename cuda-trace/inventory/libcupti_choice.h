/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which libcupti the agent uses in a process, and why: the same order as in
 * libcupti-usdt/cupti/cupti_search.c, walked over a tree without opening anything.
 */
#ifndef CUDA_TRACE_INVENTORY_LIBCUPTI_CHOICE_H
#define CUDA_TRACE_INVENTORY_LIBCUPTI_CHOICE_H

#include <stdint.h>
#include "cuda-trace/inventory/filetree.h"

struct libraries;
struct library;

/* What the agent would see in the process; NULL or "" = not there. */
struct choice_inputs {
	const char *named;	 /* CUDA_TRACE_LIBCUPTI */
	const char *mapped;	 /* a libcupti that the process has already */
	const char *cudart;	 /* the libcudart that it has mapped */
	const char *cuda_home;	 /* CUDA_HOME, else CUDA_PATH */
	const char *loader_path; /* LD_LIBRARY_PATH */
	const char *packages;	 /* a folder of Python packages that it has mapped files of */
	/* As it was called, as the kernel knows it; $VIRTUAL_ENV and $CONDA_PREFIX. */
	const char *programs[2], *environments[2];
	unsigned int driver_major; /* 0 = unknown */
};

struct choice {
	struct library *found;	      /* NULL = none */
	char path[FILETREE_PATH_MAX]; /* as the agent would name it */
	char why[160];
	struct library *refused; /* the first that was found and not taken, or NULL */
};

void choice__make(struct libraries *libraries, const struct choice_inputs *inputs,
		  struct choice *choice);
/* The chosen file's own name, for people: the agent's may hold "..". */
const char *choice__file(const struct choice *choice);
/* N of ".../libNAME.so.N"; 0 if there is none. */
unsigned int choice__major(const char *path, const char *stem);

#endif
