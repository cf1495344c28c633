// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording as Perfetto's own format: packets of one sequence, in which names are interned before
 * they are used. Trace processor sorts by time, so that rows may come by process, stream and
 * thread. Work of the GPU is a "render stage" with the fields for compute kernels, and a launch
 * names the events that it submitted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/export/export.h"
#include "cuda-trace/export/export_perfetto.h"
#include "cuda-trace/report/report_times.h"

#define SEQUENCE    1
#define BEGINS_ANEW 1
#define USES_NAMES  2
#define CLOCK_UTC   1
#define CLOCK_BOOT  6
#define PACKET_TAG  (1 << 3 | 2) /* Trace.packet, with a length */
#define MAX_VARINT  10

static size_t put_varint(uint8_t *out, uint64_t value)
{
	size_t size = 0;

	for (; value > 0x7f; value >>= 7)
		out[size++] = value | 0x80;
	out[size++] = value;
	return size;
}

static void put_packet(struct perfetto *perfetto, Perfetto__TracePacket *packet)
{
	size_t size = perfetto__trace_packet__get_packed_size(packet);
	uint8_t head[1 + MAX_VARINT] = {PACKET_TAG};
	size_t head_size = 1 + put_varint(head + 1, size);

	if (perfetto->err)
		return;
	if (!array_grow__to(perfetto->buffer, perfetto->buffer_size, size)) {
		perfetto->err = -ENOMEM;
		return;
	}
	perfetto__trace_packet__pack(packet, perfetto->buffer);
	fwrite(head, 1, head_size, perfetto->out);
	fwrite(perfetto->buffer, 1, size, perfetto->out);
}

void perfetto__put(struct perfetto *perfetto, int64_t ns, Perfetto__TracePacket *packet)
{
	packet->has_timestamp = true;
	packet->timestamp = ns;
	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->has_sequence_flags = true;
	packet->sequence_flags |= USES_NAMES;
	put_packet(perfetto, packet);
}

void perfetto__intern(struct perfetto *perfetto, Perfetto__InternedData *data)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	perfetto__put(perfetto, 0, &packet);
}

int perfetto__each(struct perfetto *perfetto, const char *sql,
		   void (*put)(struct perfetto *, sqlite3_stmt *, void *), void *context)
{
	sqlite3_stmt *statement;
	int code;

	if (sqlite3_prepare_v2(perfetto->file->db, sql, -1, &statement, NULL))
		return report_file__complain(perfetto->file);
	while (!perfetto->err && (code = sqlite3_step(statement)) == SQLITE_ROW)
		put(perfetto, statement, context);
	sqlite3_finalize(statement);
	if (perfetto->err)
		return perfetto->err;
	return code == SQLITE_DONE ? 0 : report_file__complain(perfetto->file);
}

bool perfetto__is_span(struct perfetto *perfetto, int64_t start, int64_t end)
{
	if (start >= 0 && report_times__are_possible(start, end))
		return true;
	perfetto->invalid++;
	return false;
}

int perfetto__lane(struct perfetto *perfetto, struct perfetto_lanes *lanes, int64_t start,
		   int64_t end)
{
	for (unsigned int i = 0; i < lanes->count; i++) {
		if (lanes->end[i] <= start) {
			lanes->end[i] = end;
			return i;
		}
	}
	if (lanes->count == PERFETTO_LANES) {
		perfetto->crowded++;
		return -1;
	}
	lanes->end[lanes->count] = end;
	return lanes->count++;
}

/* 0 would mean that there is none. */
uint64_t perfetto__name(int64_t string)
{
	return (uint64_t)string + 1;
}

uint64_t perfetto__process_track(int64_t global)
{
	return (uint64_t)global << 1 | 1;
}

uint64_t perfetto__new_track(struct perfetto *perfetto, const char *name, uint64_t parent,
			     bool counts)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;

	track.has_uuid = true;
	track.uuid = 1ull << 63 | perfetto->tracks++;
	track.name = (char *)name;
	track.has_parent_uuid = parent != 0;
	track.parent_uuid = parent;
	track.counter = counts ? &counter : NULL;
	packet.track_descriptor = &track;
	perfetto__put(perfetto, 0, &packet);
	return track.uuid;
}

/* Times of the file as the boot clock, which is the trace's, and what they are in UTC. */
static void put_clocks(struct perfetto *perfetto)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clocks[2] = {PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT,
						    PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT};
	Perfetto__ClockSnapshot__Clock *list[2] = {&clocks[0], &clocks[1]};

	clocks[0].has_clock_id = clocks[0].has_timestamp = true;
	clocks[0].clock_id = CLOCK_BOOT;
	clocks[1].has_clock_id = clocks[1].has_timestamp = true;
	clocks[1].clock_id = CLOCK_UTC;
	clocks[1].timestamp = report_file__number(
		perfetto->file, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", 0);
	snapshot.n_clocks = 2;
	snapshot.clocks = list;
	packet.clock_snapshot = &snapshot;
	packet.sequence_flags = BEGINS_ANEW;
	perfetto__put(perfetto, 0, &packet);
}

