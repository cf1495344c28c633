/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a call that failed requested. In its callback, on any thread.
 */
#ifndef LIBCUPTI_USDT_TRACE_CALL_ARGUMENTS_H
#define LIBCUPTI_USDT_TRACE_CALL_ARGUMENTS_H

#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/probes.h"

/* Fills to->arguments and the bits of to->flags that say what of it is known. */
void call_arguments__read(struct cuda_api *to, int domain, uint32_t cbid,
			  const struct cupti_callback_data *data);
/* For the readable probe: the name of the kernel, "" = none; the first number that was requested,
 * bytes or an address, and the one that comes with it. */
const char *call_arguments__kernel(const struct cuda_api *call);
uint64_t call_arguments__first(const struct cuda_api *call);
uint32_t call_arguments__second(const struct cuda_api *call);

#endif
