// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parameters of calls that failed → what they requested. Failure modes: 1. what a parameter
 * points to is read: a call often failed because it pointed nowhere, and the program would die of
 * us. Nothing here follows a pointer but that to CUPTI's copy of the parameters. 2. a number that
 * CUPTI gave to another call, or other parameters: `make check-layout` compares each. 3. it costs
 * where it should not: failures are rare, so a list is walked, not a table kept at hand; calls that
 * programs repeat until they succeed (cudaEventQuery) do not come here.
 */
#include "libcupti-usdt/trace/call_arguments.h"

#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/cupti/call_argument_offsets.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/trace/launches.h"
#include "libcupti-usdt/emit/interned_names.h"

#define NOT_READY 600 /* an answer, not a failure */

/* Where something lies in the parameters, plus 1; 0: there is none. */
struct call_layout {
	uint16_t cbid;
	uint8_t bytes, times, unit, address, kind, direction, value, width, device;
};

#define BYTES(member, at)	 .bytes = (at) + 1,
#define TIMES(member, at)	 .times = (at) + 1,
#define UNIT(n)			 .unit = n,
#define ADDRESS(member, at)	 .address = (at) + 1,
#define KIND(member, at)	 .kind = (at) + 1,
#define DIRECTION(kind)		 .direction = kind,
#define VALUE(member, at, bytes) .value = (at) + 1, .width = bytes,
#define DEVICE(member, at)	 .device = (at) + 1,
#define ROW(name, number, what)	 {.cbid = number, what},
static const struct call_layout driver_calls[] = {DRIVER_ARGUMENTS(ROW){0}};
static const struct call_layout runtime_calls[] = {RUNTIME_ARGUMENTS(ROW){0}};

static const struct call_layout *find(int domain, uint32_t cbid)
{
	const struct call_layout *call =
		domain == CUPTI_DOMAIN_DRIVER ? driver_calls : runtime_calls;

	while (call->cbid && call->cbid != cbid)
		call++;
	return call->cbid ? call : NULL;
}

/* `at`: as in struct call_layout. */
static uint64_t number(const void *params, unsigned int at, size_t width)
{
	uint64_t value = 0;

	memcpy(&value, (const uint8_t *)params + at - 1, width);
	return value;
}

static uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t value;

	return __builtin_mul_overflow(a, b, &value) ? UINT64_MAX : value;
}

static uint64_t bytes_of(const struct call_layout *call, const void *params)
{
	uint64_t bytes = number(params, call->bytes, 8);

	if (call->times)
		bytes = product(bytes, number(params, call->times, 8));
	return call->unit ? product(bytes, call->unit) : bytes;
}

/* CUpti_ActivityMemcpyKind of a cudaMemcpyKind; 0 of the one that leaves it open. */
static uint32_t direction_of(const struct call_layout *call, const void *params)
{
	static const uint8_t directions[] = {9, 1, 2, 8};
	uint64_t kind;

	if (!call->kind)
		return call->direction;
	kind = number(params, call->kind, 4);
	return kind < sizeof(directions) ? directions[kind] : 0;
}

static void read_call(struct cuda_api *to, const struct call_layout *call, const void *params)
{
	if (call->bytes) {
		to->arguments.call.bytes = bytes_of(call, params);
		to->flags |= CUDA_API_BYTES;
	}
	if (call->address) {
		to->arguments.call.address = number(params, call->address, 8);
		to->flags |= CUDA_API_ADDRESS;
	}
	if (call->value) {
		to->arguments.call.value = number(params, call->value, call->width);
		to->flags |= CUDA_API_VALUE;
	}
	if (call->device) {
		to->arguments.call.device = number(params, call->device, 4);
		to->flags |= CUDA_API_DEVICE;
	}
	to->arguments.call.copy_kind = direction_of(call, params);
	if (to->arguments.call.copy_kind)
		to->flags |= CUDA_API_COPY_KIND;
}

/* Grid and block lie behind a pointer in the calls with a config, and are not known then. */
static void read_launch(struct cuda_api *to, int domain, uint32_t cbid,
			const struct cupti_callback_data *data)
{
	struct cuda_launch launch = {.result = to->result};

	launches__read(&launch, domain, cbid, data->params);
	memcpy(to->arguments.launch.grid, launch.grid, sizeof(launch.grid));
	memcpy(to->arguments.launch.block, launch.block, sizeof(launch.block));
	to->arguments.launch.dynamic_shared = launch.dynamic_shared;
	if (data->symbol_name && *data->symbol_name)
		to->arguments.launch.kernel = interned_names__intern(data->symbol_name);
	to->flags |= CUDA_API_LAUNCH;
}

void call_arguments__read(struct cuda_api *to, int domain, uint32_t cbid,
			  const struct cupti_callback_data *data)
{
	enum launch_shape shape = launches__shape(domain, cbid);
	const struct call_layout *call;

	if (!to->result || to->result == NOT_READY || !data->params)
		return;
	if (shape != LAUNCH_NONE) {
		if (shape != LAUNCH_GRAPH)
			read_launch(to, domain, cbid, data);
		return;
	}
	call = find(domain, cbid);
	if (call)
		read_call(to, call, data->params);
}

const char *call_arguments__kernel(const struct cuda_api *call)
{
	return interned_names__text(call->flags & CUDA_API_LAUNCH ? call->arguments.launch.kernel
								  : 0);
}

uint64_t call_arguments__first(const struct cuda_api *call)
{
	if (call->flags & CUDA_API_LAUNCH)
		return call->arguments.launch.dynamic_shared;
	return call->flags & CUDA_API_BYTES ? call->arguments.call.bytes
					    : call->arguments.call.address;
}

uint32_t call_arguments__second(const struct cuda_api *call)
{
	const uint32_t *block = call->arguments.launch.block;

	if (call->flags & CUDA_API_LAUNCH)
		return block[0] * block[1] * block[2];
	if (call->flags & CUDA_API_COPY_KIND)
		return call->arguments.call.copy_kind;
	return call->flags & CUDA_API_VALUE ? call->arguments.call.value
					    : call->arguments.call.device;
}
