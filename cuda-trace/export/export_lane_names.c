// SPDX-License-Identifier: BSD-2-Clause
/* Names by category and number, so that each is in the page once. */
#include "cuda-trace/export/export_lane_names.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"

static char *name_text(const struct lane_names *names, char category, int64_t number)
{
	static const char *const copies[] = {
		"?",	"HtoD", "DtoH", "HtoA", "AtoH",		"AtoA",		"AtoD",
		"DtoA", "DtoD", "HtoH", "PtoP", "unified HtoD", "unified DtoH", "unified DtoD"};
	static const char *const waits[] = {"?", "event", "stream for event", "stream", "context"};
	char *text = NULL;
	int n = 0;

	if (category == 'c')
		n = asprintf(&text, "Memcpy %s", copies[number > 0 && number < 14 ? number : 0]);
	else if (category == 's')
		n = asprintf(&text, "Memset");
	else if (category == 'g')
		n = asprintf(&text, "CUDA graph %lld", (long long)number);
	else if (category == 'w')
		n = asprintf(&text, "wait: %s", waits[number > 0 && number < 5 ? number : 0]);
	else if (category == 'a')
		n = asprintf(&text, "running");
	else if (category == 'b' || category == 'y')
		n = asprintf(&text, "%s: %s", category == 'b' ? "blocked" : "runnable, CPU has",
			     number	       ? export_names__string(names->strings, number)
			     : category == 'b' ? "the GIL"
					       : "another task");
	else
		text = strdup(export_names__string(names->strings, number));
	return n < 0 ? NULL : text;
}

int64_t lane_names__find(struct lane_names *names, char category, int64_t number)
{
	struct lanes *lanes = names->lanes;
	int64_t key = (uint64_t)number << 8 | (uint8_t)category;
	ssize_t known = key_index__find(&names->index, key);
	struct lane_name name = {.category = category};

	if (known >= 0)
		return known;
	name.text = name_text(names, category, number);
	if (!name.text ||
	    !array_grow__for_one(lanes->names, lanes->name_capacity, lanes->name_count) ||
	    !key_index__add(&names->index, key, lanes->name_count)) {
		free(name.text);
		return -ENOMEM;
	}
	lanes->names[lanes->name_count] = name;
	return lanes->name_count++;
}

void lane_names__free(struct lane_names *names)
{
	key_index__free(&names->index);
}
