/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics that are collected together, as CUPTI's range profiler wants them: a host object that
 * knows them and an image that says how. One caller at a time (counters.c sees to that).
 */
#ifndef LIBCUPTI_USDT_PROFILE_METRIC_CONFIG_H
#define LIBCUPTI_USDT_PROFILE_METRIC_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range_failure;

struct metric_config {
	const char **metrics; /* the caller's; those that may lack and do are taken out */
	bool *optional;	      /* likewise: may lack */
	uint32_t count, passes;
	bool gathers; /* many kernels between a start and a stop */
	void *host;
	uint8_t *image;
	size_t size; /* bytes of image */
};

/* Of a chip; availability: image of its counters, or NULL. metrics, optional and count are given.
 * 0, or -1 and the failure. */
int metric_config__open(struct metric_config *config, const char *chip, const uint8_t *availability,
			struct range_failure *failure);
/* The image stays mapped if CUPTI may still look at it. */
void metric_config__close(struct metric_config *config, bool is_quiet);

#endif
