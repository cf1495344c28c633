/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session's options mean to its eBPF programs. */
#ifndef CUDA_TRACE_CAPTURE_SESSION_FILTER_H
#define CUDA_TRACE_CAPTURE_SESSION_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct session_options;
struct stream_settings;

/* Agents of other processes must not be woken, and the kernel may know how. */
bool session_filter__wants_links(const struct session_options *options);
/* 0, or -errno after a line on stderr. */
int session_filter__fill(const struct session_options *options, struct stream_settings *settings);
/* Does the process pass the filters by name, user and cgroup? As of now, without the kernel. */
bool session_filter__passes(const struct session_options *options, uint32_t pid);
/* Rounded up to a power of two, as the kernel wants it. */
uint32_t session_filter__ring_bytes(const struct session_options *options);

#endif
