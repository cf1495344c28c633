// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: devices, contexts, streams and memory pools, as text and as JSON.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include "cuda-trace/stat/stat_json.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct device_text {
	char capability[16], uuid[48], pci[17];
};

static void show_device(struct device_text *to, const struct cuda_device *device)
{
	snprintf(to->capability, sizeof(to->capability), "%u.%u", device->major % 1000,
		 device->minor % 1000);
	snprintf(to->pci, sizeof(to->pci), "%.16s", device->pci);
	if (device->mig)
		stat_objects__uuid(to->uuid, "MIG", device->mig_uuid);
	else
		stat_objects__uuid(to->uuid, "GPU", device->uuid);
}

static void say_left_out(FILE *file, uint64_t count)
{
	char text[32];

	if (count)
		fprintf(file, " ... and %s more\n", text__count(text, count));
}

static void put_devices(FILE *file, const struct stat_objects *objects)
{
	static const struct column columns[] = {
		{"device", "GPU", 3, 0},	  {"capability", "CAPABILITY", 10, 0},
		{"memory", "MEMORY", 11, 0},	  {"multiprocessors", "SMS", 4, 0},
		{"pci", "PCI", 12, COLUMN_LEFT},  {"uuid", "UUID", 40, COLUMN_LEFT},
		{"name", "NAME", 0, COLUMN_LEFT},
	};
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};

	for (uint32_t i = 0; i < objects->device_count; i++) {
		const struct stat_device *device = &objects->devices[i];
		struct device_text text;
		char memory[24];

		show_device(&text, &device->record);
		if (!i)
			fprintf(file, "\nDevices\n");
		writer__row(&writer,
			    (const struct cell[]){
				    cell_number(device->record.device),
				    cell_text(text.capability),
				    cell_text(stat_report__bytes(memory, device->record.memory)),
				    cell_number(device->record.multiprocessors),
				    cell_text(text.pci),
				    cell_text(text.uuid),
				    cell_text(device->name),
			    });
	}
	say_left_out(file, objects->devices_left_out);
}

static void put_contexts(FILE *file, const struct stat_objects *objects, uint64_t most)
{
	static const struct column columns[] = {
		{"pid", "PID", 8, 0},	    {"context", "CONTEXT", 8, 0},
		{"device", "GPU", 3, 0},    {"kind", "KIND", 8, COLUMN_LEFT},
		{"parent", "PARENT", 8, 0}, {"multiprocessors", "SMS", 4, 0},
	};
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};
	uint32_t i;

	for (i = 0; i < objects->context_count && i < most; i++) {
		const struct cuda_context *context = &objects->contexts[i].record;

		if (!i)
			fprintf(file, "\nContexts\n");
		writer__row(&writer,
			    (const struct cell[]){
				    cell_number(objects->contexts[i].pid),
				    cell_number(context->context),
				    cell_number(context->device),
				    cell_text(context->green ? "green" : "context"),
				    context->green ? cell_number(context->parent) : (struct cell){},
				    context->green ? cell_number(context->multiprocessors)
						   : (struct cell){},
			    });
	}
	say_left_out(file, objects->context_count - i + objects->contexts_left_out);
}

static void put_streams(FILE *file, const struct stat_objects *objects, uint64_t most)
{
	static const struct column columns[] = {
		{"pid", "PID", 8, 0},
		{"context", "CONTEXT", 8, 0},
		{"kind", "KIND", 12, COLUMN_LEFT},
		{"priority", "PRIORITY", 8, 0},
		{"count", "COUNT", 11, 0},
	};
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};
	uint64_t left_out = objects->streams_left_out;

	for (uint32_t i = 0; i < objects->stream_count; i++) {
		const struct stat_streams *streams = &objects->streams[i];

		if (i >= most) {
			left_out += streams->count;
			continue;
		}
		if (!i)
			fprintf(file, "\nStreams\n");
		writer__row(&writer, (const struct cell[]){
					     cell_number(streams->pid),
					     cell_number(streams->context),
					     cell_text(stat_objects__stream_key(streams->flag)),
					     cell_signed(streams->priority),
					     cell_count(streams->count),
				     });
	}
	say_left_out(file, left_out);
}

