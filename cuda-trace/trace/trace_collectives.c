// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of `trace` for calls of NCCL. No state.
 */
#include <inttypes.h>
#include "cuda-trace/capture/nccl_calls.h"
#include "cuda-trace/trace/trace_columns.h"

static void fill_common(struct cell *cells, struct trace_text *text,
			const struct event_collective *call)
{
	cells[TIMESTAMP] = cell_clock(call->time);
	cells[LAUNCH_START] = cell_number(call->time);
	cells[TID] = cell_number(call->tid);
	snprintf(text->number, sizeof(text->number), "0x%" PRIx64, (uint64_t)call->comm);
	cells[COMMUNICATOR] = cell_text(text->number);
}

static bool has_peer(uint32_t function)
{
	return function == NCCL_BROADCAST || function == NCCL_REDUCE || function == NCCL_GATHER ||
	       function == NCCL_SCATTER || function == NCCL_SEND || function == NCCL_RECV;
}

static void fill_operation(struct cell *cells, struct trace_text *text,
			   const struct event_collective *call)
{
	const char *operation = nccl_calls__operation(call->function);
	const char *type = nccl_calls__type(call->type);

	cells[EVENT] = cell_text("collective");
	snprintf(text->stream, sizeof(text->stream), "0x%" PRIx64, (uint64_t)call->stream);
	cells[STREAM] = cell_text(text->stream);
	cells[OPERATION] = cell_text(operation);
	cells[ELEMENTS] = cell_number(call->count);
	if (type) {
		cells[DATA_TYPE] = cell_text(type);
		cells[BYTES] = cell_number(nccl_calls__bytes(call));
	}
	if (has_peer(call->function))
		cells[PEER] = cell_signed(call->peer);
	if (call->known == NCCL_FROM_CREATION)
		cells[NUMBER] = cell_number(call->sequence);
	snprintf(text->what, sizeof(text->what), "[%s] %" PRIu64 " %s, communicator %s", operation,
		 (uint64_t)call->count, type ? type : "elements", text->number);
}

static void fill_made(struct cell *cells, struct trace_text *text,
		      const struct event_collective *call)
{
	cells[EVENT] = cell_text("communicator");
	snprintf(text->uuid, sizeof(text->uuid), "%016" PRIx64, (uint64_t)call->id);
	if (call->id)
		cells[COMMUNICATOR_ID] = cell_text(text->uuid);
	/* Those of a split are determined by all of its ranks, and not always known here. */
	if (call->size > 0) {
		cells[COMMUNICATOR_SIZE] = cell_signed(call->size);
		cells[COMMUNICATOR_RANK] = cell_signed(call->rank);
		snprintf(text->what, sizeof(text->what),
			 "[communicator] %s, id %s, rank %d of %d%s", text->number,
			 call->id ? text->uuid : "unknown", call->rank, call->size,
			 call->function == NCCL_FOUND ? ", made before" : "");
		return;
	}
	snprintf(text->what, sizeof(text->what), "[communicator] %s, id %s, by a split",
		 text->number, call->id ? text->uuid : "unknown");
}

bool trace_collectives__fill(struct cell *cells, struct trace_text *text,
			     const struct event_collective *call, bool json)
{
	if (nccl_calls__operation(call->function)) {
		fill_common(cells, text, call);
		fill_operation(cells, text, call);
	} else if (call->function >= NCCL_INIT_RANK && call->function < NCCL_FUNCTIONS &&
		   call->comm) {
		fill_common(cells, text, call);
		fill_made(cells, text, call);
	} else {
		return false;
	}
	if (!json)
		cells[KERNEL] = cell_text(text->what);
	return true;
}
