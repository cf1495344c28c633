/* SPDX-License-Identifier: BSD-2-Clause */
/* NVTX ranges that are open: nvtx.c keeps them, nvtx_calls.c makes them of calls. On any thread. */
#ifndef LIBCUPTI_USDT_TRACE_NVTX_RANGES_H
#define LIBCUPTI_USDT_TRACE_NVTX_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nvtx_payload_data;

struct nvtx_range {
	uint64_t start;	 /* ns: what begins and what ends it have the same */
	uint64_t handle; /* the domain's; 0 = the default one */
	uint64_t payload;
	uint32_t text, domain, color, category, category_name;
	uint32_t tid;  /* of what began it */
	uint32_t kept; /* payloads of the extension: nvtx_payloads.c; 0 = none */
	uint8_t payload_kind;
	uint32_t dropped; /* pushed after it in its domain, still open, and not kept */
};

/* There is memory for them; else nothing else may be called. */
bool nvtx_ranges__are_kept(void);
/* A new session, in which none is open; its number. On the agent's thread. */
uint32_t nvtx_ranges__begin(void);
void nvtx_ranges__mark(struct nvtx_range range);
void nvtx_ranges__push(struct nvtx_range range);
void nvtx_ranges__start(struct nvtx_range range, uint64_t id);
/* `data`: payloads that the call brings, of its own domain. */
void nvtx_ranges__pop(uint64_t domain, const struct nvtx_payload_data *data, size_t count);
void nvtx_ranges__end(uint64_t id, const struct nvtx_payload_data *data, size_t count);
/* How many pushed ranges of the calling thread are open. */
uint32_t nvtx_ranges__open(void);

#endif
