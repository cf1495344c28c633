// SPDX-License-Identifier: BSD-2-Clause
/*
 * Extensions of NVTX: payloads are ours, as libcupti hands their schemas to nobody who listens to
 * callbacks; all others go on to libcupti. Schemas are kept whether anybody listens or not, because
 * programs register them once; events go to the agent while it listens.
 *
 * Failure modes: 1. a program registers schemas for ever: there are so many and so many bytes, and
 * what does not fit is counted. 2. two threads register at once: each takes a place of its own, and
 * a place is read only once it is ready. 3. two modules of a program have an NVTX each: each
 * registers its own, and a schema is found by domain and id.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "libcupti-usdt/cupti/nvtx_extension.h"
#include "libcupti-usdt/nvtx-entry/nvtx_entry.h"
#include "libcupti-usdt/nvtx-entry/schema_text.h"

#define DYNAMIC_ID  (1ull << 32) /* ids that a tool gives begin here */
#define NO_TRACKING (-2)
#define FIELD_NAME  (1 << 1)
#define SCHEMA_ID   (1 << 8) /* of a schema's fields, and of an enum's */
#define ENUM_ID	    (1 << 5)

typedef int (*extension_entry)(struct nvtx_module *module);

/* What the agent looks for. */
__attribute__((visibility("default"))) struct nvtx_shared cupti_usdt_nvtx_1 = {
	.version = NVTX_SHARED_VERSION,
};
static struct nvtx_shared *const shared = &cupti_usdt_nvtx_1;

/* What NVTX looks for, at a program's first call of an extension. */
__attribute__((visibility("default"))) int
InitializeInjectionNvtxExtension(struct nvtx_module *module);

static uint32_t refuse(void)
{
	atomic_fetch_add(&shared->refused, 1);
	return NVTX_SCHEMAS;
}

static uint32_t claim_place(void)
{
	uint32_t used = atomic_load(&shared->used);

	do {
		if (used >= NVTX_SCHEMAS)
			return refuse();
	} while (!atomic_compare_exchange_weak(&shared->used, &used, used + 1));
	return used;
}

/* A copy that stays; NULL: there is no space. */
static const char *keep(const char *text, size_t length)
{
	uint32_t used = atomic_load(&shared->texts_used);

	do {
		if (length + 1 > NVTX_TEXTS_BYTES - used) {
			refuse();
			return NULL;
		}
	} while (!atomic_compare_exchange_weak(&shared->texts_used, &used, used + length + 1));
	memcpy(shared->texts + used, text, length);
	return shared->texts + used;
}

/* `id`: the program's own, 0 = it wants one of ours. */
static uint64_t publish(struct nvtx_schema *made, const struct schema_text *text, const char *begin,
			const char *name, uint64_t id)
{
	uint32_t place;

	if (text->is_full) {
		refuse();
		return 0;
	}
	made->text = keep(begin, text->at - begin);
	made->name = name && *name ? keep(name, strnlen(name, 256)) : "";
	place = made->text && made->name ? claim_place() : NVTX_SCHEMAS;
	if (place == NVTX_SCHEMAS)
		return 0;
	made->id = id ? id : DYNAMIC_ID + place;
	memcpy((char *)&shared->schemas[place] + sizeof(made->ready),
	       (char *)made + sizeof(made->ready), sizeof(*made) - sizeof(made->ready));
	atomic_store_explicit(&shared->schemas[place].ready, 1, memory_order_release);
	return made->id;
}

static uint64_t register_schema(uint64_t domain, const struct nvtx_schema_attributes *from)
{
	char buffer[NVTX_SCHEMA_TEXT];
	struct schema_text text = {buffer, buffer + sizeof(buffer), false};
	struct nvtx_schema made = {.domain = domain};

	if (!from)
		return 0;
	schema_text__structure(&text, shared, &made, from);
	return publish(&made, &text, buffer, from->fields & FIELD_NAME ? from->name : NULL,
		       from->fields & SCHEMA_ID ? from->id : 0);
}

static uint64_t register_enum(uint64_t domain, const struct nvtx_enum_attributes *from)
{
	char buffer[NVTX_SCHEMA_TEXT];
	struct schema_text text = {buffer, buffer + sizeof(buffer), false};
	struct nvtx_schema made = {.domain = domain};

	if (!from)
		return 0;
	schema_text__enum(&text, &made, from);
	return publish(&made, &text, buffer, from->fields & FIELD_NAME ? from->name : NULL,
		       from->fields & ENUM_ID ? from->id : 0);
}

static uint64_t event(uint32_t slot, uint64_t domain, uint64_t range,
		      const struct nvtx_payload_data *data, size_t count, uint64_t otherwise)
{
	nvtx_event_call call = atomic_load_explicit(&shared->call, memory_order_acquire);

	return call ? call(slot, domain, range, data, count) : otherwise;
}

static void mark(uint64_t domain, const struct nvtx_payload_data *data, size_t count)
{
	event(NVTX_MarkPayload, domain, 0, data, count, 0);
}

static int push(uint64_t domain, const struct nvtx_payload_data *data, size_t count)
{
	return (int)event(NVTX_RangePushPayload, domain, 0, data, count, NO_TRACKING);
}

static int pop(uint64_t domain, const struct nvtx_payload_data *data, size_t count)
{
	return (int)event(NVTX_RangePopPayload, domain, 0, data, count, NO_TRACKING);
}

static uint64_t start(uint64_t domain, const struct nvtx_payload_data *data, size_t count)
{
	return event(NVTX_RangeStartPayload, domain, 0, data, count, 0);
}

static void end(uint64_t domain, uint64_t range, const struct nvtx_payload_data *data, size_t count)
{
	event(NVTX_RangeEndPayload, domain, range, data, count, 0);
}

static int fill_payload(const struct nvtx_module *module)
{
	static void *const handlers[] = {
		[NVTX_SchemaRegister] = register_schema,
		[NVTX_EnumRegister] = register_enum,
		[NVTX_MarkPayload] = mark,
		[NVTX_RangePushPayload] = push,
		[NVTX_RangePopPayload] = pop,
		[NVTX_RangeStartPayload] = start,
		[NVTX_RangeEndPayload] = end,
	};
	const struct nvtx_segment *segment = module->segments;

	if (!module->segment_count || !segment || !segment->slots)
		return 0;
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]) && i < segment->count; i++)
		segment->slots[i] = (intptr_t)handlers[i];
	return 1;
}

int InitializeInjectionNvtxExtension(struct nvtx_module *module)
{
	int saved = errno, started = 0;

	if (nvtx_entry__is_wanted() && module && module->size >= sizeof(*module)) {
		extension_entry pass = NULL;

		if (module->id != NVTX_PAYLOAD_MODULE)
			pass = (extension_entry)nvtx_entry__of_cupti(
				"InitializeInjectionNvtxExtension");
		started = module->id == NVTX_PAYLOAD_MODULE ? fill_payload(module)
			  : pass			    ? pass(module)
							    : 0;
	}
	errno = saved;
	return started;
}
