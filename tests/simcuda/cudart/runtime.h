/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside the simulated libcudart.so.13: a thin layer over the simulated driver. */
#ifndef TESTS_SIMCUDA_CUDART_RUNTIME_H
#define TESTS_SIMCUDA_CUDART_RUNTIME_H

#include "tests/simcuda/bridge.h"
#include "tests/simcuda/cudart.h"

#define SIM_RUNTIME(cbid, name, version, ...) cudaError_t sim_##name(SIM_PARAMETERS(__VA_ARGS__));
#define SIM_RUNTIME_BARE(cbid, name, version) cudaError_t sim_##name(void);
RUNTIME_CALLS(SIM_RUNTIME)
RUNTIME_CALLS_BARE(SIM_RUNTIME_BARE)

/* Initialises the driver and makes the device's primary context current, if there is none. */
cudaError_t runtime__start(uint32_t cbid);
/* Keeps the error for cudaGetLastError. */
cudaError_t runtime__result(uint32_t cbid, cudaError_t error);

#endif
