/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent in systemd services: a drop-in /etc/systemd/system/UNIT.d/cuda-trace.conf that sets
 * CUDA_INJECTION64_PATH, since services see no profile script.
 */
#ifndef CUDA_TRACE_OPTIN_SYSTEMD_DROPIN_H
#define CUDA_TRACE_OPTIN_SYSTEMD_DROPIN_H

#include <limits.h>

/* 0 or -errno after one line on stderr. `unit` may lack its ".service". root: an image. */
int service__enable(const char *root, const char *unit);
int service__disable(const char *root, const char *unit);

/* Calls each with the name of every unit that has our drop-in. */
void service__each(void (*each)(void *context, const char *unit), void *context);

#endif
