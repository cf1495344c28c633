// SPDX-License-Identifier: BSD-2-Clause
/* Filling the lanes: one pass to see how much there is, one to take it. */
#include "cuda-trace/export/export_lanes.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/export/export_lane_names.h"
#include "cuda-trace/report/report_scan.h"
#include "cuda-trace/report/report_times.h"

/* Each gives start, end, process, device, number of the lane, name, class of API and correlation.
 * The name is an id of StringIds, or what the category makes of a number. */
static const struct source {
	const char *table, *columns, *where;
	enum lane_kind kind;
	char category;
	char detail; /* category of the details that follow; 0: there are none */
	const char *details[DETAIL_VALUES];
} sources[] = {
	{"CUPTI_ACTIVITY_KIND_KERNEL",
	 "start, end, globalPid AS p, deviceId AS d, streamId AS n, demangledName, 0, "
	 "correlationId",
	 "",
	 LANE_STREAM,
	 'k',
	 'k',
	 {"deviceId", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread",
	  "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread"}},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
	 "start, end, globalPid AS p, deviceId AS d, streamId AS n, copyKind, 0, correlationId",
	 "",
	 LANE_STREAM,
	 'c',
	 'c',
	 {"bytes", "srcKind", "dstKind"}},
	{"CUPTI_ACTIVITY_KIND_MEMSET",
	 "start, end, globalPid AS p, deviceId AS d, streamId AS n, 0, 0, correlationId",
	 "",
	 LANE_STREAM,
	 's',
	 's',
	 {"bytes", "value"}},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	 "start, end, globalPid AS p, deviceId AS d, streamId AS n, graphExecId, 0, correlationId",
	 "",
	 LANE_STREAM,
	 'g',
	 0,
	 {NULL}},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	 "start, end, globalPid AS p, 0 AS d, 0 AS n, syncType, 0, 0",
	 "",
	 LANE_WAITS,
	 'w',
	 0,
	 {NULL}},
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
	 "start, end, globalTid AS p, 0 AS d, globalTid & 0xffffff AS n, nameId, eventClass, "
	 "correlationId",
	 "",
	 LANE_DRIVER,
	 'd',
	 'h',
	 {"callchainId"}},
	{"CUDA_TRACE_THREAD_STATES",
	 "start, end, globalTid AS p, 0 AS d, globalTid & 0xffffff AS n, waitsFor, 0, 0",
	 "WHERE state BETWEEN 2 AND 4",
	 LANE_STATES,
	 'b',
	 0,
	 {NULL}},
	{"CUDA_TRACE_THREAD_STATES",
	 "start, end, globalTid AS p, 0 AS d, globalTid & 0xffffff AS n, waker, 0, 0",
	 "WHERE state = 1",
	 LANE_STATES,
	 'y',
	 0,
	 {NULL}},
	/* Between two waits it ran. Where some were lost, nothing is claimed of the rest. */
	{"CUDA_TRACE_THREAD_STATES",
	 "end, coalesce(lead(start) OVER (PARTITION BY globalTid ORDER BY start), end), "
	 "globalTid AS p, 0 AS d, globalTid & 0xffffff AS n, 0, 0, 0",
	 "WHERE state BETWEEN 1 AND 4 AND NOT EXISTS (SELECT 1 FROM CUDA_TRACE_THREAD_STATES WHERE "
	 "state = 5)",
	 LANE_STATES,
	 'a',
	 0,
	 {NULL}},
	{"NVTX_EVENTS",
	 "start, end, globalTid AS p, 0 AS d, globalTid & 0xffffff AS n, textId, 0, 0",
	 "WHERE eventType IN (59, 60) AND end IS NOT NULL",
	 LANE_RANGES,
	 'n',
	 0,
	 {NULL}},
};

enum { START, END, PROCESS, DEVICE, NUMBER, NAME, CLASS, CORRELATION, DETAILS };

