/* SPDX-License-Identifier: BSD-2-Clause */
/* Untrusted text as a member of a JSON object. */
#ifndef CUDA_TRACE_BASE_JSON_TEXT_H
#define CUDA_TRACE_BASE_JSON_TEXT_H

struct json_object;

/* Valid JSON, whatever bytes the text contains. */
void stat_json__put_text(struct json_object *object, const char *key, const char *text);

/* json-c writes 17 digits, of which the last ones are often noise. */
struct json_object *stat_json__double(double number);

#endif
