// SPDX-License-Identifier: BSD-2-Clause
/*
 * Perfetto's slices of the host: calls of the CUDA API and NVTX ranges by thread, ranges that begin
 * and end anywhere, waits, and what threads did. A call names the work of the GPU that it
 * submitted.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/export/export_perfetto.h"
#include "cuda-trace/export/export_ranges.h"
#include "cuda-trace/report/report_thread_states.h"

#define API_CUDA   4
#define MAX_EVENTS 4096 /* that one launch names: a graph's nodes */
#define MAX_FRAMES 128

enum what { RUNTIME_CALL, DRIVER_CALL, RANGE, ASYNCHRONOUS, WAIT, STATE, CATEGORIES };
enum column { GLOBAL, START, END, WHAT, NAME, CORRELATION, RESULT, CHAIN, TEXT, GROUP, PAYLOAD };

struct thread {
	int64_t global;
	bool open;
	uint64_t track;
	int64_t linked; /* correlation id of the call that named its work last: an outer call did */
	int64_t ends[PERFETTO_LANES]; /* of the slices that are open on its track, outermost first
				       */
	unsigned int depth;
	struct perfetto_lanes lanes; /* of what is not on its track */
	uint64_t tracks[PERFETTO_LANES];
};

static int by_launch(const void *one, const void *two)
{
	const struct perfetto_work *a = one, *b = two;

	if (a->global != b->global)
		return a->global < b->global ? -1 : 1;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

static bool is_before(const struct perfetto_work *work, int64_t global, int64_t correlation)
{
	return work->global < global || (work->global == global && work->correlation < correlation);
}

/* The first of a launch's; NULL = it made nothing that was recorded. */
static const struct perfetto_work *find_work(const struct perfetto *perfetto, int64_t global,
					     int64_t correlation)
{
	uint32_t low = sorted__count_before(perfetto->work_count, i,
					    is_before(&perfetto->work[i], global, correlation));

	if (low == perfetto->work_count || perfetto->work[low].global != global ||
	    perfetto->work[low].correlation != correlation)
		return NULL;
	return &perfetto->work[low];
}

static void put_categories(struct perfetto *perfetto)
{
	static const char *const names[CATEGORIES] = {"cuda_runtime", "cuda_driver", "nvtx", "nvtx",
						      "wait",	      "thread_state"};
	Perfetto__InternedName categories[CATEGORIES], *list[CATEGORIES];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	for (int i = 0; i < CATEGORIES; i++) {
		list[i] = &categories[i];
		perfetto__interned_name__init(&categories[i]);
		categories[i].has_iid = true;
		categories[i].iid = i + 1;
		categories[i].name = (char *)names[i];
	}
	data.n_event_categories = CATEGORIES;
	data.event_categories = list;
	perfetto__intern(perfetto, &data);
}

static void put_call_name(struct perfetto *perfetto, sqlite3_stmt *row, void *unused)
{
	Perfetto__InternedName name = PERFETTO__INTERNED_NAME__INIT, *names = &name;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	int64_t string = sqlite3_column_int64(row, 0);

	(void)unused;
	name.has_iid = true;
	name.iid = perfetto__name(string);
	name.name = (char *)export_names__string(perfetto->names, string);
	data.n_event_names = 1;
	data.event_names = &names;
	perfetto__intern(perfetto, &data);
}

static uint64_t thread_track(int64_t global)
{
	return (uint64_t)global << 1;
}

static void put_thread(struct perfetto *perfetto, int64_t global)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor descriptor = PERFETTO__THREAD_DESCRIPTOR__INIT;

	descriptor.has_pid = descriptor.has_tid = true;
	descriptor.pid = global >> 24 & 0xffffff;
	descriptor.tid = global & 0xffffff;
	track.has_uuid = true;
	track.uuid = thread_track(global);
	track.thread = &descriptor;
	packet.track_descriptor = &track;
	perfetto__put(perfetto, 0, &packet);
}

