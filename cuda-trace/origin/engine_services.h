/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The container engines of this machine: where each listens, and which of them does not answer.
 * One thread.
 */
#ifndef CUDA_TRACE_ORIGIN_ENGINE_SERVICES_H
#define CUDA_TRACE_ORIGIN_ENGINE_SERVICES_H

#include "cuda-trace/origin/origin_path.h"

/* Queries the engines that may know the container, each for two seconds at most. 0: `origin` has
 * what one of them says; -ENOENT: none knows it, or answers. */
int engine_services__find(const struct origin_container *container, struct origin *origin);

#endif
