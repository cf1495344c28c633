// SPDX-License-Identifier: BSD-2-Clause
/*
 * A pool of places, each with the payloads of one event.
 *
 * Failure modes: 1. more ranges with payloads are open than there are places, payloads are larger
 * than one, or of a schema that nobody registered: counted, and the event goes without, or with
 * what fits. 2. a listener goes while ranges are open: its places are taken by the next session's.
 * 3. the library of the extension is not there (the program was not started with it): nothing to
 * listen to, and no schema is known. 4. a program gives a length, or the address of a text, that
 * is wrong: NVTX's own rules make it read the same memory.
 */
#include "libcupti-usdt/trace/nvtx_payloads.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/base/settings.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/trace/nvtx_names.h"

#define PLACES	    128U
#define NO_TEXT	    UINT32_MAX
#define TEXT_LENGTH 256U
#define AS_SCHEMA   SIZE_MAX /* of a payload's size */
#define COMPANION   "/libcupti-usdt-nvtx.so"

struct payload {
	struct nvtx_schema *schema;
	uint32_t bytes;
	uint8_t data[CUDA_NVTX_BYTES];
};

struct place {
	_Atomic(uint32_t) session; /* whose; 0 = free */
	uint32_t count;
	struct payload payloads[CUDA_NVTX_OF_EVENT];
};

struct text_place { /* where eight bytes were the address of a text */
	uint32_t offset, length;
};

static struct pool {
	struct place places[PLACES];
} * pool;
static _Atomic(uint32_t) session_now;
static _Atomic(uint32_t) last_id;
static struct nvtx_shared *shared;
static _Atomic(uint32_t) refused_known;

int nvtx_payloads__open(void)
{
	if (!pool)
		pool = memory__map(sizeof(*pool));
	return pool ? 0 : -ENOMEM;
}

/* It may not be loaded yet, if the program's first call is still to come. */
void nvtx_payloads__find(void)
{
	const char *path = settings__get()->nvtx_library;
	const char *end = path ? strstr(path, COMPANION) : NULL;
	void *library = end && !end[sizeof(COMPANION) - 1] ? dlopen(path, RTLD_LAZY) : NULL;
	struct nvtx_shared *found = library ? dlsym(library, NVTX_SHARED_SYMBOL) : NULL;

	if (found && found->version == NVTX_SHARED_VERSION)
		shared = found;
}

/* Schemas for which that library had no space. On any thread. */
static void note_refused(void)
{
	uint32_t refused = atomic_load_explicit(&shared->refused, memory_order_relaxed), known;

	if (refused == atomic_load_explicit(&refused_known, memory_order_relaxed))
		return;
	known = atomic_exchange(&refused_known, refused);
	if (refused > known)
		status__lost(CUDA_LOST_PAYLOADS, refused - known);
}

void nvtx_payloads__listen(nvtx_event_call call, uint32_t session)
{
	if (call)
		atomic_store(&session_now, session);
	if (!shared)
		return;
	atomic_store_explicit(&shared->call, call, memory_order_release);
	note_refused();
}

static struct nvtx_schema *schema_of(uint64_t domain, uint64_t id)
{
	uint32_t used = shared ? atomic_load(&shared->used) : 0;

	for (uint32_t i = 0; i < used && i < NVTX_SCHEMAS; i++) {
		struct nvtx_schema *schema = &shared->schemas[i];

		if (atomic_load_explicit(&schema->ready, memory_order_acquire) &&
		    schema->id == id && schema->domain == domain)
			return schema;
	}
	return NULL;
}

static struct place *claim_place(void)
{
	uint32_t session = atomic_load_explicit(&session_now, memory_order_relaxed);

	for (uint32_t i = 0; i < PLACES; i++) {
		struct place *place = &pool->places[i];
		uint32_t other = atomic_load_explicit(&place->session, memory_order_relaxed);

		if (other != session &&
		    atomic_compare_exchange_strong(&place->session, &other, session)) {
			place->count = 0;
			return place;
		}
	}
	return NULL;
}

/* The address in the payload becomes the place of a copy behind it. */
static void fetch_text(struct payload *to, uint32_t size, const struct nvtx_schema_text *text,
		       uint32_t *message)
{
	struct text_place place = {NO_TEXT, 0};
	const char *from = NULL;
	uint64_t address;

	if (text->offset > size || size - text->offset < sizeof(address))
		return;
	memcpy(&address, to->data + text->offset, sizeof(address));
	if (text->kind == NVTX_TEXT_CSTRING)
		from = (const char *)(uintptr_t)address;
	else if (address)
		from = interned_names__text(nvtx_names__of(address));
	if (from) {
		uint32_t space = sizeof(to->data) - to->bytes;

		place.offset = to->bytes;
		place.length = strnlen(from, space < TEXT_LENGTH ? space : TEXT_LENGTH);
		memcpy(to->data + to->bytes, from, place.length);
		to->bytes += place.length;
		if (text->is_message)
			*message = interned_names__intern_text(from);
	}
	memcpy(to->data + text->offset, &place, sizeof(place));
}