/* A filling in a thread of its own. */
struct lanes_job {
	struct report_file file; /* lent */
	const struct report_file *lender;
	pthread_t thread;
	int err;
	struct lanes lanes;
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

/* Where a stream's or a thread's events go. */
struct place {
	int64_t global, device, number;
	enum lane_kind kind;
	uint32_t lane; /* index + 1; 0 = none */
};

/* What has no place beyond these (32 MiB) is in a shared lane and counted again each time. */
#define MAX_PLACES (1u << 19)

struct filling {
	struct lanes *lanes;
	const struct report_file *file;
	struct lane_names names;
	const struct source *source; /* the one that is read */
	struct place *places;
	size_t place_count, place_capacity;
	struct key_index index; /* of places */
	struct place recent;	/* of the last row */
};

static bool same_place(const struct place *a, const struct place *b)
{
	return a->kind == b->kind && a->number == b->number && a->device == b->device &&
	       a->global == b->global;
}

static uint64_t place_key(const struct place *place)
{
	uint64_t key = key_index__mix(place->global, place->number);

	return key_index__mix(key_index__mix(key, place->device), place->kind);
}

static struct lane *new_lane(struct lanes *lanes, const struct place *place)
{
	struct lane *lane = &lanes->list[lanes->count++];

	*lane = (struct lane){
		.kind = place->kind,
		.global = place->global,
		.device = place->device,
		.number = place->number,
	};
	return lane;
}

/* The first streams and threads of a group (a process's streams on one GPU, its threads' ranges)
 * have a lane each, its others share one, so that no process takes the place of another. */
static struct lane *choose_lane(struct lanes *lanes, const struct place *place)
{
	struct lane *shared = NULL;
	size_t own = 0;

