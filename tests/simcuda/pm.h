/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PM sampling API as far as it is simulated.
 */
#ifndef TESTS_SIMCUDA_PM_H
#define TESTS_SIMCUDA_PM_H

#include "cuda-trace/profile/device/pm_calls.h"
#include "tests/simcuda/profiler.h"

/* X(its name, its structure); evaluating and the end of a host are in profiler.h */
#define SIM_PM_FUNCTIONS(X)                                  \
	X(PmSamplingGetCounterAvailability, pm_availability) \
	X(PmSamplingEnable, pm_enable)                       \
	X(PmSamplingDisable, pm_plain)                       \
	X(PmSamplingSetConfig, pm_config)                    \
	X(PmSamplingStart, pm_plain)                         \
	X(PmSamplingStop, pm_plain)                          \
	X(PmSamplingDecodeData, pm_decode)                   \
	X(PmSamplingGetCounterDataSize, pm_data_size)        \
	X(PmSamplingCounterDataImageInitialize, pm_data)     \
	X(PmSamplingGetCounterDataInfo, pm_data_info)        \
	X(PmSamplingCounterDataGetSampleInfo, pm_sample_info)

/* False: this is no image of samples. */
bool pm_sampling__evaluate(const struct cupti_host_evaluate *parameters);

#pragma GCC visibility push(default)
#define SIM_PM_CALL(name, type) CUptiResult cupti##name(struct type *parameters);
SIM_PM_FUNCTIONS(SIM_PM_CALL)
#undef SIM_PM_CALL
#pragma GCC visibility pop

#endif
