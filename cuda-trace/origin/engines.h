/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clients of container engines. Each looks one container up by its whole id; called by the
 * thread of origin_cache.c only, since they wait, until `deadline` (monotonic ms).
 */
#ifndef CUDA_TRACE_ORIGIN_ENGINES_H
#define CUDA_TRACE_ORIGIN_ENGINES_H

#include <stdint.h>
#include "cuda-trace/origin/origin.h"

/* 0: found; -ENOENT: the engine does not know it; -ENOSYS: built without; or another -errno. */
int cri_client__find(int fd, const char *id, uint64_t deadline, struct origin *origin);
int docker_client__find(int fd, const char *id, uint64_t deadline, struct origin *origin);
/* podman has no service that always runs, but a list of its containers. */
int podman_files__find(const char *id, struct origin *origin);

/* The labels that the kubelet gives all of its containers, whatever the engine. */
void kubelet_labels__set(struct origin *origin, const char *key, const char *value);

#endif
