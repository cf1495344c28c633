/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the helper process of a GPU reports to the tool, over a socket: frames of a kind, each
 * followed by its structure. Both ends are of one build.
 */
#ifndef CUDA_TRACE_PROFILE_DEVICE_PM_WIRE_H
#define CUDA_TRACE_PROFILE_DEVICE_PM_WIRE_H

#include <stdint.h>
#include "cuda-trace/profile/device/pm_columns.h"

enum pm_frame_kind {
	PM_FRAME_HELLO,	  /* the driver is up: what it has */
	PM_FRAME_STARTED, /* samples will come */
	PM_FRAME_SAMPLE,
	PM_FRAME_LOST,
	PM_FRAME_TROUBLE, /* there will be no (more) samples of this GPU, but for a further try */
	PM_FRAME_END,	  /* stopped as requested */
};

struct pm_frame {
	uint32_t kind;
	uint32_t size; /* of what follows */
};

struct pm_hello {
	uint32_t devices;
	uint8_t uuid[16];
	char pci[16];
	char name[96];
};

struct pm_started {
	char chip[32];
	char cupti[256];
	int32_t chosen[PM_COLUMNS]; /* which of a column's metrics; -1 = this chip has none */
	uint32_t clocks;	    /* the interval is so many clocks, of changing length; 0 = ns */
	uint32_t padding;
};

struct pm_sample {
	uint64_t start, end; /* CLOCK_MONOTONIC, ns */
	double values[PM_COLUMNS];
};

struct pm_lost {
	uint64_t samples;
	uint64_t ns;	    /* in which there are none */
	uint32_t overflows; /* of the hardware's buffer */
	uint32_t padding;
};

struct pm_trouble {
	int32_t result; /* CUptiResult, or 0 */
	uint32_t again; /* seconds until the next try, 0 = none */
	char where[96]; /* a function, or the whole reason when result is 0 */
	char text[720];
};

#endif
