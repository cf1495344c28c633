/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tool's own probe, cuda_trace:selftest.
 */
#ifndef CUDA_TRACE_SELFTEST_H
#define CUDA_TRACE_SELFTEST_H

/* A process of its own hits the probe once and ends. 0 or -errno. */
int selftest__fire(void);

#endif
