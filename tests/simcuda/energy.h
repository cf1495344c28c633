/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the simulated NVML knows what the simulated GPUs did: libcuda appends one of these for each
 * kernel to the file that SIMCUDA_ENERGY_LOG names.
 */
#ifndef SIMCUDA_ENERGY_H
#define SIMCUDA_ENERGY_H

#include <stdint.h>

struct simcuda_energy {
	uint32_t device;
	uint32_t watts;	     /* beyond those of an idle GPU */
	uint64_t start, end; /* ns of CLOCK_MONOTONIC */
};

#endif
