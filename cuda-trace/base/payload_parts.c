// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/payload_parts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/names.h"
#include "cuda-trace/base/payload_json.h"

#define THREADS 32

struct payload {
	uint32_t schema;
	uint16_t bytes, have;
	uint8_t data[CUDA_NVTX_BYTES];
};

struct payload_parts {
	struct thread {
		uint32_t tid, id, parts;
		struct payload payloads[CUDA_NVTX_OF_EVENT];
	} threads[THREADS];
};

void payload_parts__free(struct payload_parts *parts)
{
	free(parts);
}

static bool is_sound(const struct cuda_nvtx_payload *part)
{
	return part->number < CUDA_NVTX_OF_EVENT && part->size <= CUDA_NVTX_PART &&
	       part->bytes <= CUDA_NVTX_BYTES && part->offset <= part->bytes &&
	       part->size <= part->bytes - part->offset;
}

void payload_parts__add(struct payload_parts **parts, const struct cuda_nvtx_payload *part)
{
	struct thread *thread;
	struct payload *payload;

	if (!*parts)
		*parts = calloc(1, sizeof(**parts));
	if (!*parts || !is_sound(part))
		return;
	thread = &(*parts)->threads[part->tid % THREADS];
	if (thread->tid != part->tid || thread->id != part->id)
		*thread = (struct thread){.tid = part->tid, .id = part->id};
	payload = &thread->payloads[part->number];
	payload->schema = part->schema;
	payload->bytes = part->bytes;
	payload->have += part->size;
	memcpy(payload->data + part->offset, part->data, part->size);
	thread->parts++;
}

static const struct thread *find(const struct payload_parts *parts, const struct cuda_nvtx *event)
{
	const struct thread *thread = parts ? &parts->threads[event->tid % THREADS] : NULL;

	return thread && thread->tid == event->tid && thread->id == (uint32_t)event->payload &&
			       thread->parts == event->payload_parts
		       ? thread
		       : NULL;
}

static void write_all(FILE *out, const struct names *names, const struct thread *thread)
{
	int count = 0;

	while (count < CUDA_NVTX_OF_EVENT && thread->payloads[count].schema)
		count++;
	fputs(count > 1 ? "[" : "", out);
	for (int i = 0; i < count; i++) {
		const struct payload *payload = &thread->payloads[i];
		const char *schema = names__get(names, payload->schema);

		fputs(i ? ", " : "", out);
		if (schema && payload->have == payload->bytes)
			payload_json__write(out, schema, payload->data, payload->bytes);
		else
			fputs("null", out);
	}
	fputs(count > 1 ? "]" : count ? "" : "null", out);
}

char *payload_parts__json(const struct payload_parts *parts, const struct names *names,
			  const struct cuda_nvtx *event)
{
	const struct thread *thread;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (event->payload_kind != CUDA_NVTX_SCHEMA)
		return NULL;
	thread = find(parts, event);
	out = thread ? open_memstream(&text, &size) : NULL;
	if (!out)
		return NULL;
	write_all(out, names, thread);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

bool payload_parts__is_whole(const struct cuda_nvtx *event, int64_t *value)
{
	*value = event->payload_kind == CUDA_NVTX_INT32 ? (int32_t)event->payload
							: (int64_t)event->payload;
	return event->payload_kind == CUDA_NVTX_INT64 || event->payload_kind == CUDA_NVTX_INT32;
}

bool payload_parts__is_real(const struct cuda_nvtx *event, double *value)
{
	uint32_t word = (uint32_t)event->payload;
	float single;

	if (event->payload_kind == CUDA_NVTX_FLOAT) {
		memcpy(&single, &word, sizeof(single));
		*value = (double)single;
		return true;
	}
	memcpy(value, &event->payload, sizeof(*value));
	return event->payload_kind == CUDA_NVTX_DOUBLE;
}
