/* SPDX-License-Identifier: BSD-2-Clause */
/* A process starts, and tools that watch some processes only may want to listen to this one. */
#ifndef LIBCUPTI_USDT_CONTROL_START_HANDSHAKE_H
#define LIBCUPTI_USDT_CONTROL_START_HANDSHAKE_H

/* Fires cuda:start, if somebody listens to it, and waits for an answer: see CUPTI_USDT_AWAIT_MS. */
void start_handshake__wait(void);

#endif