static void put_pools(FILE *file, const struct stat_objects *objects, uint64_t most)
{
	static const struct column columns[] = {
		{"pid", "PID", 8, 0},	       {"device", "GPU", 3, 0},
		{"address", "ADDRESS", 18, 0}, {"kind", "KIND", 8, COLUMN_LEFT},
		{"size", "SIZE, PEAK", 11, 0}, {"used", "USED, PEAK", 11, 0},
		{"trims", "TRIMS", 8, 0},      {"state", "STATE", 0, COLUMN_LEFT},
	};
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};
	uint32_t i;

	for (i = 0; i < objects->pool_count && i < most; i++) {
		const struct stat_pool *pool = &objects->pools[i];
		char address[24], size[24], used[24];

		snprintf(address, sizeof(address), "0x%" PRIx64, pool->address);
		if (!i)
			fprintf(file, "\nMemory pools\n");
		writer__row(&writer, (const struct cell[]){
					     cell_number(pool->pid), cell_number(pool->device),
					     cell_text(address),
					     cell_text(pool->imported ? "imported" : "local"),
					     cell_text(stat_report__bytes(size, pool->peak_size)),
					     cell_text(stat_report__bytes(used, pool->peak_used)),
					     cell_count(pool->trims),
					     cell_text(pool->destroyed ? "destroyed" : "held")});
	}
	say_left_out(file, objects->pool_count - i + objects->pools_left_out);
}

void stat_report__text_objects(FILE *file, const struct stat_report *report)
{
	const struct stat_objects *objects = report->table->objects;

	if (!objects)
		return;
	put_pools(file, objects, report->most_kernels);
	put_devices(file, objects);
	put_contexts(file, objects, report->most_kernels);
	put_streams(file, objects, report->most_kernels);
}

static void put_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static struct json_object *device(const struct stat_device *of)
{
	struct json_object *object = json_object_new_object();
	struct device_text text;

	show_device(&text, &of->record);
	put_number(object, "device", of->record.device);
	stat_json__put_text(object, "name", of->name);
	stat_json__put_text(object, "uuid", text.uuid);
	stat_json__put_text(object, "pci", text.pci);
	stat_json__put_text(object, "compute_capability", text.capability);
	put_number(object, "memory_bytes", of->record.memory);
	put_number(object, "multiprocessors", of->record.multiprocessors);
	json_object_object_add(object, "mig", json_object_new_boolean(of->record.mig));
	put_number(object, "processes", of->processes);
	return object;
}

static struct json_object *context(const struct stat_context *of)
{
	struct json_object *object = json_object_new_object();
	bool green = of->record.green;

	put_number(object, "pid", of->pid);
	put_number(object, "context", of->record.context);
	put_number(object, "device", of->record.device);
	stat_json__put_text(object, "kind", green ? "green" : "context");
	json_object_object_add(object, "parent_context",
			       green ? json_object_new_uint64(of->record.parent) : NULL);
	json_object_object_add(object, "multiprocessors",
			       green ? json_object_new_uint64(of->record.multiprocessors) : NULL);
	return object;
}

static struct json_object *streams(const struct stat_streams *of)
{
	struct json_object *object = json_object_new_object();

	put_number(object, "pid", of->pid);
	put_number(object, "context", of->context);
	stat_json__put_text(object, "kind", stat_objects__stream_key(of->flag));
	json_object_object_add(object, "priority", json_object_new_int(of->priority));
	put_number(object, "count", of->count);
	return object;
}

static struct json_object *pool(const struct stat_pool *of)
{
	struct json_object *object = json_object_new_object();
	char address[24];

	snprintf(address, sizeof(address), "0x%" PRIx64, of->address);
	put_number(object, "pid", of->pid);
	put_number(object, "device", of->device);
	stat_json__put_text(object, "address", address);
	stat_json__put_text(object, "kind", of->imported ? "imported" : "local");
	put_number(object, "peak_size_bytes", of->peak_size);
	put_number(object, "peak_used_bytes", of->peak_used);
	put_number(object, "release_threshold", of->threshold);
	put_number(object, "trims", of->trims);
	json_object_object_add(object, "destroyed", json_object_new_boolean(of->destroyed));
	return object;
}

#define PUT_ARRAY(to, key, lines, count, of)                           \
	do {                                                           \
		struct json_object *array = json_object_new_array();   \
                                                                       \
		for (uint32_t i = 0; i < (count); i++)                 \
			json_object_array_add(array, of(&(lines)[i])); \
		json_object_object_add(to, key, array);                \
	} while (0)

void stat_json__put_objects(struct json_object *object, const struct stat_report *report)
{
	static const struct stat_objects none;
	const struct stat_objects *of = report->table->objects ? report->table->objects : &none;
	struct json_object *left_out = json_object_new_object();

	PUT_ARRAY(object, "devices", of->devices, of->device_count, device);
	PUT_ARRAY(object, "contexts", of->contexts, of->context_count, context);
	PUT_ARRAY(object, "streams", of->streams, of->stream_count, streams);
	PUT_ARRAY(object, "pools", of->pools, of->pool_count, pool);
	put_number(left_out, "devices", of->devices_left_out);
	put_number(left_out, "contexts", of->contexts_left_out);
	put_number(left_out, "streams", of->streams_left_out);
	put_number(left_out, "pools", of->pools_left_out);
	json_object_object_add(object, "left_out", left_out);
}
