/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A schema of NVTX's payload extension as one line of text, which cuda-trace/base/payload_json.c
 * reads; libcupti-usdt(7) has its grammar.
 */
#ifndef LIBCUPTI_USDT_NVTX_ENTRY_SCHEMA_TEXT_H
#define LIBCUPTI_USDT_NVTX_ENTRY_SCHEMA_TEXT_H

#include <stdbool.h>

#include "libcupti-usdt/cupti/nvtx_extension.h"

struct schema_text {
	char *at, *end;
	bool is_full;
};

/* Fills in what follows from the entries: sizes, texts. Entries may be of the schemas in `shared`.
 */
void schema_text__structure(struct schema_text *to, const struct nvtx_shared *shared,
			    struct nvtx_schema *schema, const struct nvtx_schema_attributes *from);
void schema_text__enum(struct schema_text *to, struct nvtx_schema *schema,
		       const struct nvtx_enum_attributes *from);

#endif
