/* SPDX-License-Identifier: BSD-2-Clause */
/* NVTX ranges and marks. Callbacks come only to programs started with NVTX_INJECTION64_PATH. */
#ifndef LIBCUPTI_USDT_TRACE_NVTX_H
#define LIBCUPTI_USDT_TRACE_NVTX_H

#include <stdint.h>

struct cupti_nvtx_data;
struct ring;

int nvtx__open(void);
/* Callbacks are about to come, for the first time or again. On the agent's thread. */
void nvtx__begin(void);
/* None come any more. Likewise. */
void nvtx__end(void);
/* On any thread of the program's. */
void nvtx__callback(uint32_t cbid, const struct cupti_nvtx_data *data);

/* How many pushed ranges of the ring's owner are open, of those that are kept. On that thread. */
uint32_t nvtx__depth(const struct ring *ring);

#endif
