/* SPDX-License-Identifier: BSD-2-Clause */
/* Translates a session's options into settings of its eBPF programs. */
#ifndef CUDA_TRACE_CAPTURE_SESSION_FILTER_H
#define CUDA_TRACE_CAPTURE_SESSION_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct session_options;
struct stream_settings;

/* Agents of other processes must stay dormant, and this kernel may support that. */
bool session_filter__wants_links(const struct session_options *options);
/* 0, or -errno after a line on stderr. */
int session_filter__fill(const struct session_options *options, struct stream_settings *settings);
/* Does the process pass the filters by name, user and cgroup now? Reads /proc. */
bool session_filter__passes(const struct session_options *options, uint32_t pid);
/* Rounded up to a power of two, as the kernel requires. */
uint32_t session_filter__ring_bytes(const struct session_options *options);

#endif
