/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CUDA_TRACE_ATTACH_LOAD_ERROR_H
#define CUDA_TRACE_ATTACH_LOAD_ERROR_H

#include <stdbool.h>

/* True for a limit of this process or machine, which trying another program would not change. */
bool load_error__is_limit(int err);
/* Prints why an eBPF program could not be loaded (-errno): one line on stderr, with the remedy. */
void load_error__say(const char *program, int err);

#endif
