// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lines of `trace`: launches and kernels here, everything else in trace_events.c.
 */
#include "cuda-trace/trace/trace_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "cuda-trace/proc/cgroup.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/base/result_names.h"
#include "cuda-trace/trace/trace_columns.h"
#include "cuda-trace/trace/trace_order.h"

/* Of a process, read once. */
struct place {
	char cgroup[512];
	char container[16];
};

struct trace_rows {
	struct writer writer; /* to `line` */
	FILE *line;
	char *text;
	size_t size;
	struct trace_order *order;
	FILE *output;
};

/* What goes first where a terminal is too narrow. */
static const int dispensable[] = {SOURCE, TID,	  BLOCK,  PROCESS, QUEUE,
				  GRID,	  STREAM, LAUNCH, DEVICE,  PID};

/* 0: not a terminal, or one that does not say. */
static int width_of_terminal(FILE *output)
{
	struct winsize size = {};

	if (!isatty(fileno(output)) || ioctl(fileno(output), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

struct trace_rows *trace_rows__new(FILE *output, bool json, bool wide)
{
	struct trace_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	rows->output = output;
	rows->line = open_memstream(&rows->text, &rows->size);
	rows->order = trace_order__new(output);
	if (!rows->line || !rows->order) {
		trace_rows__free(rows);
		return NULL;
	}
	rows->writer = (struct writer){
		.file = rows->line,
		.columns = trace_columns,
		.count = TRACE_COLUMNS,
		.json = json,
		.wide = wide,
	};
	if (!json && !wide && width_of_terminal(output))
		writer__fit(&rows->writer, width_of_terminal(output), dispensable,
			    sizeof(dispensable) / sizeof(dispensable[0]));
	return rows;
}

void trace_rows__free(struct trace_rows *rows)
{
	if (!rows)
		return;
	if (rows->line)
		fclose(rows->line);
	trace_order__free(rows->order);
	free(rows->text);
	free(rows);
}

static const struct place *place_of(struct process *process)
{
	struct place *place = process->data;

	if (place)
		return place;
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	cgroup__of(process->pid, process->cgroup, place->cgroup, sizeof(place->cgroup));
	cgroup__container(place->cgroup, place->container, sizeof(place->container));
	process->data = place;
	return place;
}

void trace_rows__forget(struct trace_rows *rows, struct process *process)
{
	free(process->data);
	process->data = NULL;
}

static void fill_launch(struct cell *cells, const struct cuda_launch *launch, bool json)
{
	const char *name = result_names__name(launch->domain, launch->result);

	cells[TIMESTAMP] = cell_clock(launch->start);
	cells[TID] = cell_number(launch->tid);
	cells[CONTEXT] = cell_number(launch->context);
	cells[LAUNCH_START] = cell_number(launch->start);
	cells[LAUNCH] = cell_ns(launch->end > launch->start ? launch->end - launch->start : 0);
	cells[DYNAMIC_SHARED] = cell_number(launch->dynamic_shared);
	cells[CORRELATION] = cell_number(launch->head.correlation);
	cells[RESULT_CODE] = cell_signed(launch->result);
	cells[RESULT] = cell_text(trace_events__result(launch->result, name, json));
	if (launch->flags & CUDA_LAUNCH_HELD) {
		cells[HELD] = cell_bool(true);
		if (!launch->result && !json)
			cells[RESULT] = cell_text("ok, held");
	}
	if (launch->head.kind == CUDA_RECORD_GRAPH_LAUNCH)
		return;
	cells[GRID] = cell_triple(launch->grid);
	cells[BLOCK] = cell_triple(launch->block);
}

static void fill_kernel(struct cell *cells, const struct cuda_kernel *kernel)
{
	cells[DEVICE] = cell_number(kernel->device);
	cells[CONTEXT] = cell_number(kernel->context);
	cells[STREAM] = cell_number(kernel->stream);
	cells[GRID] = cell_triple(kernel->grid);
	cells[BLOCK] = cell_triple(kernel->block);
	cells[GPU_START] = cell_clock(kernel->start);
	cells[GPU_END] = cell_clock(kernel->end);
	cells[GPU] = cell_ns(kernel->end > kernel->start ? kernel->end - kernel->start : 0);
	cells[STATIC_SHARED] = cell_number(kernel->static_shared);
	cells[DYNAMIC_SHARED] = cell_number(kernel->dynamic_shared);
	cells[REGISTERS] = cell_number(kernel->registers);
	cells[CORRELATION] = cell_number(kernel->head.correlation);
	if (kernel->graph)
		cells[GRAPH] = cell_number(kernel->graph);
	if (kernel->graph_node)
		cells[GRAPH_NODE] = cell_number(kernel->graph_node);
}

static const char *event_name(const struct cuda_launch *launch, const struct cuda_kernel *kernel)
{
	if (kernel)
		return "kernel";
	return launch->head.kind == CUDA_RECORD_GRAPH_LAUNCH ? "graph_launch" : "launch";
}

static void finish(struct trace_rows *rows, struct process *process, struct cell *cells)
{
	const struct place *place = place_of(process);

	/* What libcuda's entry points do not tell is left empty, never invented. */
	if (process->source == EVENT_SOURCE_DRIVER)
		cells[CONTEXT] = cells[CORRELATION] = cells[DEVICE] = (struct cell){};
	cells[PROCESS] = cell_text(process->comm);
	cells[PID] = cell_number(process->pid);
	cells[SOURCE] = cell_text(process__source(process));
	if (place && *place->container)
		cells[CONTAINER] = cell_text(place->container);
	if (place && *place->cgroup)
		cells[CGROUP] = cell_text(place->cgroup);
	if (!rows->writer.json && !rows->writer.headed) {
		rows->writer.file = rows->output;
		writer__header(&rows->writer);
		rows->writer.file = rows->line;
	}
	rewind(rows->line);
	writer__row(&rows->writer, cells);
	fflush(rows->line);
	trace_order__add(rows->order, cells[TIMESTAMP].number, rows->text, rows->size);
}

void trace_rows__tick(struct trace_rows *rows)
{
	trace_order__tick(rows->order);
}

void trace_rows__put(struct trace_rows *rows, struct process *process,
		     const struct cuda_launch *launch, const struct cuda_kernel *kernel)
{
	struct cell cells[TRACE_COLUMNS] = {};
	char handle[24];

	if (launch)
		fill_launch(cells, launch, rows->writer.json);
	/* CUPTI's number of the stream is not known there. */
	if (launch && process->source == EVENT_SOURCE_DRIVER) {
		snprintf(handle, sizeof(handle), "0x%" PRIx64, (uint64_t)launch->stream);
		cells[STREAM] = cell_text(handle);
	}
	if (kernel)
		fill_kernel(cells, kernel);
	if (kernel && !launch)
		cells[TIMESTAMP] = cell_clock(kernel->start);
	/* JSON has plain numbers on one clock, to subtract; text has times of day. */
	if (kernel && rows->writer.json) {
		cells[GPU_START] = cell_number(kernel->start);
		cells[GPU_END] = cell_number(kernel->end);
	}
	/* The GPU's clock is converted: a start some microseconds before the launch means none. */
	if (launch && kernel)
		cells[QUEUE] =
			cell_ns(kernel->start > launch->start ? kernel->start - launch->start : 0);
	cells[EVENT] = cell_text(event_name(launch, kernel));
	if (kernel || launch->head.kind == CUDA_RECORD_LAUNCH)
		cells[KERNEL] = cell_text(
			process__pretty_name(process, kernel ? kernel->name : launch->name));
	else if (!rows->writer.json)
		cells[KERNEL] = cell_text("[graph launch]");
	finish(rows, process, cells);
}

bool trace_rows__put_event(struct trace_rows *rows, struct process *process,
			   const struct cuda_record *record)
{
	struct cell cells[TRACE_COLUMNS] = {};
	struct trace_text text = {};
	bool shown = trace_events__fill(cells, &text, process, record, rows->writer.json);

	if (shown)
		finish(rows, process, cells);
	free(text.payload);
	return shown;
}

bool trace_rows__put_collective(struct trace_rows *rows, struct process *process,
				const struct event_collective *call)
{
	struct cell cells[TRACE_COLUMNS] = {};
	struct trace_text text;

	if (!trace_collectives__fill(cells, &text, call, rows->writer.json))
		return false;
	finish(rows, process, cells);
	return true;
}

void trace_rows__put_replay(struct trace_rows *rows, struct process *process,
			    const struct event_collective *call, const struct cuda_kernel *kernel,
			    int64_t turn)
{
	struct cell cells[TRACE_COLUMNS] = {};
	struct event_collective replayed = *call;
	struct trace_text text;

	replayed.time = kernel->start;
	if (!trace_collectives__fill(cells, &text, &replayed, rows->writer.json))
		return;
	/* No thread calls NCCL; the stream is that of the graph's launch. */
	cells[TID] = cells[LAUNCH_START] = (struct cell){};
	cells[DEVICE] = cell_number(kernel->device);
	cells[CONTEXT] = cell_number(kernel->context);
	cells[STREAM] = cell_number(kernel->stream);
	cells[CORRELATION] = cell_number(kernel->head.correlation);
	cells[GRAPH] = cell_number(kernel->graph);
	cells[GRAPH_NODE] = cell_number(kernel->graph_node);
	if (turn >= 0)
		cells[REPLAY] = cell_number(turn);
	if (!rows->writer.json) {
		strncat(text.what, ", replayed", sizeof(text.what) - strlen(text.what) - 1);
		cells[KERNEL] = cell_text(text.what);
	}
	finish(rows, process, cells);
}

void trace_rows__put_call(struct trace_rows *rows, struct process *process,
			  const struct cuda_api *call, const struct cuda_api *parent, bool inner)
{
	struct cell cells[TRACE_COLUMNS] = {};
	char indented[sizeof(((struct trace_text *)0)->what) + 2];
	struct trace_text text;
	const char *name = parent ? process__name(process, parent->name) : NULL;

	trace_events__fill(cells, &text, process, &call->head, rows->writer.json);
	if (parent)
		cells[PARENT_CALL] = cell_text(name ? name : "[unknown call]");
	if (inner && !rows->writer.json) {
		snprintf(indented, sizeof(indented), "  %s", text.what);
		cells[KERNEL] = cell_text(indented);
	}
	finish(rows, process, cells);
}

void trace_rows__put_losses(struct trace_rows *rows, const struct session_lost_counts *lost)
{
	trace_order__flush(rows->order);
	if (rows->writer.json)
		losses__write_json_line(rows->output, lost);
	else
		losses__say(stderr, lost);
}
