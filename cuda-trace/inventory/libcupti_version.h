/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks a library of this machine for its version, in a child that can do no harm. */
#ifndef CUDA_TRACE_INVENTORY_LIBCUPTI_VERSION_H
#define CUDA_TRACE_INVENTORY_LIBCUPTI_VERSION_H

#include <stdint.h>

/*
 * Opens the library behind fd and calls `int function(uint32_t *version)` in it: cuptiGetVersion(),
 * cuDriverGetVersion(). 0, or -errno: -EACCES (others than root and this user can have written the
 * file: nothing of it is run), -ETIMEDOUT, -ENOEXEC (would not load), -EPROTO (no answer).
 */
int version__ask(int fd, const char *function, uint32_t *version);

#endif