/* The two ends of a slice; `begin` has what is said of it. */
static void put_slice(struct perfetto *perfetto, int64_t start, int64_t end,
		      Perfetto__TrackEvent *begin)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackEvent finish = PERFETTO__TRACK_EVENT__INIT;

	begin->has_type = begin->has_track_uuid = true;
	begin->type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
	packet.track_event = begin;
	perfetto__put(perfetto, start, &packet);
	finish.has_type = finish.has_track_uuid = true;
	finish.type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	finish.track_uuid = begin->track_uuid;
	packet.track_event = &finish;
	perfetto__put(perfetto, end, &packet);
}

static void put_call(struct perfetto *perfetto, struct thread *thread, sqlite3_stmt *row,
		     Perfetto__TrackEvent *event)
{
	Perfetto__GpuCorrelation submitted = PERFETTO__GPU_CORRELATION__INIT;
	Perfetto__DebugAnnotation result = PERFETTO__DEBUG_ANNOTATION__INIT, *results = &result;
	Perfetto__TrackEvent__InlineCallstack stack = PERFETTO__TRACK_EVENT__INLINE_CALLSTACK__INIT;
	Perfetto__TrackEvent__Frame frames[MAX_FRAMES], *frame_list[MAX_FRAMES];
	int64_t correlation = sqlite3_column_int64(row, CORRELATION);
	int64_t process = thread->global & ~INT64_C(0xffffff);
	const struct perfetto_work *end = perfetto->work + perfetto->work_count, *work;
	uint64_t events[MAX_EVENTS];
	size_t count = 0;

	event->has_name_iid = event->has_gpu_api = true;
	event->name_iid = perfetto__name(sqlite3_column_int64(row, NAME));
	event->gpu_api = API_CUDA;
	work = correlation && correlation != thread->linked
		       ? find_work(perfetto, process, correlation)
		       : NULL;
	for (; work && work < end && work->global == process && work->correlation == correlation;
	     work++) {
		if (count < MAX_EVENTS)
			events[count++] = work->event;
		else
			perfetto->unlinked++;
	}
	if (count) {
		thread->linked = correlation;
		submitted.n_render_stage_submission_event_ids = count;
		submitted.render_stage_submission_event_ids = events;
		event->gpu_correlation = &submitted;
	}
	if (sqlite3_column_int64(row, RESULT)) {
		result.name = (char *)"result";
		result.has_int_value = true;
		result.int_value = sqlite3_column_int64(row, RESULT);
		event->n_debug_annotations = 1;
		event->debug_annotations = &results;
	}
	if (perfetto->callstacks && sqlite3_column_type(row, CHAIN) != SQLITE_NULL) {
		const char *const *functions = export_callstacks__frames(
			perfetto->callstacks, sqlite3_column_int64(row, CHAIN), &count);

		if (!functions)
			count = 0;
		if (count > MAX_FRAMES)
			count = MAX_FRAMES;
		for (size_t i = 0; i < count; i++) {
			frame_list[i] = &frames[i];
			perfetto__track_event__frame__init(&frames[i]);
			frames[i].function_name = (char *)functions[count - 1 - i];
		}
		stack.n_frames = count;
		stack.frames = frame_list;
		event->callstack = count ? &stack : NULL;
	}
	put_slice(perfetto, sqlite3_column_int64(row, START), sqlite3_column_int64(row, END),
		  event);
}

/* Do slices of a track lie in each other with this one, as Perfetto wants it? Ranges of different
 * NVTX domains need not. */
static bool nests(struct thread *thread, int64_t start, int64_t end)
{
	while (thread->depth && thread->ends[thread->depth - 1] <= start)
		thread->depth--;
	if (thread->depth == PERFETTO_LANES ||
	    (thread->depth && thread->ends[thread->depth - 1] < end))
		return false;
	thread->ends[thread->depth++] = end;
	return true;
}

/* A track of the process for what lies in no thread's calls; 0 = too many overlap. */
static uint64_t track_beside(struct perfetto *perfetto, struct thread *thread, const char *title,
			     int64_t start, int64_t end)
{
	unsigned int known = thread->lanes.count;
	int lane = perfetto__lane(perfetto, &thread->lanes, start, end);

	if (lane < 0)
		return 0;
	if (thread->lanes.count > known)
		thread->tracks[lane] = perfetto__new_track(
			perfetto, title,
			perfetto__process_track(thread->global & ~INT64_C(0xffffff)), false);
	return thread->tracks[lane];
}

