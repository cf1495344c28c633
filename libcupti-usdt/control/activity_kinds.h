/* SPDX-License-Identifier: BSD-2-Clause */
/* What CUPTI must do for which group: activity kinds and callbacks. Control's thread only. */
#ifndef LIBCUPTI_USDT_CONTROL_ACTIVITY_KINDS_H
#define LIBCUPTI_USDT_CONTROL_ACTIVITY_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/probes.h"

/* Switches kinds on and off so that those of `groups` are on; first those off that are not needed
 * any more. False: not now, all is as it was (see switch_barrier.h). */
bool activity_kinds__switch(uint32_t groups);
/* The groups that could not be had. */
uint32_t activity_kinds__missing(void);
/*
 * CUPTI can switch some kinds on only once the driver is up, or has a context: they wait, which is
 * no error yet. Are there any? Tries them again; what fails now is reported as an error.
 */
bool activity_kinds__wait(void);
void activity_kinds__retry(void);
void activity_kinds__tell_waiting(void);
bool activity_kinds__trace_graphs(void);
/* Is any kind on? */
int activity_kinds__any(void);

/* The same for the callbacks of a subscriber. */
void cbids__switch(void *subscriber, uint32_t groups);
/* A new subscriber has none on. */
void cbids__forget(void);

#endif