	for (size_t i = 0; i < lanes->count; i++) {
		struct lane *lane = &lanes->list[i];

		if (lane->kind != place->kind || lane->global != place->global ||
		    lane->device != place->device)
			continue;
		own += !lane->merged;
		shared = lane->merged ? lane : shared;
	}
	if (own < LANES_OF_GROUP && lanes->count < LANES_MAX - 1)
		return new_lane(lanes, place);
	if (!shared && lanes->count < LANES_MAX - 1)
		shared = new_lane(lanes, place);
	if (!shared && lanes->count < LANES_MAX)
		new_lane(lanes, place)->kind = LANE_OTHERS;
	if (!shared)
		shared = &lanes->list[LANES_MAX - 1];
	shared->merged++;
	return shared;
}

static struct lane *find_lane(struct filling *filling, enum lane_kind kind, int64_t global,
			      int64_t device, int64_t number)
{
	struct place place = {global & ~0xffffffll, device, number, kind, 0};
	struct lanes *lanes = filling->lanes;
	struct lane *lane;
	uint64_t key;
	ssize_t known;

	if (filling->recent.lane && same_place(&filling->recent, &place))
		return &lanes->list[filling->recent.lane - 1];
	key = place_key(&place);
	known = key_index__match(&filling->index, key, i, same_place(&filling->places[i], &place));
	if (known >= 0) {
		filling->recent = filling->places[known];
		return &lanes->list[filling->recent.lane - 1];
	}
	if (filling->place_count < MAX_PLACES &&
	    (!array_grow__for_one(filling->places, filling->place_capacity, filling->place_count) ||
	     !key_index__add(&filling->index, key, filling->place_count)))
		return NULL;
	lane = choose_lane(lanes, &place);
	place.lane = lane - lanes->list + 1;
	filling->recent = place;
	if (filling->place_count < MAX_PLACES)
		filling->places[filling->place_count++] = place;
	return lane;
}

static int add_item(struct lane *lane, const struct lane_item *item)
{
	if (!array_grow__for_one(lane->items, lane->capacity, lane->count))
		return -ENOMEM;
	lane->items[lane->count++] = *item;
	return 0;
}

static int add_to_cell(struct lanes *lanes, struct lane *lane, const struct lane_item *item)
{
	uint64_t length = item->end - item->start;
	struct lane_cell *cell;

	if (!lane->cells)
		lane->cells = calloc(lanes->cells + 1, sizeof(*lane->cells));
	if (!lane->cells)
		return -ENOMEM;
	cell = &lane->cells[(item->start - lanes->begin) / lanes->cell];
	if (!cell->count || item->start < cell->first)
		cell->first = item->start;
	if (!cell->count || item->end > cell->last)
		cell->last = item->end;
	if (!cell->count || length > cell->longest) {
		cell->longest = length;
		cell->name = item->name;
	}
	cell->count++;
	cell->busy += length;
	return 0;
}

/* Of an event that is in the page by itself. */
static void fill_detail(struct filling *filling, struct lane_item *item, sqlite3_value **row)
{
	const struct source *source = filling->source;
	struct detail detail = {.category = source->detail};

	item->correlation = sqlite3_value_int64(row[CORRELATION]);
	if (item->correlation < 0 || item->correlation > UINT32_MAX)
		item->correlation = 0; /* CUPTI's have 32 bits */
	if (!source->detail ||
	    (source->detail == 'h' && sqlite3_value_type(row[DETAILS]) == SQLITE_NULL))
		return;
	for (int i = 0; i < DETAIL_VALUES && source->details[i]; i++)
		detail.values[i] = sqlite3_value_type(row[DETAILS + i]) == SQLITE_NULL
					   ? DETAIL_UNKNOWN
					   : sqlite3_value_int64(row[DETAILS + i]);
	item->detail = details__find(&filling->lanes->details, &detail);
}

static int add_row(void *context, int columns, sqlite3_value **row)
{
	struct filling *filling = context;
	struct lanes *lanes = filling->lanes;
	struct lane_item item = {
		.start = sqlite3_value_int64(row[START]),
		.end = sqlite3_value_int64(row[END]),
		.count = 1,
	};
	const struct source *source = filling->source;
	/* Calls of the runtime contain those of the driver: two lanes for one thread. */
	bool runtime = source->kind == LANE_DRIVER && !sqlite3_value_int(row[CLASS]);
	struct lane *lane;
	int64_t name;

	if (item.end < item.start || item.start < lanes->begin || item.end > lanes->end) {
		lanes->invalid++;
		return 0;
	}
	/* After its last wait nothing is known of a thread. */
	if (source->category == 'a' && item.end == item.start)
		return 0;
	name = lane_names__find(&filling->names, runtime ? 'r' : source->category,
				sqlite3_value_int64(row[NAME]));
	if (name < 0)
		return name;
	lane = find_lane(filling, runtime ? LANE_RUNTIME : source->kind,
			 sqlite3_value_int64(row[PROCESS]), sqlite3_value_int64(row[DEVICE]),
			 sqlite3_value_int64(row[NUMBER]));
	if (!lane)
		return -ENOMEM;
	item.name = name;
	item.busy = item.end - item.start;
	/* What is as long as a cell stands for itself, while the lane has place for it. */
	if (lanes->cell && (item.end - item.start < lanes->cell || lane->count >= LANES_CELLS))
		return add_to_cell(lanes, lane, &item);
	fill_detail(filling, &item, row);
	return add_item(lane, &item);
}

static int read_source(struct filling *filling, const struct source *source)
{
	sqlite3_str *sql;
	char *text;
	int err = -ENOMEM;

	if (!report_file__has(filling->file, source->table, NULL))
		return 0;
	sql = sqlite3_str_new(filling->file->db);
	sqlite3_str_appendf(sql, "SELECT %s", source->columns);
	/* Older exports lack some columns. */
	for (int i = 0; i < DETAIL_VALUES && source->details[i]; i++)
		sqlite3_str_appendf(
			sql, ", %s",
			report_file__has(filling->file, source->table, source->details[i])
				? source->details[i]
				: "NULL");
	sqlite3_str_appendf(sql, " FROM %s %s", source->table, source->where);
	text = sqlite3_str_finish(sql);
	filling->source = source;
	if (text)
		err = scan__run(filling->file, text, add_row, filling);
	sqlite3_free(text);
	return err;
}

/* How much there is, and from when to when. */
static int measure(struct lanes *lanes, const struct report_file *file)
{
	bool any = false;

	for (size_t i = 0; i < SOURCES; i++) {
		sqlite3_stmt *statement;
		char sql[512];

		if (!report_file__has(file, sources[i].table, NULL))
			continue;
		snprintf(sql, sizeof(sql),
			 "SELECT count(*), min(start), max(end) FROM %s %s %s end >= start AND "
			 "start >= %" PRId64 " AND end <= %" PRId64,
			 sources[i].table, sources[i].where, *sources[i].where ? "AND" : "WHERE",
			 -REPORT_TIMES_EDGE, REPORT_TIMES_EDGE);
		if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
			return report_file__complain(file);
		if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0)) {
			int64_t begin = sqlite3_column_int64(statement, 1);
			int64_t end = sqlite3_column_int64(statement, 2);

			lanes->events += sqlite3_column_int64(statement, 0);
			lanes->begin = any && lanes->begin < begin ? lanes->begin : begin;
			lanes->end = any && lanes->end > end ? lanes->end : end;
			any = true;
		}
		sqlite3_finalize(statement);
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct lane_item *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
				    : (x->end < y->end) - (x->end > y->end);
}

