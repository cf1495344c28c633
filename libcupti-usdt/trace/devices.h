/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends device records to cuda:device_batch. On the agent's own thread. */
#ifndef LIBCUPTI_USDT_TRACE_DEVICES_H
#define LIBCUPTI_USDT_TRACE_DEVICES_H

#include <stdbool.h>

/* Sends a record of each device, if a tool is attached and the driver is ready. */
void devices__tell(void);
/* True if a tool is attached and none was sent yet, because the driver was not ready. */
bool devices__are_due(void);

#endif
