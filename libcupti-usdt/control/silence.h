/* SPDX-License-Identifier: BSD-2-Clause */
/* Do GPU records come at all? On the agent's own thread. */
#ifndef LIBCUPTI_USDT_CONTROL_SILENCE_H
#define LIBCUPTI_USDT_CONTROL_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

/* launches: those so far that will have a record. */
void silence__begin(uint64_t now, uint64_t launches);
/* Reports, once, that launches go on and no record comes: a GPU newer than libcupti, or our buffers
 * were taken over. expected: times of kernels are on. */
void silence__check(uint64_t now, uint64_t launches, bool expected);

#endif
