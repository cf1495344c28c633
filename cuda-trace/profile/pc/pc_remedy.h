/* SPDX-License-Identifier: BSD-2-Clause */
/* What helps if a program may not be sampled. */
#ifndef CUDA_TRACE_PROFILE_PC_PC_REMEDY_H
#define CUDA_TRACE_PROFILE_PC_PC_REMEDY_H

#include <stdbool.h>

/* After an error of that code in a process: on stderr, once. */
void pc_remedy__say(int code, bool *said);

#endif
