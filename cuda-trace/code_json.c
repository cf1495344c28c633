// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/code_json.h"

#include <inttypes.h>
#include <json-c/json.h>
#include "cuda-trace/stat_json.h"

void code_json__put_origin(struct json_object *object, const struct code_function *function)
{
	static const char *const keys[CODE_LINES_FROM_COUNT] = {
		[CODE_LINES_MODULE] = "module",
		[CODE_LINES_FILE] = "file",
		[CODE_LINES_BY_NAME] = "name",
	};
	const char *from = keys[function->lines_from];
	char cubin[24];

	snprintf(cubin, sizeof(cubin), "%" PRIx64, function->cubin);
	stat_json__put_text(object, "cubin", cubin);
	json_object_object_add(object, "lines_from", from ? json_object_new_string(from) : NULL);
}

void code_json__put_place(struct json_object *object, const struct code_place *place)
{
	json_object_object_add(object, "offset", json_object_new_uint64(place->offset));
	if (place->file) {
		stat_json__put_text(object, "file", place->file);
		json_object_object_add(object, "line", json_object_new_uint64(place->line));
	} else {
		json_object_object_add(object, "file", NULL);
		json_object_object_add(object, "line", NULL);
	}
}
