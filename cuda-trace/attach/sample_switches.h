/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The switches of a sampling cycle: probes that are attached only to raise their semaphores, from
 * which the agent reads the cycle. Called by the session; one thread.
 */
#ifndef CUDA_TRACE_ATTACH_SAMPLE_SWITCHES_H
#define CUDA_TRACE_ATTACH_SAMPLE_SWITCHES_H

#include <stdint.h>

struct bpf_object;
struct switches;

struct switches *sample_switches__new(struct bpf_object *object, uint32_t on_ms, uint32_t every_ms);
void sample_switches__free(struct switches *switches);
/* In one process (number is not 0) or in all. Call it before attaching the batches of that file, or
 * sampling would begin with another cycle. 0 or -errno. */
int sample_switches__add(struct switches *switches, const char *path, uint32_t pid,
			 uint64_t number);
/* A process that was added by its number has ended. */
void sample_switches__drop_process(struct switches *switches, uint64_t number);
/* Nobody maps the file any more. */
void sample_switches__drop_file(struct switches *switches, const char *path);
/* Another window or period, 0 = as it is; the agents follow within 100 ms. 0 or -errno. */
int sample_switches__set(struct switches *switches, uint32_t on_ms, uint32_t every_ms);

#endif
