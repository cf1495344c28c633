// SPDX-License-Identifier: BSD-2-Clause
/*
 * PM sampling collects in one pass only. All columns are tried together first; where that takes
 * more, one after the other is added as long as one pass is enough.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/profile/device/pm_process.h"

static void *new_host(const struct pm_process *helper, int *result)
{
	struct cupti_host_initialize host = {.size = CUPTI_SIZE_OF(cupti_host_initialize, host),
					     .type = CUPTI_TYPE_PM_SAMPLING,
					     .chip = helper->started.chip,
					     .availability = helper->availability};

	*result = helper->library.host(&host);
	return *result ? NULL : host.host;
}

static void end_host(const struct pm_process *helper, void *host)
{
	struct cupti_host_deinitialize end = {.size = CUPTI_SIZE_OF(cupti_host_deinitialize, host),
					      .host = host};

	helper->calls.host_end(&end);
}

bool pm_config__goes(const struct pm_process *helper, const char **names, size_t count)
{
	int result;
	size_t size, passes = 0;
	void *host = new_host(helper, &result);

	if (!host)
		return false;
	free(metric_library_calls__image(&helper->library, host, names, count, &size, &passes));
	end_host(helper, host);
	return passes == 1;
}

static bool has(const struct pm_process *helper, void *host, const char *metric)
{
	struct cupti_host_properties ask = {
		.size = CUPTI_SIZE_OF(cupti_host_properties, type), .host = host, .metric = metric};

	return !helper->library.properties(&ask);
}

static void take(struct pm_process *helper, unsigned int column, int which)
{
	helper->names[helper->count] = helper->texts[helper->count];
	helper->columns[helper->count++] = column;
	helper->started.chosen[column] = which;
}

/* The first metric of each column that the chip has. */
static void choose_first(struct pm_process *helper, void *host)
{
	const struct pm_choice *choice = &helper->request->choice;

	for (unsigned int i = 0; i < choice->count; i++) {
		char *text = helper->texts[helper->count];

		for (int n = 0;
		     pm_column__metric(&choice->columns[i], n, text, sizeof(helper->texts[0])); n++)
			if (has(helper, host, text)) {
				take(helper, i, n);
				break;
			}
	}
}

static void choose_one_by_one(struct pm_process *helper)
{
	const struct pm_choice *choice = &helper->request->choice;

	for (unsigned int i = 0; i < choice->count; i++) {
		char *text = helper->texts[helper->count];

		helper->started.chosen[i] = -1;
		for (int n = 0;
		     pm_column__metric(&choice->columns[i], n, text, sizeof(helper->texts[0]));
		     n++) {
			helper->names[helper->count] = text;
			if (!pm_config__goes(helper, helper->names, helper->count + 1))
				continue;
			take(helper, i, n);
			break;
		}
	}
}

const char *pm_config__make(struct pm_process *helper, int *result)
{
	size_t passes = 0;
	void *host = new_host(helper, result);
	bool has_any;

	if (!host)
		return "cuptiProfilerHostInitialize";
	helper->count = 0;
	memset(helper->started.chosen, -1, sizeof(helper->started.chosen));
	if (pm_unknown__find(helper, host)) {
		end_host(helper, host);
		*result = CUPTI_UNKNOWN_METRIC;
		return "cuptiProfilerHostGetMetricProperties";
	}
	choose_first(helper, host);
	end_host(helper, host);
	has_any = helper->count;
	if (!helper->count || !pm_config__goes(helper, helper->names, helper->count)) {
		helper->count = 0;
		choose_one_by_one(helper);
	}
	/* The chip has them, and CUPTI takes none: the GPU can be sampled, but not for these. */
	*result = has_any ? 0 : CUPTI_NOT_SUPPORTED;
	if (!helper->count)
		return has_any ? "none of these metrics can be sampled over time; profile "
				 "--counters has them"
			       : "cuptiProfilerHostConfigAddMetrics";
	helper->host = new_host(helper, result);
	if (!helper->host)
		return "cuptiProfilerHostInitialize";
	free(helper->config);
	helper->config = metric_library_calls__image(&helper->library, helper->host, helper->names,
						     helper->count, &helper->config_size, &passes);
	*result = CUPTI_NOT_SUPPORTED;
	return helper->config ? NULL : "cuptiProfilerHostGetConfigImage";
}
