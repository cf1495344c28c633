// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat --json`: what is not kernels and launches.
 */
#include "cuda-trace/base/json_text.h"
#include "cuda-trace/stat/stat_json.h"

#include <json-c/json.h>
#include <math.h>
#include "cuda-trace/base/call_arguments.h"
#include "cuda-trace/stat/stat_advice.h"

static void put_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static struct json_object *span(const struct stat_span *of)
{
	struct json_object *object = json_object_new_object();

	put_number(object, "count", of->count);
	put_number(object, "total_ns", of->total_ns);
	put_number(object, "mean_ns", of->count ? of->total_ns / of->count : 0);
	put_number(object, "min_ns", of->min_ns);
	put_number(object, "max_ns", of->max_ns);
	return object;
}

static void put_errors_of(struct json_object *object, const struct stat_copy *copy)
{
	put_number(object, "count_error", sqrt(copy->count_error2));
	put_number(object, "bytes_error", sqrt(copy->bytes_error2));
	put_number(object, "total_ns_error", sqrt(copy->ns_error2));
	put_number(object, "sampled", copy->sampled);
}

static struct json_object *copies(const struct stat_events *events, bool estimated)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < events->copy_count; i++) {
		const struct stat_copy *copy = &events->copies[i];
		struct json_object *object = span(&copy->span);

