/* SPDX-License-Identifier: BSD-2-Clause */
/* One process: is the agent in it, in which state, and why there are no GPU times. */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_EXAMINE_H
#define CUDA_TRACE_DOCTOR_DOCTOR_EXAMINE_H

#include <stdint.h>

struct cuda_process;
struct findings;
struct libraries;

/* `libraries` is of the process's own root. */
void examine__process(struct libraries *libraries, const struct cuda_process *process,
		      struct findings *findings);
/* For the listing of a whole machine: one line a process. */
void examine__briefly(struct libraries *libraries, const struct cuda_process *process,
		      struct findings *findings);

#endif
