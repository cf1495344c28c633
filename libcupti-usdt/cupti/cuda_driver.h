/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries to the CUDA driver itself. None of them makes a context or waits for the GPU.
 */
#ifndef LIBCUPTI_USDT_CUPTI_CUDA_DRIVER_H
#define LIBCUPTI_USDT_CUPTI_CUDA_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuda_device;

/* In InitializeInjection: takes the functions out of the mapped libcuda. Version, 0 = unknown. */
uint32_t cuda_driver__open(void);
/*
 * Fetches all that a device record says; on the agent's thread, never from a callback. False
 * while the driver is not ready.
 */
bool cuda_driver__learn_devices(void);
bool cuda_driver__knows_devices(void);
/* The following on any thread, afterwards. The address: "" if unknown. */
void cuda_driver__pci(uint32_t device, char *text, size_t size);
/* All but head and name, whose text is returned; NULL: there is no such device. */
const char *cuda_driver__device(uint32_t device, struct cuda_device *to);

/* The mangled name of a CUfunction, or of a CUkernel where that is NULL; NULL = unknown (before
 * CUDA 12.3). On any thread, in a callback, too: neither waits. */
const char *cuda_driver__kernel_name(void *function, void *kernel);

/* The name of the kernel of a node that is of no executable graph; NULL = unknown, as above, or it
 * is no kernel's. The driver may call CUPTI's subscriber back for the call that this makes. */
const char *cuda_driver__node_kernel_name(void *node);

/* The calling thread is the agent's own, inside a call of the driver: no call of the program's. */
bool cuda_driver__asks_itself(void);

#endif
