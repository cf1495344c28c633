/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of CUresult and cudaError_t values.
 */
#ifndef CUDA_TRACE_BASE_RESULT_NAMES_H
#define CUDA_TRACE_BASE_RESULT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* "CUDA_ERROR_INVALID_VALUE" or "cudaErrorInvalidValue"; NULL = not known to this version. */
const char *result_names__name(int domain, int32_t result);
/* A result that says that this call (by its name, NULL = unknown) failed: neither that something is
 * not ready yet, nor handed out of an earlier call. */
bool result_names__is_failure(int domain, int32_t result, const char *call);

#endif
