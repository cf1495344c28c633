/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The energy counters of all GPUs, read by NVML every 10 ms in a thread of their own, as the driver
 * may take its time, and made into a step every 100 ms or so. One thread uses the functions.
 */
#ifndef CUDA_TRACE_ENERGY_ENERGY_METER_H
#define CUDA_TRACE_ENERGY_ENERGY_METER_H

#include <stdbool.h>
#include <stdint.h>

#define ENERGY_METERS 64

struct energy_meter;

struct energy_step {
	uint32_t gpu;	   /* below energy_meter__count() */
	uint64_t from, to; /* ns of CLOCK_MONOTONIC */
	double joules;	   /* between the two */
};

/* "GPU-" and 32 digits with hyphens between them; false: it is something else. */
bool energy_meter__parse_uuid(const char *text, uint8_t uuid[16]);
/* NULL: *why is a sentence without a period. */
struct energy_meter *energy_meter__open(const char **why);
void energy_meter__close(struct energy_meter *meter);
uint32_t energy_meter__count(const struct energy_meter *meter);
const uint8_t *energy_meter__uuid(const struct energy_meter *meter, uint32_t gpu);
/* The next step that was read; false: none yet. */
bool energy_meter__next(struct energy_meter *meter, struct energy_step *step);
/* Reads once more, when the counters have caught up with what ran before, and then no more. */
void energy_meter__stop(struct energy_meter *meter);
/* Readings that failed or went backwards, and steps for which there was no space: their energy is
 * in no step. */
uint64_t energy_meter__failed(struct energy_meter *meter);

#endif
