// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/profile/metric_config.h"

#include <string.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/profile/range_calls.h"

#define IMAGE_MAX	       (1U << 20)
#define CALL(name, parameters) failed(failure, cupti_range__get()->name(parameters), "cupti" #name)

struct maker {
	struct metric_config *config;
	const char *chip;
	const uint8_t *availability;
	struct range_failure *failure;
};

static void close_host(struct metric_config *config)
{
	struct cupti_host_deinitialize end = P(cupti_host_deinitialize, host, .host = config->host);

	if (config->host)
		cupti_range__get()->ProfilerHostDeinitialize(&end);
	config->host = NULL;
}

static int open_host(const struct maker *maker)
{
	struct range_failure *failure = maker->failure;
	struct cupti_host_initialize begin =
		P(cupti_host_initialize, host, .type = CUPTI_TYPE_RANGE_PROFILER,
		  .chip = maker->chip, .availability = maker->availability);

	close_host(maker->config);
	if (CALL(ProfilerHostInitialize, &begin))
		return -1;
	maker->config->host = begin.host;
	return 0;
}

/* A fresh host object with these metrics and no others. */
static int add_metrics(const struct maker *maker, const char **names, uint32_t count)
{
	struct range_failure *failure = maker->failure;
	struct cupti_host_metrics add =
		P(cupti_host_metrics, count, .names = names, .count = count);

	if (open_host(maker))
		return -1;
	add.host = maker->config->host;
	return CALL(ProfilerHostConfigAddMetrics, &add);
}

static bool is_about_metrics(const struct maker *maker)
{
	return maker->config->host && (maker->failure->result == CUPTI_BAD_PARAMETER ||
				       maker->failure->result == CUPTI_UNKNOWN_METRIC);
}

/* Those that may lack, each tried alone: a GPU that lacks one is no reason to try all. */
static int add_available(const struct maker *maker)
{
	struct metric_config *config = maker->config;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < config->count; i++) {
		if (config->optional[i] && add_metrics(maker, &config->metrics[i], 1))
			continue;
		config->optional[kept] = config->optional[i];
		config->metrics[kept++] = config->metrics[i];
	}
	config->count = kept;
	return add_metrics(maker, config->metrics, kept);
}

/*
 * Some metric does not go: which? Each is added to those before it, and tried alone where that
 * fails. This takes some milliseconds for each, once.
 */
static int add_one_by_one(const struct maker *maker)
{
	struct metric_config *config = maker->config;
	struct range_failure *failure = maker->failure;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < config->count; i++) {
		const char *name = config->metrics[i];
		bool alone;

		config->metrics[kept] = name;
		if (!add_metrics(maker, config->metrics, kept + 1)) {
			kept++;
			continue;
		}
		alone = !add_metrics(maker, &name, 1);
		if (config->optional[i])
			continue;
		failure->result = alone ? CUPTI_NOT_SUPPORTED : CUPTI_UNKNOWN_METRIC;
		failure->function = "cuptiProfilerHostConfigAddMetrics";
		failure->metric = name;
		return -1;
	}
	config->count = kept;
	if (!kept)
		return failed(failure, CUPTI_UNKNOWN_METRIC, "cuptiProfilerHostConfigAddMetrics");
	return add_metrics(maker, config->metrics, kept);
}

/* Not seen with those before 13.0. And where only the time is requested launches do not wait for
 * their kernels, so that one that never ends would be waited for by who stops it. */
static bool may_gather(const struct metric_config *config)
{
	bool counts = false;

	for (uint32_t i = 0; i < config->count; i++)
		counts |= strncmp(config->metrics[i], "gpu__time", strlen("gpu__time")) != 0;
	return counts && config->passes == 1 && cupti_api__get()->version >= CUPTI_VERSION_13_0;
}

static int make_image(struct metric_config *config, struct range_failure *failure)
{
	struct cupti_host_image_size size =
		P(cupti_host_image_size, image_size, .host = config->host);
	struct cupti_host_image image = P(cupti_host_image, image, .host = config->host);
	struct cupti_host_passes passes = P(cupti_host_passes, passes);

	if (CALL(ProfilerHostGetConfigImageSize, &size))
		return -1;
	if (size.image_size > IMAGE_MAX)
		return failed(failure, CUPTI_OUT_OF_MEMORY, "cuptiProfilerHostGetConfigImageSize");
	config->size = size.image_size;
	config->image = map(config->size, failure);
	if (!config->image)
		return -1;
	image.image_size = passes.image_size = config->size;
	image.image = passes.image = config->image;
	if (CALL(ProfilerHostGetConfigImage, &image) || CALL(ProfilerHostGetNumOfPasses, &passes))
		return -1;
	config->passes = passes.passes;
	config->gathers = may_gather(config);
	return 0;
}

int metric_config__open(struct metric_config *config, const char *chip, const uint8_t *availability,
			struct range_failure *failure)
{
	const struct maker maker = {config, chip, availability, failure};

	if (add_metrics(&maker, config->metrics, config->count) &&
	    (!is_about_metrics(&maker) || add_available(&maker)) &&
	    (!is_about_metrics(&maker) || add_one_by_one(&maker)))
		return -1;
	/* A metric that may lack does. */
	*failure = (struct range_failure){0};
	return make_image(config, failure);
}

void metric_config__close(struct metric_config *config, bool is_quiet)
{
	close_host(config);
	if (config->image && is_quiet)
		munmap(config->image, config->size);
	memset(config, 0, sizeof(*config));
}
