/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PC sampling as far as it is simulated. The structures are the agent's own declarations, which are
 * compared with a toolkit's headers.
 */
#ifndef TESTS_SIMCUDA_CUPTI_PC_H
#define TESTS_SIMCUDA_CUPTI_PC_H

#include "libcupti-usdt/cupti/cupti_pc.h"
#include "tests/simcuda/cupti.h"

/* Exported also where the library is built with -fvisibility=hidden. */
#pragma GCC visibility push(default)
CUptiResult cuptiPCSamplingEnable(struct cupti_pc_context *of);
CUptiResult cuptiPCSamplingDisable(struct cupti_pc_context *of);
CUptiResult cuptiPCSamplingStart(struct cupti_pc_context *of);
CUptiResult cuptiPCSamplingStop(struct cupti_pc_context *of);
CUptiResult cuptiPCSamplingGetNumStallReasons(struct cupti_pc_reason_count *count);
CUptiResult cuptiPCSamplingGetStallReasons(struct cupti_pc_reasons *to);
CUptiResult cuptiPCSamplingSetConfigurationAttribute(struct cupti_pc_configuration *to);
CUptiResult cuptiPCSamplingGetConfigurationAttribute(struct cupti_pc_configuration *of);
CUptiResult cuptiPCSamplingGetData(struct cupti_pc_get *get);
CUptiResult cuptiGetSassToSourceCorrelation(struct cupti_source_line *to);
CUptiResult cuptiGetCubinCrc(struct cupti_cubin_checksum *of);
CUptiResult cuptiRegisterComputeCrcCallback(cupti_checksum_callback callback);
#pragma GCC visibility pop

#endif
