// SPDX-License-Identifier: BSD-2-Clause
/* As layout.c, for NVTX's payload extension. Toolkits before 13.0 have other structures, or none.
 */
#include <stddef.h>

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif

#include "libcupti-usdt/cupti/nvtx_extension.h"

#define SAME_NUMBER(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define SAME_FIELD(ours, field, theirs, their_field)                                    \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->field) <=                     \
				       sizeof(theirs) - offsetof(theirs, their_field),  \
		       #ours "." #field " is not " #theirs "." #their_field)
#define SAME_WIDTH(ours, field, theirs, their_field)                                            \
	SAME_FIELD(ours, field, theirs, their_field);                                           \
	_Static_assert(sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->their_field), \
		       #ours "." #field " is not as wide as " #theirs "." #their_field)

#if defined(NVTX_EXT_PAYLOAD_COMPATID) && NVTX_EXT_PAYLOAD_COMPATID >= 0x0104
SAME_NUMBER(NVTX_PAYLOAD_MODULE, NVTX_EXT_PAYLOAD_MODULEID);
SAME_NUMBER(NVTX_PAYLOAD_EXTENDED, NVTX_PAYLOAD_TYPE_EXT);
SAME_NUMBER(NVTX_SchemaRegister, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME_NUMBER(NVTX_EnumRegister, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
SAME_NUMBER(NVTX_MarkPayload, NVTX3EXT_CBID_nvtxMarkPayload);
SAME_NUMBER(NVTX_RangePushPayload, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME_NUMBER(NVTX_RangePopPayload, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME_NUMBER(NVTX_RangeStartPayload, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME_NUMBER(NVTX_RangeEndPayload, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME_WIDTH(nvtx_payload_data, schema, nvtxPayloadData_t, schemaId);
SAME_WIDTH(nvtx_payload_data, size, nvtxPayloadData_t, size);
SAME_WIDTH(nvtx_payload_data, payload, nvtxPayloadData_t, payload);
SAME_WIDTH(nvtx_schema_entry, flags, nvtxPayloadSchemaEntry_t, flags);
SAME_WIDTH(nvtx_schema_entry, type, nvtxPayloadSchemaEntry_t, type);
SAME_WIDTH(nvtx_schema_entry, name, nvtxPayloadSchemaEntry_t, name);
SAME_WIDTH(nvtx_schema_entry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
SAME_WIDTH(nvtx_schema_entry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME_NUMBER(sizeof(struct nvtx_schema_entry), sizeof(nvtxPayloadSchemaEntry_t));
SAME_WIDTH(nvtx_schema_attributes, fields, nvtxPayloadSchemaAttr_t, fieldMask);
SAME_WIDTH(nvtx_schema_attributes, name, nvtxPayloadSchemaAttr_t, name);
SAME_WIDTH(nvtx_schema_attributes, type, nvtxPayloadSchemaAttr_t, type);
SAME_WIDTH(nvtx_schema_attributes, entries, nvtxPayloadSchemaAttr_t, entries);
SAME_WIDTH(nvtx_schema_attributes, count, nvtxPayloadSchemaAttr_t, numEntries);
SAME_WIDTH(nvtx_schema_attributes, static_size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
SAME_WIDTH(nvtx_schema_attributes, alignment, nvtxPayloadSchemaAttr_t, packAlign);
SAME_WIDTH(nvtx_schema_attributes, id, nvtxPayloadSchemaAttr_t, schemaId);
SAME_WIDTH(nvtx_enum_value, value, nvtxPayloadEnum_t, value);
SAME_WIDTH(nvtx_enum_value, is_flag, nvtxPayloadEnum_t, isFlag);
SAME_NUMBER(sizeof(struct nvtx_enum_value), sizeof(nvtxPayloadEnum_t));
SAME_WIDTH(nvtx_enum_attributes, entries, nvtxPayloadEnumAttr_t, entries);
SAME_WIDTH(nvtx_enum_attributes, count, nvtxPayloadEnumAttr_t, numEntries);
SAME_WIDTH(nvtx_enum_attributes, size, nvtxPayloadEnumAttr_t, sizeOfEnum);
SAME_WIDTH(nvtx_enum_attributes, id, nvtxPayloadEnumAttr_t, schemaId);
SAME_FIELD(nvtx_module, id, nvtxExtModuleInfo_t, moduleId);
SAME_WIDTH(nvtx_module, segments, nvtxExtModuleInfo_t, segments);
SAME_WIDTH(nvtx_segment, slots, nvtxExtModuleSegment_t, functionSlots);
#endif
