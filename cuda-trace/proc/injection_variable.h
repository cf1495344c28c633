/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value of CUDA_INJECTION64_PATH when a process executed its program.
 */
#ifndef CUDA_TRACE_PROC_INJECTION_VARIABLE_H
#define CUDA_TRACE_PROC_INJECTION_VARIABLE_H

#include <stdint.h>

enum injection_variable {
	INJECTION_VARIABLE_UNKNOWN, /* the process has ended, or may not be read */
	INJECTION_VARIABLE_OURS,
	INJECTION_VARIABLE_OTHER, /* names another library */
	INJECTION_VARIABLE_NONE,
};

enum injection_variable injection_variable__of(uint32_t pid);
/* Why the process has not loaded our injection library; NULL = unknown. */
const char *injection_variable__reason(enum injection_variable variable);

#endif
