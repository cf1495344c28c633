/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payloads of NVTX's payload extension: copied when an event has them, kept while its range is
 * open, and sent in parts just before the event's record. On any thread; takes no lock.
 */
#ifndef LIBCUPTI_USDT_TRACE_NVTX_PAYLOADS_H
#define LIBCUPTI_USDT_TRACE_NVTX_PAYLOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/cupti/nvtx_extension.h"

struct ring;

/* Finds the library that NVTX hands the extension's calls to, if the program was started with it:
 * on the program's thread, as it may be inside of a dlopen() itself. */
void nvtx_payloads__find(void);
/* Makes memory for them; once, before all others. -errno. */
int nvtx_payloads__open(void);
/* On the agent's thread: the extension's events go to `call` from now on, or to nobody (NULL). What
 * is kept for another session is free. */
void nvtx_payloads__listen(nvtx_event_call call, uint32_t session);

/* Keeps copies; `kept`: what has them already, 0 = nothing. What has them then, 0 = nothing: they
 * are counted as lost. `text`: the id of the event's own text, if one of them has that. */
uint32_t nvtx_payloads__keep(uint32_t kept, uint64_t domain, const struct nvtx_payload_data *data,
			     size_t count, uint32_t *text);
/* The name of the schema of the first, by the id of a cuda:name; 0 = none. */
uint32_t nvtx_payloads__schema_name(uint64_t domain, const struct nvtx_payload_data *data,
				    size_t count);
/* Sends what is kept; the number of parts, and their id. It is free then. */
uint32_t nvtx_payloads__send(uint32_t kept, struct ring *ring, bool at_once, uint32_t *id);
/* It is free; those of another session already are. */
void nvtx_payloads__drop(uint32_t kept, uint32_t session);

#endif
