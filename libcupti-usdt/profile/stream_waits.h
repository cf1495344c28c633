/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting for what was launched into a stream, with an end. On a launching thread, in the callback
 * at the end of its launch.
 */
#ifndef LIBCUPTI_USDT_PROFILE_STREAM_WAITS_H
#define LIBCUPTI_USDT_PROFILE_STREAM_WAITS_H

#include <stdbool.h>

#define STREAM_WAITS_NOT_READY 600 /* CUDA_ERROR_NOT_READY: it has not ended within 60 s */

/* In InitializeInjection. */
void stream_waits__open(void);
/* False: the driver has no such function. */
bool stream_waits__is_there(void);
/* A CUresult. */
int stream_waits__wait(void *stream);

#endif
