// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_parca.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/base/text.h"

#define PROFILE_NAME "cuda" /* __name__ */

struct push_parca {
	FILE *out;
	char *text;
	size_t size;
	bool any;
};

struct push_parca *push_parca__new(void)
{
	struct push_parca *parca = calloc(1, sizeof(*parca));

	if (!parca)
		return NULL;
	parca->out = open_memstream(&parca->text, &parca->size);
	if (!parca->out) {
		free(parca);
		return NULL;
	}
	fputs("{\"series\":[", parca->out);
	return parca;
}

static void put_base64(FILE *out, const uint8_t *data, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t three = data[i] << 16 | (left > 1 ? data[i + 1] << 8 : 0) |
				 (left > 2 ? data[i + 2] : 0);

		putc(digits[three >> 18], out);
		putc(digits[three >> 12 & 63], out);
		putc(left > 1 ? digits[three >> 6 & 63] : '=', out);
		putc(left > 2 ? digits[three & 63] : '=', out);
	}
}

static void put_label(FILE *out, const char *before, const char *name, const char *value)
{
	fprintf(out, "%s{\"name\":", before);
	text__write_json(out, name);
	fputs(",\"value\":", out);
	text__write_json(out, value);
	putc('}', out);
}

int push_parca__add(struct push_parca *parca, const char *service, const struct push_labels *labels,
		    const uint8_t *pprof, size_t size)
{
	FILE *out = parca->out;

	fprintf(out, "%s{\"labels\":{\"labels\":[", parca->any ? "," : "");
	parca->any = true;
	put_label(out, "", "__name__", PROFILE_NAME);
	put_label(out, ",", "service_name", service);
	for (size_t i = 0; i < labels->count; i++)
		put_label(out, ",", labels->list[i].name, labels->list[i].value);
	fputs("]},\"samples\":[{\"rawProfile\":\"", out);
	put_base64(out, pprof, size);
	fputs("\"}]}", out);
	return ferror(out) ? -ENOMEM : 0;
}

int push_parca__end(struct push_parca *parca, uint8_t **body, size_t *size)
{
	int err;

	/* Addresses are those of files: Parca need not compute them by the mappings. */
	fputs("],\"normalized\":false}", parca->out);
	err = ferror(parca->out) ? -ENOMEM : 0;
	if (fclose(parca->out))
		err = -ENOMEM;
	*body = (uint8_t *)parca->text;
	*size = parca->size;
	free(parca);
	return err;
}