/* Cells become items among the others, all in order. */
static int settle(struct lanes *lanes, struct lane *lane)
{
	int err = 0;

	for (size_t i = 0; lane->cells && !err && i <= lanes->cells; i++) {
		const struct lane_cell *cell = &lane->cells[i];
		struct lane_item item = {
			.start = cell->first,
			.end = cell->last,
			.busy = cell->busy,
			.count = cell->count,
			.name = cell->name,
		};

		if (cell->count)
			err = add_item(lane, &item);
	}
	free(lane->cells);
	lane->cells = NULL;
	qsort(lane->items, lane->count, sizeof(*lane->items), by_start);
	return err;
}

/* How many lanes will share the cells: as good a guess as the sum of streams and threads. */
static void choose_cells(struct lanes *lanes, const struct report_file *file)
{
	int64_t count = 1;

	if (lanes->events <= LANES_ALL_KEPT)
		return;
	for (size_t i = 0; i < SOURCES; i++) {
		char sql[512];

		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM (SELECT DISTINCT p, d, n FROM (SELECT %s FROM %s %s "
			 "LIMIT 1000000))",
			 sources[i].columns, sources[i].table, sources[i].where);
		count += report_file__number(file, sql, 0);
	}
	lanes->cells = LANES_CELLS / (count < LANES_MAX ? count : LANES_MAX);
	lanes->cell = (lanes->end - lanes->begin) / lanes->cells + 1;
}

int lanes__read(struct lanes *lanes, const struct report_file *file, struct names_of_file *names)
{
	struct filling filling = {
		.lanes = lanes, .file = file, .names = {.lanes = lanes, .strings = names}};
	int err;

	memset(lanes, 0, sizeof(*lanes));
	err = measure(lanes, file);
	if (!err)
		choose_cells(lanes, file);
	for (size_t i = 0; !err && i < SOURCES; i++)
		err = read_source(&filling, &sources[i]);
	for (size_t i = 0; !err && i < lanes->count; i++)
		err = settle(lanes, &lanes->list[i]);
	lane_names__free(&filling.names);
	free(filling.places);
	key_index__free(&filling.index);
	if (err)
		lanes__free(lanes);
	return err;
}

static void *read_aside(void *context)
{
	struct lanes_job *job = context;
	struct names_of_file *names = NULL;

	job->err = export_names__open(&names, &job->file);
	if (!job->err)
		job->err = lanes__read(&job->lanes, &job->file, names);
	export_names__close(names);
	return NULL;
}

int lanes__start(struct lanes_job **result, const struct report_file *file)
{
	struct lanes_job *job = calloc(1, sizeof(*job));
	int err = job ? report_file__lend(file, &job->file) : -ENOMEM;

	if (err) {
		free(job);
		return err;
	}
	job->lender = file;
	err = -pthread_create(&job->thread, NULL, read_aside, job);
	if (err) {
		fprintf(stderr, "cuda-trace: cannot start a thread: %s\n", strerror(-err));
		report_file__return(file, &job->file);
		free(job);
		return err;
	}
	*result = job;
	return 0;
}

int lanes__wait(struct lanes_job *job, struct lanes **lanes)
{
	pthread_join(job->thread, NULL);
	report_file__return(job->lender, &job->file);
	*lanes = &job->lanes;
	return job->err;
}

void lanes__end(struct lanes_job *job)
{
	if (!job->err)
		lanes__free(&job->lanes);
	free(job);
}

void lanes__free(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->count; i++) {
		free(lanes->list[i].items);
		free(lanes->list[i].cells);
	}
	for (size_t i = 0; i < lanes->name_count; i++)
		free(lanes->names[i].text);
	free(lanes->names);
	details__free(&lanes->details);
	memset(lanes, 0, sizeof(*lanes));
}
