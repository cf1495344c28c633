/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether CUDA programs would load the agent: the file, the loader, the opt-in, who else wants in.
 */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_INJECTION_H
#define CUDA_TRACE_DOCTOR_DOCTOR_INJECTION_H

struct filetree;
struct findings;

void injection__report(struct filetree *tree, struct findings *findings);

#endif
