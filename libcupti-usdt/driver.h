/* SPDX-License-Identifier: BSD-2-Clause */
/* The three questions that the guest asks of the CUDA driver itself. None of them makes a context.
 */
#ifndef LIBCUPTI_USDT_DRIVER_H
#define LIBCUPTI_USDT_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In InitializeInjection: takes the functions out of the mapped libcuda. Version, 0 = unknown. */
uint32_t driver__open(void);
/*
 * Asks for the devices' PCI addresses; on the guest's thread, never from a callback. False while
 * the driver is not ready.
 */
bool driver__learn_devices(void);
/* On any thread, afterwards. "" if unknown. */
void driver__pci(uint32_t device, char *text, size_t size);

#endif
