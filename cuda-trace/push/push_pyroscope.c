// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_pyroscope.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = *text;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    strchr("-._~", c))
			putc(c, out);
		else
			fprintf(out, "%%%02X", c);
	}
}

/* name{key=value,...} has no quotes: what would end a value is replaced. */
static void put_value(FILE *out, const char *text)
{
	char one[2] = "";

	for (; *text; text++) {
		*one = strchr("{},=", *text) ? '_' : *text;
		put_escaped(out, one);
	}
}

char *push_pyroscope__target(const char *path, const char *service,
			     const struct push_labels *labels, uint64_t from, uint64_t until)
{
	char *target = NULL;
	size_t size;
	FILE *out = open_memstream(&target, &size);

	if (!out)
		return NULL;
	fprintf(out, "%s%cname=", path, strchr(path, '?') ? '&' : '?');
	put_value(out, service);
	put_escaped(out, "{");
	for (size_t i = 0; i < labels->count; i++) {
		put_escaped(out, i ? "," : "");
		put_escaped(out, labels->list[i].name);
		put_escaped(out, "=");
		put_value(out, labels->list[i].value);
	}
	put_escaped(out, "}");
	fprintf(out, "&from=%" PRIu64 "&until=%" PRIu64 "&format=pprof&spyName=cuda-trace",
		from / NS_PER_S, (until + NS_PER_S - 1) / NS_PER_S);
	return fclose(out) ? NULL : target;
}
