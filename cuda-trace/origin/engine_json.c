// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/origin/engine_json.h"

#include <string.h>

#define MAX_DEPTH 16

struct json_object *engine_json__parse(const char *text, size_t size)
{
	struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
	struct json_object *parsed;

	if (!tokener)
		return NULL;
	parsed = json_tokener_parse_ex(tokener, text, size);
	json_tokener_free(tokener);
	return parsed;
}

static bool has_id(struct json_object *container, const char *key, const char *id)
{
	struct json_object *found;

	return json_object_is_type(container, json_type_object) &&
	       json_object_object_get_ex(container, key, &found) &&
	       json_object_is_type(found, json_type_string) &&
	       !strcmp(json_object_get_string(found), id);
}

struct json_object *engine_json__container(struct json_object *list, const char *key,
					   const char *id)
{
	if (!json_object_is_type(list, json_type_array))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *container = json_object_array_get_idx(list, i);

		if (has_id(container, key, id))
			return container;
	}
	return NULL;
}

void engine_json__set_name(struct json_object *container, const char *key, struct origin *origin)
{
	struct json_object *names, *first;
	const char *name;

	if (!json_object_object_get_ex(container, key, &names) ||
	    !json_object_is_type(names, json_type_array) || !json_object_array_length(names))
		return;
	first = json_object_array_get_idx(names, 0);
	if (!json_object_is_type(first, json_type_string))
		return;
	name = json_object_get_string(first);
	name += *name == '/';
	origin__set(origin, ORIGIN_container, name, strlen(name));
}
