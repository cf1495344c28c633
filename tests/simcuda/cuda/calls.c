// SPDX-License-Identifier: BSD-2-Clause
// The exported entry points, made from driver_calls.h: each checks the driver's state, calls the
// hooks of entry and exit when somebody looks, and calls its sim_ function in between.
#include "tests/simcuda/cuda/wrappers.h"
#include "tests/simcuda/cuda/driver.h"

#define PARAMETERS_OF(cbid, name, ...)  \
	struct name##_params {          \
		SIM_FIELDS(__VA_ARGS__) \
	};
DRIVER_CALLS(PARAMETERS_OF)

static const struct simcuda_hooks *watching(void)
{
	return atomic_load_explicit(&simcuda_bridge.hooks, memory_order_acquire);
}

#define WRAPPER(number, function, ...)                                                       \
	CUresult function(SIM_PARAMETERS(__VA_ARGS__))                                       \
	{                                                                                    \
		const struct simcuda_hooks *hooks = watching();                              \
		CUresult result = init__error(number);                                       \
                                                                                             \
		if (__builtin_expect(!hooks, 1))                                             \
			return result ? result : sim_##function(SIM_ARGUMENTS(__VA_ARGS__)); \
		struct function##_params parameters = {SIM_ARGUMENTS(__VA_ARGS__)};          \
		struct simcuda_call call = {.domain = SIMCUDA_DRIVER,                        \
					    .cbid = number,                                  \
					    .name = #function,                               \
					    .params = &parameters};                          \
		call__enter(hooks, &call);                                                   \
		if (!result)                                                                 \
			result = sim_##function(SIM_ARGUMENTS(__VA_ARGS__));                 \
		return call__leave(hooks, &call, result);                                    \
	}
DRIVER_CALLS(WRAPPER)

#define WRAPPER_BARE(number, function)                                                \
	CUresult function(void)                                                       \
	{                                                                             \
		const struct simcuda_hooks *hooks = watching();                       \
		CUresult result = init__error(number);                                \
                                                                                      \
		if (!hooks)                                                           \
			return result ? result : sim_##function();                    \
		struct simcuda_call call = {                                          \
			.domain = SIMCUDA_DRIVER, .cbid = number, .name = #function}; \
		call__enter(hooks, &call);                                            \
		if (!result)                                                          \
			result = sim_##function();                                    \
		return call__leave(hooks, &call, result);                             \
	}
DRIVER_CALLS_BARE(WRAPPER_BARE)

/* CUPTI names the kernel in the callbacks of launches. */
static const char *call__symbol(const struct simcuda_call *call)
{
	switch (call->cbid) {
	case 307:
	case 442:
		return function__shown(((const struct cuLaunchKernel_params *)call->params)->f);
	case 477:
	case 478:
		return function__shown(
			((const struct cuLaunchCooperativeKernel_params *)call->params)->f);
	case 652:
	case 653:
		return function__shown(((const struct cuLaunchKernelEx_params *)call->params)->f);
	}
	return NULL;
}

void call__enter(const struct simcuda_hooks *hooks, struct simcuda_call *call)
{
	struct thread *thread = thread__current();
	uint32_t device;

	call->outer = thread->call;
	call->correlation = call->outer ? call->outer->correlation
					: atomic_fetch_add(&simcuda_bridge.correlation, 1) + 1;
	if (call->domain == SIMCUDA_DRIVER)
		call->symbol = call__symbol(call);
	call->context = context__peek();
	context__ids(call->context, &call->context_id, &device);
	thread->call = call;
	hooks->enter(call);
}

int call__leave(const struct simcuda_hooks *hooks, struct simcuda_call *call, int result)
{
	uint32_t device;

	call->result = result;
	if (!call->context) {
		call->context = context__peek();
		context__ids(call->context, &call->context_id, &device);
	}
	hooks->leave(call);
	thread__current()->call = call->outer;
	return call->result;
}
