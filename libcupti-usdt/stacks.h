/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which launches fire a stack probe. Called on the launching thread, in its launch.
 */
#ifndef LIBCUPTI_USDT_STACKS_H
#define LIBCUPTI_USDT_STACKS_H

#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/rings.h"

/* A launch has returned; `ring` may be NULL. */
void stacks__sample(struct ring *ring, uint32_t correlation, uint32_t context);

#endif
