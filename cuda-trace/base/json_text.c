// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/json_text.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/base/number_text.h"
#include "cuda-trace/base/text.h"

/* json-c passes invalid UTF-8 through; text__write_json() makes text valid. */
void stat_json__put_text(struct json_object *object, const char *key, const char *text)
{
	struct json_object *value = NULL;
	char *json = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&json, &size);

	if (memory) {
		text__write_json(memory, text);
		fclose(memory);
		value = json_tokener_parse(json);
		free(json);
	}
	json_object_object_add(object, key, value);
}

struct json_object *stat_json__double(double number)
{
	char text[NUMBER_TEXT_SIZE];

	return json_object_new_double_s(number, number__shortest(text, number));
}
