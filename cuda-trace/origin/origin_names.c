// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/origin/origin.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *key;
	size_t offset, size;
} names[ORIGIN_NAME_COUNT] = {
#define ORIGIN_ROW(field, size, key) [ORIGIN_##field] = {key, offsetof(struct origin, field), size},
	ORIGIN_NAMES(ORIGIN_ROW)
#undef ORIGIN_ROW
};

const char *origin__key(int number)
{
	return names[number].key;
}

const char *origin__name(const struct origin *origin, int number)
{
	return (const char *)origin + names[number].offset;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("._-:@\\", c));
}

bool origin__set(struct origin *origin, int number, const char *text, size_t length)
{
	char *to = (char *)origin + names[number].offset;

	if (!length || length >= names[number].size)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!is_plain(text[i]))
			return false;
	memset(to, 0, names[number].size);
	memcpy(to, text, length);
	return true;
}

const char *origin__text(const struct origin *origin, char text[ORIGIN_TEXT_SIZE])
{
	text[0] = 0;
	if (*origin->k8s_pod)
		snprintf(text, ORIGIN_TEXT_SIZE, "%s/%s%s%s", origin->k8s_namespace,
			 origin->k8s_pod, *origin->k8s_container ? "/" : "", origin->k8s_container);
	else if (*origin->container)
		snprintf(text, ORIGIN_TEXT_SIZE, "%s", origin->container);
	else if (*origin->slurm_job)
		snprintf(text, ORIGIN_TEXT_SIZE, "slurm:%s%s%s", origin->slurm_job,
			 *origin->slurm_step ? "." : "", origin->slurm_step);
	else if (*origin->unit)
		snprintf(text, ORIGIN_TEXT_SIZE, "%s", origin->unit);
	return text;
}
