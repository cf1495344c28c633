/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tool's own probe, cuda_trace:selftest.
 */
#ifndef CUDA_TRACE_ATTACH_PROBE_SELFCHECK_H
#define CUDA_TRACE_ATTACH_PROBE_SELFCHECK_H

#include <stdint.h>

/* A process of its own hits the probe once and ends. 0 or -errno. */
int probe_selfcheck__fire(void);
/* Another thread of this process does. 0 or -errno. */
int probe_selfcheck__fire_in_thread(void);
/* What a probe hit takes beside the program behind it, in ns; the probe must be attached. */
uint64_t probe_selfcheck__measure(void);

#endif
