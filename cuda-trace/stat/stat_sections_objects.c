// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: devices, contexts, streams and memory pools.
 */
#include <inttypes.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/stat/stat_sections.h"

static const struct stat_objects *objects_of(const struct stat_report *report)
{
	static const struct stat_objects none;

	return report->table->objects ? report->table->objects : &none;
}

static void end(struct sheet *sheet, uint64_t left_out)
{
	char text[32];

	sheet__end(sheet);
	if (left_out)
		sheet__say(sheet, " ... and %s more\n", text__count(text, left_out));
}

static void put_device(struct sheet *sheet, const struct stat_device *of)
{
	const struct cuda_device *device = &of->record;
	char capability[16], uuid[48], pci[17];

	snprintf(capability, sizeof(capability), "%u.%u", device->major % 1000,
		 device->minor % 1000);
	snprintf(pci, sizeof(pci), "%.16s", device->pci);
	stat_objects__uuid(uuid, device->mig ? "MIG" : "GPU",
			   device->mig ? device->mig_uuid : device->uuid);
	sheet__row(sheet, NULL);
	sheet__column(sheet, 0, "GPU", 3, "device", cell_number(device->device));
	sheet__column(sheet, 6, "NAME", 0, "name", cell_text(of->name));
	sheet__column(sheet, 5, "UUID", -40, "uuid", cell_text(uuid));
	sheet__column(sheet, 4, "PCI", -12, "pci", cell_text(pci));
	sheet__column(sheet, 1, "CAPABILITY", 10, "compute_capability", cell_text(capability));
	sheet__column(sheet, 2, "MEMORY", 11, "memory_bytes", cell_bytes(device->memory));
	sheet__column(sheet, 3, "SMS", 4, "multiprocessors", cell_number(device->multiprocessors));
	sheet__put(sheet, "mig", cell_bool(device->mig));
	sheet__put(sheet, "processes", cell_number(of->processes));
	sheet__row_end(sheet);
}

void stat_sections__devices(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_objects *objects = objects_of(report);

	sheet__begin(sheet, "devices", "\nDevices", UINT64_MAX);
	for (uint32_t i = 0; i < objects->device_count; i++)
		put_device(sheet, &objects->devices[i]);
	end(sheet, objects->devices_left_out);
}

static void put_context(struct sheet *sheet, const struct stat_context *of)
{
	const struct cuda_context *context = &of->record;

	if (!sheet__row(sheet, NULL))
		return;
	sheet__column(sheet, 0, "PID", 8, "pid", cell_number(of->pid));
	sheet__column(sheet, 1, "CONTEXT", 8, "context", cell_number(context->context));
	sheet__column(sheet, 2, "GPU", 3, "device", cell_number(context->device));
	sheet__column(sheet, 3, "KIND", -8, "kind",
		      cell_text(context->green ? "green" : "context"));
	sheet__column(sheet, 4, "PARENT", 8, "parent_context",
		      cell_if(context->green, cell_number(context->parent)));
	sheet__column(sheet, 5, "SMS", 4, "multiprocessors",
		      cell_if(context->green, cell_number(context->multiprocessors)));
	sheet__row_end(sheet);
}

void stat_sections__contexts(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_objects *objects = objects_of(report);

	sheet__begin(sheet, "contexts", "\nContexts", report->most_kernels);
	for (uint32_t i = 0; i < objects->context_count; i++)
		put_context(sheet, &objects->contexts[i]);
	end(sheet, sheet->left + objects->contexts_left_out);
}

void stat_sections__streams(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_objects *objects = objects_of(report);
	uint64_t left_out = objects->streams_left_out;

	sheet__begin(sheet, "streams", "\nStreams", report->most_kernels);
	for (uint32_t i = 0; i < objects->stream_count; i++) {
		const struct stat_streams *streams = &objects->streams[i];

		if (!sheet__row(sheet, NULL)) {
			left_out += streams->count;
			continue;
		}
		sheet__column(sheet, 0, "PID", 8, "pid", cell_number(streams->pid));
		sheet__column(sheet, 1, "CONTEXT", 8, "context", cell_number(streams->context));
		sheet__column(sheet, 2, "KIND", -12, "kind",
			      cell_text(stat_objects__stream_key(streams->flag)));
		sheet__column(sheet, 3, "PRIORITY", 8, "priority", cell_signed(streams->priority));
		sheet__column(sheet, 4, "COUNT", 11, "count", cell_count(streams->count));
		sheet__row_end(sheet);
	}
	end(sheet, left_out);
}

static void put_pool(struct sheet *sheet, const struct stat_pool *pool)
{
	char address[24];

	if (!sheet__row(sheet, NULL))
		return;
	snprintf(address, sizeof(address), "0x%" PRIx64, pool->address);
	sheet__column(sheet, 0, "PID", 8, "pid", cell_number(pool->pid));
	sheet__column(sheet, 1, "GPU", 3, "device", cell_number(pool->device));
	sheet__column(sheet, 2, "ADDRESS", 18, "address", cell_text(address));
	sheet__column(sheet, 3, "KIND", -8, "kind",
		      cell_text(pool->imported ? "imported" : "local"));
	sheet__column(sheet, 4, "SIZE, PEAK", 11, "peak_size_bytes", cell_bytes(pool->peak_size));
	sheet__column(sheet, 5, "USED, PEAK", 11, "peak_used_bytes", cell_bytes(pool->peak_used));
	sheet__put(sheet, "release_threshold", cell_number(pool->threshold));
	sheet__column(sheet, 6, "TRIMS", 8, "trims", cell_count(pool->trims));
	sheet__column(sheet, 7, "STATE", 0, NULL,
		      cell_text(pool->destroyed ? "destroyed" : "held"));
	sheet__put(sheet, "destroyed", cell_bool(pool->destroyed));
	sheet__row_end(sheet);
}

void stat_sections__pools(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_objects *objects = objects_of(report);

	sheet__begin(sheet, "pools", "\nMemory pools", report->most_kernels);
	for (uint32_t i = 0; i < objects->pool_count; i++)
		put_pool(sheet, &objects->pools[i]);
	end(sheet, sheet->left + objects->pools_left_out);
}

void stat_sections__objects_left_out(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_objects *objects = objects_of(report);

	sheet__open(sheet, "objects_left_out", '{');
	sheet__put(sheet, "devices", cell_number(objects->devices_left_out));
	sheet__put(sheet, "contexts", cell_number(objects->contexts_left_out));
	sheet__put(sheet, "streams", cell_number(objects->streams_left_out));
	sheet__put(sheet, "pools", cell_number(objects->pools_left_out));
	sheet__close(sheet);
}
