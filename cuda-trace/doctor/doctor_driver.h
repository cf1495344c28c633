/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about the NVIDIA driver and the GPUs of this machine. */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_DRIVER_H
#define CUDA_TRACE_DOCTOR_DOCTOR_DRIVER_H

struct driver;
struct filetree;
struct findings;

/* The tree must be the machine's own. */
void driver__report(struct filetree *tree, const struct driver *driver, struct findings *findings);

#endif
