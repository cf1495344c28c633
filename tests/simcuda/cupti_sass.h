/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SASS metrics as far as they are simulated. The structures are the agent's own declarations, which
 * are compared with a toolkit's headers.
 */
#ifndef TESTS_SIMCUDA_CUPTI_SASS_H
#define TESTS_SIMCUDA_CUPTI_SASS_H

#include "libcupti-usdt/cupti/cupti_sass.h"
#include "tests/simcuda/cupti.h"

struct simcuda_call;

/* A launch call is about to return: ran, if its kernel did. */
void sass__launched(const struct simcuda_call *call, bool ran);
void sass__context_ends(CUcontext context);

#pragma GCC visibility push(default)
CUptiResult cuptiSassMetricsGetProperties(struct cupti_sass_properties *parameters);
CUptiResult cuptiSassMetricsSetConfig(struct cupti_sass_config *parameters);
CUptiResult cuptiSassMetricsUnsetConfig(struct cupti_sass_unset *parameters);
CUptiResult cuptiSassMetricsEnable(struct cupti_sass_enable *parameters);
CUptiResult cuptiSassMetricsDisable(struct cupti_sass_disable *parameters);
CUptiResult cuptiSassMetricsGetDataProperties(struct cupti_sass_extent *parameters);
CUptiResult cuptiSassMetricsFlushData(struct cupti_sass_flush *parameters);
#pragma GCC visibility pop

#endif
