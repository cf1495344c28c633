/* SPDX-License-Identifier: BSD-2-Clause */
/* What a kernel needs of a multiprocessor, as the driver knows it. */
#ifndef LIBCUPTI_USDT_TRACE_KERNEL_SHAPE_H
#define LIBCUPTI_USDT_TRACE_KERNEL_SHAPE_H

#include <stdint.h>

/* In InitializeInjection: takes the functions out of the mapped libcuda. */
void kernel_shape__open(void);
/* `function` is what was launched. Both 0 if the driver does not say. */
void kernel_shape__find(void *function, uint32_t *registers, uint32_t *static_shared);

#endif
