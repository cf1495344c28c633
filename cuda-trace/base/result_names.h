/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of CUresult and cudaError_t values.
 */
#ifndef CUDA_TRACE_BASE_RESULT_NAMES_H
#define CUDA_TRACE_BASE_RESULT_NAMES_H

#include <stdint.h>

/* "CUDA_ERROR_INVALID_VALUE" or "cudaErrorInvalidValue"; NULL = not known to this version. */
const char *result_names__name(int domain, int32_t result);

#endif
