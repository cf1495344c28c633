/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether CUDA programs would load the guest: the file, the loader, the opt-in, who else wants in.
 */
#ifndef CUDA_TRACE_DOCTOR_OPTIN_H
#define CUDA_TRACE_DOCTOR_OPTIN_H

struct filetree;
struct findings;

void optin__report(struct filetree *tree, struct findings *findings);

#endif
