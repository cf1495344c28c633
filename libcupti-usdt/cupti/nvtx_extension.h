/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVTX's payload extension, as nvToolsExtPayload.h has it; and where libcupti-usdt-nvtx.so, which
 * NVTX hands the extension's calls to, keeps the schemas for the agent, which is another library.
 */
#ifndef LIBCUPTI_USDT_CUPTI_NVTX_EXTENSION_H
#define LIBCUPTI_USDT_CUPTI_NVTX_EXTENSION_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* nvtxExtModuleSegment_t, nvtxExtModuleInfo_t */
struct nvtx_segment {
	size_t id, count;
	intptr_t *slots;
};

struct nvtx_module {
	uint16_t version, size, id, compatibility;
	size_t segment_count;
	struct nvtx_segment *segments;
	intptr_t (*get_export)(uint32_t id);
	const void *more;
};

#define NVTX_PAYLOAD_MODULE 2

/* NVTX3EXT_CBID_nvtx... */
enum nvtx_payload_slot {
	NVTX_SchemaRegister = 0,
	NVTX_EnumRegister = 1,
	NVTX_MarkPayload = 2,
	NVTX_RangePushPayload = 3,
	NVTX_RangePopPayload = 4,
	NVTX_RangeStartPayload = 5,
	NVTX_RangeEndPayload = 6,
};

/* NVTX_PAYLOAD_TYPE_EXT: the payload is the address of `reserved` structures */
#define NVTX_PAYLOAD_EXTENDED ((int32_t)0xDFBD0009)

/* nvtxPayloadData_t */
struct nvtx_payload_data {
	uint64_t schema;
	size_t size; /* ~0: as the schema says */
	const void *payload;
};

/* nvtxPayloadSchemaEntry_t */
struct nvtx_schema_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};

/* nvtxPayloadSchemaAttr_t */
struct nvtx_schema_attributes {
	uint64_t fields;
	const char *name;
	uint64_t type, flags;
	const struct nvtx_schema_entry *entries;
	size_t count, static_size, alignment;
	uint64_t id;
	void *extension;
};

/* nvtxPayloadEnum_t */
struct nvtx_enum_value {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

/* nvtxPayloadEnumAttr_t */
struct nvtx_enum_attributes {
	uint64_t fields;
	const char *name;
	const struct nvtx_enum_value *entries;
	size_t count, size;
	uint64_t id;
	void *extension;
};

/* Eight bytes in a payload that are the address of a text. */
enum nvtx_text_kind { NVTX_TEXT_CSTRING = 1, NVTX_TEXT_REGISTERED = 2 };
struct nvtx_schema_text {
	uint32_t offset;
	uint16_t kind;
	uint16_t is_message; /* the event's own text */
};

#define NVTX_SCHEMAS	  256U
#define NVTX_SCHEMA_TEXT  4000U /* bytes of a description: it travels as a name does */
#define NVTX_SCHEMA_TEXTS 8
#define NVTX_TEXTS_BYTES  (256U << 10)

/* Written once, before `ready`, by the thread that registers it. */
struct nvtx_schema {
	_Atomic(uint32_t) ready;
	uint32_t size;	    /* of a payload; 0 = not known */
	uint32_t alignment; /* of it, in another schema */
	uint32_t text_count;
	uint64_t domain, id;
	const char *text; /* the description that travels */
	const char *name; /* as the program has it, "" = none */
	struct nvtx_schema_text texts[NVTX_SCHEMA_TEXTS];
	_Atomic(uint32_t) interned; /* the agent's: its id as a name */
};

/* Calls of the extension that are events: by slot. The range's id, or a level. */
typedef uint64_t (*nvtx_event_call)(uint32_t slot, uint64_t domain, uint64_t range,
				    const struct nvtx_payload_data *data, size_t count);

#define NVTX_SHARED_VERSION 1
#define NVTX_SHARED_SYMBOL  "cupti_usdt_nvtx_1"
struct nvtx_shared {
	uint32_t version;
	_Atomic(uint32_t) used; /* schemas that are taken */
	_Atomic(uint32_t) texts_used;
	_Atomic(uint32_t) refused;     /* registrations for which there was no space */
	_Atomic(nvtx_event_call) call; /* of the agent while it listens */
	struct nvtx_schema schemas[NVTX_SCHEMAS];
	char texts[NVTX_TEXTS_BYTES];
};

#endif
