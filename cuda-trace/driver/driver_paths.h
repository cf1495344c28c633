/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where libcuda usually is.
 */
#ifndef CUDA_TRACE_DRIVER_DRIVER_PATHS_H
#define CUDA_TRACE_DRIVER_DRIVER_PATHS_H

/* Names of files that may exist: below LD_LIBRARY_PATH, then below the system's folders. */
void driver_paths__each(void (*handle)(void *context, const char *path), void *context);

#endif