/* With its category and its payload, a number or JSON, where it has them. */
static void put_range(struct perfetto *perfetto, sqlite3_stmt *row, Perfetto__TrackEvent *event)
{
	static const char *const names[] = {"category", "payload"};
	Perfetto__DebugAnnotation notes[2], *list[2];
	char shown[2][4096];
	size_t count = 0;

	for (int i = 0; i < 2; i++) {
		int type = sqlite3_column_type(row, GROUP + i);
		Perfetto__DebugAnnotation *note = &notes[count];

		if (type == SQLITE_NULL)
			continue;
		perfetto__debug_annotation__init(note);
		note->name = (char *)names[i];
		note->has_int_value = type == SQLITE_INTEGER;
		note->int_value = sqlite3_column_int64(row, GROUP + i);
		if (type != SQLITE_INTEGER)
			note->string_value = (char *)text__show(
				shown[i], sizeof(shown[i]),
				(const char *)sqlite3_column_text(row, GROUP + i), 0);
		list[count++] = note;
	}
	event->n_debug_annotations = count;
	event->debug_annotations = list;
	put_slice(perfetto, sqlite3_column_int64(row, START), sqlite3_column_int64(row, END),
		  event);
}

static void put_row(struct perfetto *perfetto, sqlite3_stmt *row, void *context)
{
	static const char *const waits[] = {"wait", "event wait", "stream waits for event",
					    "stream wait", "context wait"};
	static const char *const titles[] = {"calls", "calls", "NVTX ranges of other domains",
					     "NVTX start/end ranges", "waits"};
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	int64_t global = sqlite3_column_int64(row, GLOBAL);
	enum what what = sqlite3_column_int64(row, WHAT);
	const char *text = (const char *)sqlite3_column_text(row, TEXT);
	int64_t name = sqlite3_column_int64(row, NAME);
	uint64_t category = what + 1;
	struct thread *thread = context;
	int64_t start = sqlite3_column_int64(row, START), end = sqlite3_column_int64(row, END);
	char shown[1024];

	if (!perfetto__is_span(perfetto, start, end))
		return;
	if (!thread->open || thread->global != global) {
		*thread = (struct thread){
			.global = global, .open = true, .track = thread_track(global)};
		if (what <= RANGE)
			put_thread(perfetto, global);
	}
	event.n_category_iids = 1;
	event.category_iids = &category;
	event.track_uuid = what <= RANGE && nests(thread, start, end)
				   ? thread->track
				   : track_beside(perfetto, thread, titles[what], start, end);
	if (!event.track_uuid)
		return;
	if (what <= DRIVER_CALL) {
		put_call(perfetto, thread, row, &event);
		return;
	}
	event.name = (char *)(what == WAIT ? waits[name > 0 && name < 5 ? name : 0]
			      : text	   ? text__show(shown, sizeof(shown), text, 0)
					   : export_names__string(perfetto->names, name));
	if (what == WAIT)
		put_slice(perfetto, start, end, &event);
	else
		put_range(perfetto, row, &event);
}

/* Calls and the ranges that nest with them: one thread after the other, outer ones first. */
static int put_threads(struct perfetto *perfetto)
{
	const struct report_file *file = perfetto->file;
	bool calls = report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid");
	bool ranges = report_file__has(file, "NVTX_EVENTS", "text");
	struct thread thread = {};
	char sql[2048];
	int err = 0;

	if (calls)
		err = perfetto__each(perfetto,
				     "SELECT DISTINCT nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME",
				     put_call_name, NULL);
	if (err || (!calls && !ranges))
		return err;
	snprintf(sql, sizeof(sql), "%s%s%s%s ORDER BY g, t, e DESC",
		 calls ? "SELECT globalTid AS g, start AS t, end AS e, eventClass <> 0, nameId, "
			 "correlationId, returnValue, "
		       : "",
		 !calls ? ""
		 : report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", "callchainId")
			 ? "callchainId, NULL, NULL, NULL FROM CUPTI_ACTIVITY_KIND_RUNTIME"
			 : "NULL, NULL, NULL, NULL FROM CUPTI_ACTIVITY_KIND_RUNTIME",
		 calls && ranges ? " UNION ALL " : "",
		 ranges ? "SELECT t.globalTid AS g, t.start AS t, t.end AS e, 2, t.textId, 0, 0, "
			  "NULL, t.text, " RANGE_DETAILS " FROM NVTX_EVENTS AS t" RANGE_CATEGORIES
			  "WHERE t.eventType = 59 AND t.end IS NOT NULL"
			: "");
	return perfetto__each(perfetto, sql, put_row, &thread);
}

