/* SPDX-License-Identifier: BSD-2-Clause */
/* Launch calls: which they are, and what their parameters say. On any launching thread. */
#ifndef LIBCUPTI_USDT_LAUNCHES_H
#define LIBCUPTI_USDT_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/cupti_api.h"
#include "libcupti-usdt/rings.h"

/* What the parameters of a launch call look like. */
enum launch_shape {
	LAUNCH_NONE, /* no launch */
	LAUNCH_PLAIN,
	LAUNCH_EX,
	LAUNCH_RUNTIME,
	LAUNCH_GRAPH,
	LAUNCH_BARE, /* not read */
};

/* CUPTI's numbers of the launch calls of a domain, ended by 0. */
const uint16_t *launches__cbids(int domain);
enum launch_shape launches__shape(int domain, uint32_t cbid);
/* Called as a launch call returns. */
void launches__record(struct ring *ring, enum launch_shape shape, int domain, uint32_t cbid,
		      const struct cupti_callback_data *data, uint64_t start, uint64_t end);

/* Of a graph: many kernels in one call. */
bool launches__is_graph(int domain, uint32_t cbid);
/* Grid, block, dynamic shared memory and stream of a call that succeeded. */
void launches__read(struct cuda_launch *to, int domain, uint32_t cbid, const void *params);
/* The CUfunction or CUkernel of a call of the driver API; NULL = not known. */
void *launches__function(uint32_t cbid, const void *params);

#endif
