/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of containers in JSON, as Docker's API and podman's storage have them.
 */
#ifndef CUDA_TRACE_ORIGIN_ENGINE_JSON_H
#define CUDA_TRACE_ORIGIN_ENGINE_JSON_H

#include <json-c/json.h>
#include "cuda-trace/origin/origin.h"

/* NULL: not JSON, nested too deeply, or out of memory. The caller puts it. */
struct json_object *engine_json__parse(const char *text, size_t size);
/* The container of a list that has this id under `key`; NULL: none. Borrowed. */
struct json_object *engine_json__container(struct json_object *list, const char *key,
					   const char *id);
/* The first of the names under `key`, without Docker's slash. */
void engine_json__set_name(struct json_object *container, const char *key, struct origin *origin);

#endif
