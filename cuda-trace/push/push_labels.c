// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_name(const char *text)
{
	if (!*text || (*text >= '0' && *text <= '9'))
		return false;
	for (; *text; text++)
		if (!(*text == '_' || (*text >= 'a' && *text <= 'z') ||
		      (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9')))
			return false;
	return true;
}

bool push_labels__parse(struct push_common_labels *common, const char *text)
{
	char *copy = text ? strdup(text) : NULL, *rest = NULL;

	if (gethostname(common->host, sizeof(common->host) - 1))
		*common->host = 0;
	if (!text)
		return true;
	for (char *pair = copy ? strtok_r(copy, ",", &rest) : NULL; pair;
	     pair = strtok_r(NULL, ",", &rest)) {
		char *equals = strchr(pair, '=');

		if (!equals || common->count == PUSH_LABELS_MAX / 2)
			return false;
		*equals = 0;
		if (!is_name(pair) || !equals[1])
			return false;
		common->list[common->count++] = (struct push_label){pair, equals + 1};
	}
	return copy != NULL;
}

/* The first one of a name stays: those of the user come first. */
static void add(struct push_labels *labels, const char *name, const char *value)
{
	if (!*value || labels->count == PUSH_LABELS_MAX)
		return;
	for (size_t i = 0; i < labels->count; i++)
		if (!strcmp(labels->list[i].name, name))
			return;
	labels->list[labels->count++] = (struct push_label){name, value};
}

const char *push_labels__service(const struct push_common_labels *common,
				 const struct push_source *source)
{
	if (common->service)
		return common->service;
	if (*source->origin.k8s_container)
		return source->origin.k8s_container;
	return *source->origin.container ? source->origin.container : source->comm;
}

void push_labels__of(struct push_labels *labels, const struct push_common_labels *common,
		     const struct push_source *source)
{
	labels->count = 0;
	for (size_t i = 0; i < common->count; i++)
		add(labels, common->list[i].name, common->list[i].value);
	add(labels, "comm", source->comm);
	add(labels, "container_id", source->container);
	for (int i = 0; i < ORIGIN_NAME_COUNT; i++)
		add(labels, origin__key(i), origin__name(&source->origin, i));
	add(labels, "host_name", common->host);
}
