// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/code/code_json.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/profile/code/code_lines.h"
#include "cuda-trace/base/json_text.h"

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

/* The functions that it is inlined in, from the innermost, and where each was called. */
static struct json_object *inlined(const struct code_place *place)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i + 1 < place->depth; i++) {
		struct json_object *object = json_object_new_object();
		const char *mangled = place->chain[i].function;
		char *pretty = mangled ? demangle(mangled) : NULL;

		stat_json__put_text(object, "function", pretty ? pretty : mangled ? mangled : "");
		stat_json__put_text(object, "file", place->chain[i + 1].file);
		json_object_object_add(object, "line",
				       json_object_new_uint64(place->chain[i + 1].line));
		json_object_array_add(array, object);
		free(pretty);
	}
	return array;
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
	json_object_object_add(object, "inlined", inlined(place));
}