static bool copy(struct payload *to, uint64_t domain, const struct nvtx_payload_data *from,
		 uint32_t *message)
{
	struct nvtx_schema *schema = schema_of(domain, from->schema);
	size_t size;

	if (!schema || !from->payload)
		return false;
	size = from->size == AS_SCHEMA ? schema->size : from->size;
	to->schema = schema;
	to->bytes = size < sizeof(to->data) ? size : sizeof(to->data);
	memcpy(to->data, from->payload, to->bytes);
	for (uint32_t i = 0, whole = to->bytes; i < schema->text_count; i++)
		fetch_text(to, whole, &schema->texts[i], message);
	return size <= sizeof(to->data);
}

uint32_t nvtx_payloads__keep(uint32_t kept, uint64_t domain, const struct nvtx_payload_data *data,
			     size_t count, uint32_t *text)
{
	struct place *place = kept ? &pool->places[kept - 1] : NULL;
	size_t lost = 0;

	if (!count || !data)
		return kept;
	if (shared)
		note_refused();
	if (!place)
		place = claim_place();
	for (size_t i = 0; i < count; i++) {
		struct payload *to = place && place->count < CUDA_NVTX_OF_EVENT
					     ? &place->payloads[place->count]
					     : NULL;

		if (to)
			to->schema = NULL;
		if (!to || !copy(to, domain, &data[i], text))
			lost++;
		if (to && to->schema)
			place->count++;
		if (!to) {
			lost += count - i - 1;
			break;
		}
	}
	if (lost)
		status__lost(CUDA_LOST_PAYLOADS, lost);
	if (place && !place->count) {
		atomic_store(&place->session, 0);
		return 0;
	}
	return place ? (uint32_t)(place - pool->places) + 1 : 0;
}

static uint32_t name_of_schema(struct nvtx_schema *schema)
{
	uint32_t id = atomic_load_explicit(&schema->interned, memory_order_relaxed);

	if (!id) {
		id = interned_names__intern_text(schema->text);
		atomic_store_explicit(&schema->interned, id, memory_order_relaxed);
	}
	return id;
}

uint32_t nvtx_payloads__schema_name(uint64_t domain, const struct nvtx_payload_data *data,
				    size_t count)
{
	const struct nvtx_schema *schema = count && data ? schema_of(domain, data->schema) : NULL;

	return schema && *schema->name ? interned_names__intern_text(schema->name) : 0;
}

static uint32_t send_one(struct payload *payload, struct cuda_nvtx_payload *part, struct ring *ring,
			 bool at_once)
{
	uint32_t parts = 0;

	part->schema = name_of_schema(payload->schema);
	part->bytes = payload->bytes;
	part->offset = 0;
	do {
		uint32_t left = payload->bytes - part->offset;

		part->size = left < sizeof(part->data) ? left : sizeof(part->data);
		memset(part->data, 0, sizeof(part->data));
		memcpy(part->data, payload->data + part->offset, part->size);
		if (at_once || !ring)
			rings__send_now(CUDA_GROUP_NVTX, &part->head);
		else
			ring__append(ring, CUDA_GROUP_NVTX, &part->head);
		part->offset += part->size;
		parts++;
	} while (part->offset < payload->bytes);
	return parts;
}

uint32_t nvtx_payloads__send(uint32_t kept, struct ring *ring, bool at_once, uint32_t *id)
{
	struct place *place = &pool->places[kept - 1];
	struct cuda_nvtx_payload part = {
		.head = {.kind = CUDA_RECORD_NVTX_PAYLOAD, .size = sizeof(part)},
		.tid = ring__tid(ring),
		.id = atomic_fetch_add(&last_id, 1) + 1,
	};
	uint32_t parts = 0;

	for (uint32_t i = 0; i < place->count && i < CUDA_NVTX_OF_EVENT; i++) {
		part.number = i;
		parts += send_one(&place->payloads[i], &part, ring, at_once);
	}
	*id = part.id;
	atomic_store(&place->session, 0);
	return parts;
}

void nvtx_payloads__drop(uint32_t kept, uint32_t session)
{
	uint32_t mine = session;

	if (kept)
		atomic_compare_exchange_strong(&pool->places[kept - 1].session, &mine, 0);
}
