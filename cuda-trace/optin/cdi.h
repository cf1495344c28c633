/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent in containers: a CDI specification (/etc/cdi/cuda-trace.yaml) with the devices
 * cuda-trace/load=agent and, where this machine has a libcupti, cuda-trace/load=cupti.
 */
#ifndef CUDA_TRACE_OPTIN_CDI_H
#define CUDA_TRACE_OPTIN_CDI_H

#define CDI_PATH "/etc/cdi/cuda-trace.yaml"

/* 0 or -errno after one line on stderr. root: an image. */
int cdi__enable(const char *root);
int cdi__disable(const char *root);

#endif
