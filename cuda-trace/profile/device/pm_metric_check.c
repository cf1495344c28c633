// SPDX-License-Identifier: BSD-2-Clause
/*
 * A metric that was requested by its name and that the chip does not have. A column of ours may be
 * missing on a chip, and is left out; a name that somebody wrote is a mistake.
 *
 * Failure modes: 1. CUPTI's words for it are error 27, as for a GPU that it cannot sample: the
 * message for a mistyped name was to buy another GPU. 2. a library that knows more than it lists: a
 * name of which it returns properties, or which it accepts, is never called unknown because a row
 * is missing. 3. the names belong to the library, and may be gone with its next call: they are
 * copied.
 */
#include <stdio.h>
#include <string.h>
#include "cuda-trace/profile/device/pm_process.h"

/* As CUPTI calls its kinds of metrics: counter, ratio, throughput. */
#define TYPES 3

/* "sm__cycles_active" of "sm__cycles_active.avg": its length, where `base` is that; else 0. */
static size_t begins_with(const char *metric, const char *base)
{
	size_t length = strlen(base);

	return !strncmp(metric, base, length) && metric[length] == '.' ? length : 0;
}

static void say(struct pm_process *helper, const char *metric, const struct nearest_words *nearest,
		bool rollup)
{
	char list[NEAREST_WORDS * (NEAREST_CHARS + 2)];

	suggest__list(nearest, list, sizeof(list));
	snprintf(helper->unknown, sizeof(helper->unknown), "%s has no metric %.150s%s%s%.400s%s",
		 helper->started.chip, metric,
		 rollup ? ": it has other rollups" : "; profile --list-metrics has them",
		 *list ? " (near it: " : "", list, *list ? ")" : "");
}

/* Of a metric that there is: false = it may be summed up like that. */
static bool lacks_rollup(struct pm_process *helper, void *host, int type, const char *metric,
			 size_t length)
{
	struct nearest_words nearest = {};
	struct cupti_host_sub_metrics sub = {
		.size = CUPTI_SIZE_OF(cupti_host_sub_metrics, names), .host = host, .type = type};
	char base[200];

	snprintf(base, sizeof(base), "%.*s", (int)length, metric);
	sub.metric = base;
	if (helper->library.sub(&sub) || !sub.count)
		return false;
	for (size_t i = 0; i < sub.count; i++) {
		if (!strcmp(sub.names[i], metric + length))
			return false;
		suggest__consider(&nearest, sub.names[i], metric + length, strlen(metric + length));
	}
	if (pm_config__goes(helper, &metric, 1))
		return false;
	say(helper, metric, &nearest, true);
	return true;
}

static bool is_unknown(struct pm_process *helper, void *host, const char *metric)
{
	struct nearest_words nearest = {};
	struct cupti_host_properties ask = {
		.size = CUPTI_SIZE_OF(cupti_host_properties, type), .host = host, .metric = metric};

	for (int type = 0; type < TYPES; type++) {
		struct cupti_host_base_metrics base = {
			.size = CUPTI_SIZE_OF(cupti_host_base_metrics, count),
			.host = host,
			.type = type};

		if (helper->library.base(&base))
			continue;
		for (size_t i = 0; i < base.count; i++) {
			size_t length = begins_with(metric, base.names[i]);

			if (length)
				return lacks_rollup(helper, host, type, metric, length);
			suggest__consider(&nearest, base.names[i], metric, strcspn(metric, "."));
		}
	}
	if (!helper->library.properties(&ask))
		return false;
	say(helper, metric, &nearest, false);
	return true;
}

bool pm_unknown__find(struct pm_process *helper, void *host)
{
	const struct pm_choice *choice = &helper->request->choice;

	for (size_t i = 0; i < choice->count; i++)
		if (pm_column__is_metric(&choice->columns[i]) &&
		    is_unknown(helper, host, choice->columns[i].metrics))
			return true;
	return false;
}
