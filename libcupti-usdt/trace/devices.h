/* SPDX-License-Identifier: BSD-2-Clause */
/* Device records for whoever listens to cuda:device_batch. On the guest's own thread. */
#ifndef LIBCUPTI_USDT_TRACE_DEVICES_H
#define LIBCUPTI_USDT_TRACE_DEVICES_H

#include <stdbool.h>

/* Tells of each device, if somebody listens and the driver can be asked. */
void devices__tell(void);
/* Somebody listens and has not been told yet, as the driver was not ready. */
bool devices__are_due(void);

#endif
