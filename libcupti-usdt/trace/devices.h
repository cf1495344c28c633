/* SPDX-License-Identifier: BSD-2-Clause */
/* Device records for whoever listens to cuda:device_batch. On the agent's own thread. */
#ifndef LIBCUPTI_USDT_TRACE_DEVICES_H
#define LIBCUPTI_USDT_TRACE_DEVICES_H

#include <stdbool.h>

/* Sends a record of each device, if somebody listens and the driver is ready. */
void devices__tell(void);
/* Somebody listens and none was sent yet, as the driver was not ready. */
bool devices__are_due(void);

#endif
