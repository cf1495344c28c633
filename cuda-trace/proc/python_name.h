/* SPDX-License-Identifier: BSD-2-Clause */
/* Which Python a process runs, by the names of the files that it maps. */
#ifndef CUDA_TRACE_PROC_PYTHON_NAME_H
#define CUDA_TRACE_PROC_PYTHON_NAME_H

#include <stddef.h>
#include <stdint.h>

/* As "python3.10" or "libpython3.10.so.1.0", without control characters; "" = it runs none, or has
 * ended. */
void python_name__read(uint32_t pid, char *name, size_t size);

#endif
