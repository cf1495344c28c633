/* SPDX-License-Identifier: BSD-2-Clause */
/* A process starts, and tools that watch some processes only may want to listen to this one. */
#ifndef LIBCUPTI_USDT_CONTROL_START_HANDSHAKE_H
#define LIBCUPTI_USDT_CONTROL_START_HANDSHAKE_H

#include <stdbool.h>

/* Fires cuda:start, if somebody listens to it. */
void arrival__tell(void);
/* May an answer to it come yet? */
bool arrival__is_open(void);

#endif
