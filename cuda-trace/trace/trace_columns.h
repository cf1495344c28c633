/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of `trace`, and the cells of one line. The keys are documented in cuda-trace-trace(1)
 * and stay as they are.
 */
#ifndef CUDA_TRACE_TRACE_TRACE_COLUMNS_H
#define CUDA_TRACE_TRACE_TRACE_COLUMNS_H

#include "cuda-trace/capture/process.h"
#include "cuda-trace/cli/writer.h"

enum trace_column {
	EVENT,
	TIMESTAMP,
	PROCESS,
	PID,
	TID,
	DEVICE,
	CONTEXT,
	STREAM,
	GRID,
	BLOCK,
	LAUNCH_START,
	LAUNCH,
	QUEUE,
	GPU_START,
	GPU_END,
	GPU,
	STATIC_SHARED,
	DYNAMIC_SHARED,
	REGISTERS,
	CORRELATION,
	GRAPH,
	GRAPH_NODE,
	RESULT_CODE,
	RESULT,
	SOURCE,
	CONTAINER,
	CGROUP,
	/* Of some events only. */
	CALL,
	PARENT_CALL,
	DIRECTION,
	FROM,
	TO,
	BYTES,
	COPIES,
	RATE,
	FROM_DEVICE,
	TO_DEVICE,
	VALUE,
	ADDRESS,
	KIND,
	ASYNCHRONOUS,
	HELD,
	NAME,
	DOMAIN,
	COLOR,
	CATEGORY,
	CATEGORY_NAME,
	END_TID,
	PAYLOAD,
	UUID,
	PCI,
	CAPABILITY,
	MEMORY,
	PRIORITY,
	PARENT,
	OPERATION,
	USED,
	KEPT,
	ORIGINAL_NODE,
	COMMUNICATOR,
	COMMUNICATOR_ID,
	COMMUNICATOR_SIZE,
	COMMUNICATOR_RANK,
	NUMBER,
	REPLAY,
	ELEMENTS,
	DATA_TYPE,
	PEER,
	KERNEL,
	TRACE_COLUMNS
};

extern const struct column trace_columns[TRACE_COLUMNS];

/* What the last column of text says of an event that is no kernel. */
struct trace_text {
	char what[512];
	char number[24];
	char uuid[48];
	char capability[16];
	char stream[24];
	char *payload; /* JSON; to be freed */
};

/* A result; in text without the beginning that all names have. `name`: NULL = not known. */
const char *trace_events__result(int32_t result, const char *name, bool json);
/* Fills the cells of an event that is neither launch nor kernel; false = not one that is shown. */
bool trace_events__fill(struct cell *cells, struct trace_text *text, struct process *process,
			const struct cuda_record *record, bool json);

/* The same for a call of NCCL: an operation, or a communicator that was made. */
bool trace_collectives__fill(struct cell *cells, struct trace_text *text,
			     const struct event_collective *call, bool json);

#endif