		stat_json__put_text(object, "direction", stat_events__copy_key(copy->kind));
		if (copy->kind != STAT_COPY_SET)
			stat_json__put_text(object, "from", stat_events__memory_key(copy->from));
		stat_json__put_text(object, "to", stat_events__memory_key(copy->to));
		put_number(object, "bytes", copy->bytes);
		json_object_object_add(object, "bytes_per_second",
				       copy->span.total_ns ? stat_json__double(copy->bytes * 1e9 /
									       copy->span.total_ns)
							   : NULL);
		json_object_object_add(object, "estimated", json_object_new_boolean(estimated));
		if (estimated)
			put_errors_of(object, copy);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *memory(const struct stat_table *table)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < table->memory_count; i++) {
		const struct stat_memory *line = &table->memory[i];
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "pid",
				       line->pid ? json_object_new_uint64(line->pid) : NULL);
		stat_json__put_text(object, "process", line->comm);
		json_object_object_add(
			object, "device",
			line->device == UINT32_MAX ? NULL : json_object_new_int64(line->device));
		stat_json__put_text(object, "kind", stat_events__memory_key(line->kind));
		put_number(object, "allocs", line->allocs);
		put_number(object, "frees", line->frees);
		put_number(object, "bytes", line->bytes);
		put_number(object, "peak_bytes", line->peak_bytes);
		put_number(object, "live_bytes", line->live_bytes);
		put_number(object, "live_count", line->live_count);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *syncs(const struct stat_events *events)
{
	struct json_object *array = json_object_new_array();

	for (int type = 0; type < STAT_SYNC_TYPES; type++) {
		struct json_object *object;

		if (!events->syncs[type].count)
			continue;
		object = span(&events->syncs[type]);
		stat_json__put_text(object, "kind", stat_events__sync_key(type));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *triple(const uint32_t *values)
{
	struct json_object *array = json_object_new_array();

	for (int i = 0; i < 3; i++)
		json_object_array_add(array, json_object_new_int64(values[i]));
	return array;
}

static void put_asked_launch(struct json_object *object, const struct stat_error *error)
{
	const struct cuda_api *call = &error->last;

	if (*error->kernel)
		stat_json__put_text(object, "kernel", error->kernel);
	if (!call_arguments__has_grid(call))
		return;
	json_object_object_add(object, "grid", triple(call->arguments.launch.grid));
	json_object_object_add(object, "block", triple(call->arguments.launch.block));
	put_number(object, "dynamic_shared", call->arguments.launch.dynamic_shared);
}

/* By the keys that `trace` has for them. */
static struct json_object *asked(const struct stat_error *error)
{
	struct json_object *object = json_object_new_object();
	const struct cuda_api *call = &error->last;
	char address[24];

	if (call->flags & CUDA_API_LAUNCH) {
		put_asked_launch(object, error);
		return object;
	}
	if (call->flags & CUDA_API_BYTES)
		put_number(object, "bytes", call->arguments.call.bytes);
	if (call->flags & CUDA_API_COPY_KIND)
		stat_json__put_text(object, "direction",
				    stat_events__copy_key(call->arguments.call.copy_kind));
	if (call->flags & CUDA_API_VALUE)
		put_number(object, "value", call->arguments.call.value);
	if (call->flags & CUDA_API_DEVICE)
		json_object_object_add(object, "device",
				       json_object_new_int((int32_t)call->arguments.call.device));
	if (call->flags & CUDA_API_ADDRESS) {
		snprintf(address, sizeof(address), "0x%" PRIx64,
			 (uint64_t)call->arguments.call.address);
		stat_json__put_text(object, "address", address);
	}
	return object;
}

static struct json_object *errors(const struct stat_events *events)
{
	struct json_object *array = json_object_new_array();
	const struct stat_error *error;

	for (uint32_t i = 0; (error = stat_errors__next(&events->errors, &i));) {
		struct json_object *object = json_object_new_object(), *last;

		stat_json__put_text(object, "call", error->text);
		json_object_object_add(object, "result",
				       error->result ? json_object_new_int(error->result) : NULL);
		stat_json__put_text(object, "result_name", stat_errors__result(error));
		put_number(object, "count", error->count);
		last = asked(error);
		if (json_object_object_length(last))
			json_object_object_add(object, "last", last);
		else
			json_object_put(last);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *ranges(const struct stat_events *events)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < events->range_count; i++) {
		struct json_object *object = span(&events->ranges[i].span);

		stat_json__put_text(object, "name", events->ranges[i].text);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *calls(const struct stat_calls *of)
{
	struct json_object *object = of ? json_object_new_object() : NULL;
	struct json_object *array;

	if (!of)
		return NULL;
	put_number(object, "host_ns", of->host_ns);
	array = json_object_new_array();
	for (uint32_t i = 0; i < of->count; i++) {
		const struct stat_call *call = &of->lines[i];
		struct json_object *line = span(&call->span);

		stat_json__put_text(line, "call", call->name);
		if (*call->parent)
			stat_json__put_text(line, "parent", call->parent);
		else
			json_object_object_add(line, "parent", NULL);
		stat_json__put_text(line, "domain",
				    call->domain == CUDA_DOMAIN_RUNTIME ? "runtime" : "driver");
		put_number(line, "failed", call->failed);
		put_number(line, "own_ns", call->own_ns);
		json_object_object_add(
			line, "share",
			stat_json__double(of->host_ns ? (double)call->span.total_ns / of->host_ns
						      : 0));
		json_object_array_add(array, line);
	}
	json_object_object_add(object, "calls", array);
	return object;
}

/* The values by counter, as CUPTI has them, and what became of which memory how often. */
static struct json_object *unified(const struct stat_events *events)
{
	static const struct {
		int counter;
		const char *direction;
	} moves[] = {{1, "HtoD"}, {2, "DtoH"}, {8, "DtoD"}};
	struct json_object *object = json_object_new_object();
	struct json_object *array = json_object_new_array();

	for (int i = 1; i < STAT_UVM_COUNTERS; i++)
		put_number(object, stat_events__uvm_key(i), events->uvm[i]);
	put_number(object, "gpu_fault_records", events->uvm_spans[4].count);
	put_number(object, "thrashing_count", events->uvm_spans[5].count);
	put_number(object, "throttling_count", events->uvm_spans[6].count);
	put_number(object, "remote_map_count", events->uvm_spans[7].count);
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		struct json_object *move;

		if (!events->uvm_spans[moves[i].counter].count)
			continue;
		move = span(&events->uvm_spans[moves[i].counter]);
		stat_json__put_text(move, "direction", moves[i].direction);
		put_number(move, "bytes", events->uvm[moves[i].counter]);
		json_object_array_add(array, move);
	}
	json_object_object_add(object, "migrations", array);
	return object;
}

void stat_json__put_events(struct json_object *object, const struct stat_report *report)
{
	const struct stat_table *table = report->table;
	const struct stat_events *events = &table->events;
	struct json_object *overhead = json_object_new_object();
	struct json_object *jit = json_object_new_object();
	struct json_object *advice = json_object_new_array();
	char lines[STAT_MAX_ADVICE][256];
	int count = stat_advice__lines(table, lines);

	for (int i = 0; i < 9; i++)
		if (events->overhead[i].count)
			json_object_object_add(overhead, stat_events__overhead_key(i),
					       span(&events->overhead[i]));
	for (int i = 0; i < STAT_JIT_KINDS; i++)
		if (events->jit[i].count)
			json_object_object_add(jit, stat_events__jit_key(i), span(&events->jit[i]));
	for (int i = 0; i < count; i++)
		json_object_array_add(advice, json_object_new_string(lines[i]));
	json_object_object_add(object, "copies", copies(events, table->sampled));
	json_object_object_add(object, "memory", memory(table));
	json_object_object_add(object, "syncs", syncs(events));
	json_object_object_add(object, "api", calls(report->calls));
	json_object_object_add(object, "graphs", span(&events->graphs));
	json_object_object_add(object, "graph_instantiations", span(&events->instantiations));
	json_object_object_add(object, "errors", errors(events));
	json_object_object_add(object, "ranges", ranges(events));
	json_object_object_add(object, "unified", unified(events));
	json_object_object_add(object, "overhead", overhead);
	json_object_object_add(object, "jit", jit);
	json_object_object_add(object, "time",
			       table->sampled ? NULL : stat_report__json_time(&table->time));
	json_object_object_add(object, "advice", advice);
}
