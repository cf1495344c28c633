/* SPDX-License-Identifier: BSD-2-Clause */
/* Launch calls: which they are, and what their parameters say. On any launching thread. */
#ifndef LIBCUPTI_USDT_TRACE_LAUNCHES_H
#define LIBCUPTI_USDT_TRACE_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/emit/rings.h"

/* What the parameters of a launch call look like. */
enum launch_shape {
	LAUNCH_NONE, /* no launch */
	LAUNCH_PLAIN,
	LAUNCH_EX,
	LAUNCH_RUNTIME,
	LAUNCH_GRAPH,
	LAUNCH_BARE, /* not read */
};

enum driver_launch {
#define DRIVER_LAUNCH(name, number, shape) CBID_##name = number,
	DRIVER_LAUNCHES(DRIVER_LAUNCH)
#undef DRIVER_LAUNCH
};

/* CUPTI's numbers of the launch calls of a domain, ended by 0. */
const uint16_t *launches__cbids(int domain);
/* Of calls of the driver API after which a kernel's name may be another's, ended by 0. */
const uint16_t *launches__unloads(void);
bool launches__unloads_by(uint32_t cbid);
bool launches__ends_context_by(uint32_t cbid);
enum launch_shape launches__shape(int domain, uint32_t cbid);
/* Called as a launch call returns. */
void launches__record(struct ring *ring, int domain, uint32_t cbid,
		      const struct cupti_callback_data *data, uint64_t start, uint64_t end,
		      bool captured);
/* The fast path, without a detour: the launch of a kernel in the driver API, as nearly
 * all launches are. The shape of those, LAUNCH_NONE for others. */
static inline enum launch_shape launches__common_shape(uint32_t cbid)
{
	if (cbid == CBID_cuLaunchKernel || cbid == CBID_cuLaunchKernel_ptsz)
		return LAUNCH_PLAIN;
	if (cbid == CBID_cuLaunchKernelEx || cbid == CBID_cuLaunchKernelEx_ptsz)
		return LAUNCH_EX;
	return LAUNCH_NONE;
}
/* Called as one of them returns. A call that failed goes to the slow path instead. */
void launches__set_slow_path(void (*path)(int domain, uint32_t cbid, const void *data));
void launches__leave(uint32_t cbid, const struct cupti_callback_data *data);

/* Of a graph: many kernels in one call. */
bool launches__is_graph(int domain, uint32_t cbid);
/* Grid, block, dynamic shared memory and stream of a call that succeeded. */
void launches__read(struct cuda_launch *to, int domain, uint32_t cbid, const void *params);
/* The CUfunction or CUkernel of a call of the driver API; NULL = not known. */
void *launches__function(uint32_t cbid, const void *params);

#endif
