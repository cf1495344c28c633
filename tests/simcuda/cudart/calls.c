// SPDX-License-Identifier: BSD-2-Clause
// The exported entry points, made from runtime_calls.h. Driver calls inside them are reported to
// CUPTI as well, under the runtime call's correlation id.
#include "tests/simcuda/cudart/runtime.h"

#define PARAMETERS_OF(number, function, version, ...) \
	struct function##_params {                    \
		SIM_FIELDS(__VA_ARGS__)               \
	};
RUNTIME_CALLS(PARAMETERS_OF)

static const char *symbol_of(uint32_t cbid, const void *parameters)
{
	if (cbid == 211)
		return simcuda_bridge.kernel_name(
			((const struct cudaLaunchKernel_params *)parameters)->func);
	if (cbid == 430)
		return simcuda_bridge.kernel_name(
			((const struct cudaLaunchKernelExC_params *)parameters)->func);
	return NULL;
}

static cudaError_t enter(const struct simcuda_hooks *hooks, struct simcuda_call *call)
{
	call->symbol = symbol_of(call->cbid, call->params);
	simcuda_bridge.enter(hooks, call);
	return runtime__start(call->cbid);
}

#define WRAPPER(number, function, version, ...)                                            \
	cudaError_t function(SIM_PARAMETERS(__VA_ARGS__))                                  \
	{                                                                                  \
		const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);    \
		cudaError_t error;                                                         \
                                                                                           \
		if (__builtin_expect(!hooks, 1)) {                                         \
			error = runtime__start(number);                                    \
			if (!error)                                                        \
				error = sim_##function(SIM_ARGUMENTS(__VA_ARGS__));        \
			return runtime__result(number, error);                             \
		}                                                                          \
		struct function##_params parameters = {SIM_ARGUMENTS(__VA_ARGS__)};        \
		struct simcuda_call call = {.domain = SIMCUDA_RUNTIME,                     \
					    .cbid = number,                                \
					    .name = #function,                             \
					    .params = &parameters};                        \
		error = enter(hooks, &call);                                               \
		if (!error)                                                                \
			error = sim_##function(SIM_ARGUMENTS(__VA_ARGS__));                \
		return simcuda_bridge.leave(hooks, &call, runtime__result(number, error)); \
	}
RUNTIME_CALLS(WRAPPER)

#define WRAPPER_BARE(number, function, version)                                            \
	cudaError_t function(void)                                                         \
	{                                                                                  \
		const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);    \
		cudaError_t error;                                                         \
                                                                                           \
		if (!hooks) {                                                              \
			error = runtime__start(number);                                    \
			return runtime__result(number, error ? error : sim_##function());  \
		}                                                                          \
		struct simcuda_call call = {                                               \
			.domain = SIMCUDA_RUNTIME, .cbid = number, .name = #function};     \
		error = enter(hooks, &call);                                               \
		if (!error)                                                                \
			error = sim_##function();                                          \
		return simcuda_bridge.leave(hooks, &call, runtime__result(number, error)); \
	}
RUNTIME_CALLS_BARE(WRAPPER_BARE)
