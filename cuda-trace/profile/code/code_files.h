/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules that were loaded before anybody listened: the files that processes have mapped whose code
 * is looked into are opened while these live, and at the end searched for the functions that have
 * no line. One thread.
 */
#ifndef CUDA_TRACE_PROFILE_CODE_CODE_FILES_H
#define CUDA_TRACE_PROFILE_CODE_CODE_FILES_H

#include "cuda-trace/profile/code/code_images.h"

struct pc_files;

struct pc_files *pc_files__new(void);
/* An instruction, sampled or counted, or what comes behind some: the end of a window, a state of
 * the counters. Others are ignored. */
void pc_files__record(struct pc_files *files, const struct process *process,
		      const struct cuda_record *record);
/* For what images are searched. */
enum pc_files_for {
	PC_FILES_LINES, /* of functions that have none */
	PC_FILES_CODE,	/* likewise, or their code */
	PC_FILES_ALL,	/* the code of all functions */
};

/* Adds the images of these functions, as far as they are not there. Takes some seconds at most;
 * says on stderr what came short. */
void pc_files__search(struct pc_files *files, struct pc_images *images,
		      const struct code_table *table, enum pc_files_for what);
void pc_files__free(struct pc_files *files);

#endif
