/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's disassembler, where it is installed: a program of somebody else's, given code of traced
 * programs. It runs without rights, with bounds to its time, memory and output.
 */
#ifndef CUDA_TRACE_PROFILE_CODE_NVDISASM_H
#define CUDA_TRACE_PROFILE_CODE_NVDISASM_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct nvdisasm {
	int fd; /* of the program */
	char path[PATH_MAX];
};

enum nvdisasm_end {
	NVDISASM_ENDED,	  /* somehow */
	NVDISASM_FAILED,  /* it could not be started */
	NVDISASM_ENDLESS, /* more text than any disassembly has */
	NVDISASM_LATE,
	NVDISASM_STOPPED, /* by Ctrl-C */
};

/* 0, or -errno: the one that CUDA_TRACE_NVDISASM names (-ECANCELED: "off"), else that of PATH,
 * CUDA_HOME or /usr/local/cuda. */
int nvdisasm__open(struct nvdisasm *program);
/* What it says of a cubin, with a NUL behind it (malloc), until a time of CLOCK_MONOTONIC. */
enum nvdisasm_end nvdisasm__run(const struct nvdisasm *program, const void *cubin, size_t size,
				uint64_t until_ms, char **text, size_t *length);
void nvdisasm__close(struct nvdisasm *program);

#endif