static void put_process(struct perfetto *perfetto, sqlite3_stmt *row, void *unused)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	int64_t global = sqlite3_column_int64(row, 0);

	(void)unused;
	process.has_pid = true;
	process.pid = global >> 24 & 0xffffff;
	process.process_name = (char *)export_names__command(perfetto->names, global);
	track.has_uuid = true;
	track.uuid = perfetto__process_track(global);
	track.process = &process;
	packet.track_descriptor = &track;
	perfetto__put(perfetto, 0, &packet);
}

static int put_processes(struct perfetto *perfetto)
{
	static const struct {
		const char *table, *column;
	} sources[] = {
		{"CUPTI_ACTIVITY_KIND_KERNEL", "globalPid"},
		{"CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid"},
		{"CUPTI_ACTIVITY_KIND_MEMSET", "globalPid"},
		{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "globalPid"},
		{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "globalPid"},
		{"CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"},
		{"NVTX_EVENTS", "globalTid"},
	};
	char sql[1024] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (!report_file__has(perfetto->file, sources[i].table, sources[i].column))
			continue;
		used += snprintf(sql + used, sizeof(sql) - used, "%sSELECT %s & ~0xffffff FROM %s",
				 used ? " UNION " : "", sources[i].column, sources[i].table);
	}
	return used ? perfetto__each(perfetto, sql, put_process, NULL) : 0;
}

static void put_loss(struct perfetto *perfetto, sqlite3_stmt *row, void *context)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint64_t *track = context;
	const char *reason = (const char *)sqlite3_column_text(row, 0);
	char shown[200], text[256];

	if (!*track)
		*track = perfetto__new_track(perfetto, "cuda-trace: not recorded", 0, false);
	snprintf(text, sizeof(text), "%lld lost: %s", (long long)sqlite3_column_int64(row, 1),
		 text__show(shown, sizeof(shown), reason, 0));
	event.has_type = true;
	event.type = PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT;
	event.has_track_uuid = true;
	event.track_uuid = *track;
	event.name = text;
	packet.track_event = &event;
	perfetto__put(perfetto, 0, &packet);
}

/* At the beginning, where whoever opens the file looks first. */
static int put_losses(struct perfetto *perfetto)
{
	uint64_t track = 0;

	if (!report_file__has(perfetto->file, "CUDA_TRACE_LOST", "reason"))
		return 0;
	return perfetto__each(perfetto,
			      "SELECT stage || '.' || reason, count FROM CUDA_TRACE_LOST WHERE "
			      "count > 0 AND stage IS NOT NULL AND reason IS NOT NULL",
			      put_loss, &track);
}

static void complain(const struct perfetto *perfetto)
{
	if (perfetto->invalid)
		fprintf(stderr, "cuda-trace: %llu rows have impossible times and are left out\n",
			(unsigned long long)perfetto->invalid);
	if (perfetto->crowded)
		fprintf(stderr,
			"cuda-trace: %llu spans are left out: more than %d of one stream or "
			"process "
			"overlap\n",
			(unsigned long long)perfetto->crowded, PERFETTO_LANES);
	if (perfetto->unlinked)
		fprintf(stderr, "cuda-trace: %llu kernels and copies have no arrow: too many\n",
			(unsigned long long)perfetto->unlinked);
}

static int write_all(struct perfetto *perfetto)
{
	int err = export_names__open(&perfetto->names, perfetto->file);

	if (!err)
		err = export_callstacks__open(&perfetto->callstacks, perfetto->file,
					      perfetto->names);
	if (!err && !(perfetto->gpus = report_gpus__read(perfetto->file)))
		err = -ENOMEM;
	if (err)
		return err;
	put_clocks(perfetto);
	err = put_processes(perfetto);
	if (!err)
		err = put_losses(perfetto);
	if (!err)
		err = perfetto__put_gpu(perfetto);
	if (!err)
		err = perfetto__put_host(perfetto);
	return err ? err : perfetto->err;
}

int export_perfetto(const struct report_file *file, FILE *out)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
	int err;

	if (!perfetto)
		return -ENOMEM;
	perfetto->file = file;
	perfetto->out = out;
	err = write_all(perfetto);
	if (!err)
		complain(perfetto);
	report_gpus__free(perfetto->gpus);
	export_callstacks__close(perfetto->callstacks);
	export_names__close(perfetto->names);
	free(perfetto->work);
	free(perfetto->buffer);
	free(perfetto);
	return err;
}