static int put_process_rows(struct perfetto *perfetto)
{
	const struct report_file *file = perfetto->file;
	struct thread ranges = {}, waits = {};
	int err = 0;

	if (report_file__has(file, "NVTX_EVENTS", "text"))
		err = perfetto__each(
			perfetto,
			"SELECT t.globalTid & ~0xffffff AS g, t.start, t.end, 3, t.textId, 0, 0, "
			"NULL, t.text, " RANGE_DETAILS " FROM NVTX_EVENTS AS t" RANGE_CATEGORIES
			"WHERE t.eventType = 60 AND t.end IS NOT NULL ORDER BY g, t.start",
			put_row, &ranges);
	if (!err && report_file__has(file, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "syncType"))
		err = perfetto__each(
			perfetto,
			"SELECT globalPid AS g, start, end, 4, syncType, 0, 0, NULL, NULL, "
			"NULL, NULL "
			"FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION ORDER BY g, start",
			put_row, &waits);
	return err;
}

/*
 * What threads did, on a track below each thread's. Perfetto's own thread states come from events
 * that say which CPU a thread got, and fill a row for each CPU with them: which CPU it was is not
 * recorded, and of tasks that are not watched nothing is known.
 */
struct state_track {
	struct perfetto *perfetto;
	int64_t global;
	uint64_t track;
};

static void put_state(void *context, const struct report_thread_span *span)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__DebugAnnotation notes[3], *list[3];
	struct state_track *at = context;
	int64_t start = span->start < 0 && span->end >= 0 ? 0 : span->start;
	uint64_t category = STATE + 1;
	const struct {
		const char *name, *text;
		int64_t number;
	} facts[] = {
		{"function", span->function, 0},
		{span->state == THREAD_RUNNABLE ? "had the CPU" : "woken by", span->other, 0},
		{"runnable_ns", "", span->state == THREAD_BLOCKED ? span->runnable : 0},
	};

	/* A wait may have begun before the recording. */
	if (!perfetto__is_span(at->perfetto, start, span->end))
		return;
	if (!at->track || at->global != span->global) {
		at->global = span->global;
		put_thread(at->perfetto, span->global);
		at->track = perfetto__new_track(at->perfetto, "thread state",
						thread_track(span->global), false);
	}
	event.n_category_iids = 1;
	event.category_iids = &category;
	event.track_uuid = at->track;
	event.name = (char *)span->name;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		Perfetto__DebugAnnotation *note = &notes[event.n_debug_annotations];

		if (!*facts[i].text && !facts[i].number)
			continue;
		perfetto__debug_annotation__init(note);
		note->name = (char *)facts[i].name;
		note->string_value = *facts[i].text ? (char *)facts[i].text : NULL;
		note->has_int_value = facts[i].number != 0;
		note->int_value = facts[i].number;
		list[event.n_debug_annotations++] = note;
	}
	event.debug_annotations = list;
	put_slice(at->perfetto, start, span->end, &event);
}

static int put_states(struct perfetto *perfetto)
{
	struct state_track at = {.perfetto = perfetto};

	return report_thread_states__each(perfetto->file, put_state, &at, &perfetto->invalid);
}

int perfetto__put_host(struct perfetto *perfetto)
{
	int err;

	if (perfetto->work_count)
		qsort(perfetto->work, perfetto->work_count, sizeof(*perfetto->work), by_launch);
	put_categories(perfetto);
	err = put_threads(perfetto);
	if (!err)
		err = put_process_rows(perfetto);
	return err ? err : put_states(perfetto);
}
