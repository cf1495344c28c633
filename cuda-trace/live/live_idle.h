/* SPDX-License-Identifier: BSD-2-Clause */
/* --idle of top and metrics: a session that delivers records as well. Used by live.c. */
#ifndef CUDA_TRACE_LIVE_LIVE_IDLE_H
#define CUDA_TRACE_LIVE_LIVE_IDLE_H

#include <stdbool.h>
#include "cuda-trace/capture/session.h"
#include "cuda-trace/cli/sample_options.h"
#include "cuda-trace/idle/idle.h"

/* Adds to the options what it needs. False: no memory. */
bool live_idle__open(struct idle **idle, const struct sample *sample,
		     struct session_options *options);
/* As live_gpus__uuid(); "" = not known. */
void live_idle__uuid(char out[48], const struct idle_gpu *gpu);
/* Accepts NULL. */
void live_idle__attach(struct idle *idle, struct session *session);

#endif
