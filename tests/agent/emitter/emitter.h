/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes of the agent's names, fired with whatever a test wants: true batches, and bytes that no
 * agent would ever send. Built as a libcupti-usdt.so of its own, so that the tool finds it in
 * /proc/PID/maps as it finds copies in containers.
 */
#ifndef TESTS_EMITTER_H
#define TESTS_EMITTER_H

#include "libcupti-usdt/probes.h"

/* 1 while somebody listens to kernel_batch or counters_batch. */
int emitter_wanted(void);
void emitter_launches(const void *records, __u32 bytes, __u32 count, __u64 first, __u64 instance);
void emitter_kernels(const void *records, __u32 bytes, __u32 count, __u64 first, __u64 instance);
void emitter_counters(const void *records, __u32 bytes, __u32 count, __u64 first, __u64 instance);
void emitter_name(__u64 instance, __u32 id, const char *name, __u32 length);
void emitter_status(const struct cuda_status *status, __u32 size);
void emitter_lost(__u32 reason, __u64 count, __u64 total, __u64 instance);
void emitter_error(__s32 code, const char *component, const char *message, __u64 instance);

#endif
