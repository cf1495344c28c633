/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What /proc says about CUDA processes: which of the libraries that matter they have mapped, and
 * what their environment was at their start.
 */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_PROCESS_H
#define CUDA_TRACE_DOCTOR_DOCTOR_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/inventory/filetree.h"

struct findings;
struct libraries;
struct system_facts;

struct mapped {
	char path[FILETREE_PATH_MAX]; /* "" = not mapped; as the process's own root has it,
					 untrusted */
	uint64_t dev, ino;
	bool deleted;
};

struct cuda_process {
	uint32_t pid, uid;
	char comm[64]; /* untrusted */
	struct mapped libcuda, cudart, libcupti, agent;
	unsigned int libcupti_count; /* different files; more than one collide */
	bool same_root;		     /* its paths mean what ours mean */
	bool environment_known;
	char injection[FILETREE_PATH_MAX]; /* CUDA_INJECTION64_PATH, "" = unset or empty */
	bool injection_set;
	char override[FILETREE_PATH_MAX]; /* CUDA_TRACE_LIBCUPTI */
	char cuda_home[FILETREE_PATH_MAX];
	char loader_path[FILETREE_PATH_MAX];
	char packages[FILETREE_PATH_MAX]; /* a folder of Python packages with mapped files */
	char called[FILETREE_PATH_MAX]; /* the program as it was called, and as the kernel has it */
	char program[FILETREE_PATH_MAX];
	char virtual_env[FILETREE_PATH_MAX];
	char conda_prefix[FILETREE_PATH_MAX];
	bool off; /* CUDA_TRACE=off */
};

/* 0 or -errno. */
int doctor_process__read(uint32_t pid, struct cuda_process *process);
/* Calls each for every process with libcuda or libcupti mapped, as long as it returns 0. How many
 * processes of other users could not be looked into. */
typedef int (*cuda_process_fn)(void *context, const struct cuda_process *process);
unsigned int doctor_process__each(cuda_process_fn each, void *context);

#endif
