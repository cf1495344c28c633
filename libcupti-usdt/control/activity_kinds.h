/* SPDX-License-Identifier: BSD-2-Clause */
/* What CUPTI must do for which group: activity kinds and callbacks. Control's thread only. */
#ifndef LIBCUPTI_USDT_CONTROL_ACTIVITY_KINDS_H
#define LIBCUPTI_USDT_CONTROL_ACTIVITY_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/probes.h"

/* Switches kinds on and off so that those of `groups` are on; first those off that are not needed
 * any more. False: not now, all is as it was (see standstill.h). */
bool kinds__switch(uint32_t groups);
/* The groups that could not be had. */
uint32_t kinds__missing(void);
/*
 * Some kinds CUPTI can switch on only once the driver is up, or has a context: they wait, and are
 * no trouble yet. Are there any? Tries them again; tells of them as of a trouble.
 */
bool kinds__wait(void);
void kinds__retry(void);
void kinds__tell_waiting(void);
bool kinds__trace_graphs(void);
/* Is any kind on? */
int kinds__any(void);

/* The same for the callbacks of a subscriber. */
void cbids__switch(void *subscriber, uint32_t groups);
/* A new subscriber has none on. */
void cbids__forget(void);

#endif
