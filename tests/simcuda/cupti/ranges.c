// SPDX-License-Identifier: BSD-2-Clause
#include "tests/simcuda/cupti/ranges.h"

#include <stdio.h>
#include <string.h>
#include "tests/simcuda/profiler.h"

void range__add(struct range *to, const char *kernel, uint32_t times)
{
	uint32_t at = 0;

	while (at < to->kinds && strcmp(to->kernels[at].name, kernel))
		at++;
	if (at == RANGE_KINDS)
		return;
	if (at == to->kinds) {
		to->kinds++;
		to->kernels[at].times = 0;
		snprintf(to->kernels[at].name, sizeof(to->kernels[at].name), "%s", kernel);
	}
	to->kernels[at].times += times;
}

void range__join(struct range *to, const struct range *from)
{
	for (uint32_t i = 0; i < from->kinds; i++)
		range__add(to, from->kernels[i].name, from->kernels[i].times);
	to->end = from->end > to->end ? from->end : to->end;
}

double range__value(const struct range *range, const char *metric)
{
	size_t length = strlen(metric);
	double sum = 0;

	if (range->kinds && (length < 4 || strcmp(metric + length - 4, ".sum")))
		return sim_metric__value(range->kernels[0].name, metric);
	for (uint32_t i = 0; i < range->kinds; i++)
		sum += range->kernels[i].times * sim_metric__value(range->kernels[i].name, metric);
	return sum;
}
