// SPDX-License-Identifier: BSD-2-Clause
/* Filling the lanes: one pass to see how much there is, one to take it. */
#include "cuda-trace/export/export_lanes.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/report/report_scan.h"
#include "cuda-trace/report/report_times.h"

/* Each gives start, end, kind of lane, process, device, number of the lane, category, name. The
 * name is an id of StringIds, or what the category makes of a number. */
static const struct source {
	const char *table, *columns, *where;
	enum lane_kind kind;
	char category;
} sources[] = {
	{"CUPTI_ACTIVITY_KIND_KERNEL",
	 "start, end, globalPid AS p, deviceId AS d, streamId AS n, demangledName", "", LANE_STREAM,
	 'k'},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
	 "start, end, globalPid AS p, deviceId AS d, streamId AS n, copyKind", "", LANE_STREAM,
	 'c'},
	{"CUPTI_ACTIVITY_KIND_MEMSET",
	 "start, end, globalPid AS p, deviceId AS d, streamId AS n, 0", "", LANE_STREAM, 's'},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	 "start, end, globalPid AS p, deviceId AS d, streamId AS n, graphExecId", "", LANE_STREAM,
	 'g'},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	 "start, end, globalPid AS p, 0 AS d, 0 AS n, syncType", "", LANE_WAITS, 'w'},
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
	 "start, end, globalTid AS p, 0 AS d, globalTid & 0xffffff AS n, nameId, eventClass", "",
	 LANE_DRIVER, 'd'},
	{"NVTX_EVENTS", "start, end, globalTid AS p, 0 AS d, globalTid & 0xffffff AS n, textId",
	 "WHERE eventType IN (59, 60) AND end IS NOT NULL", LANE_RANGES, 'n'},
};

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
	uint32_t lane; /* index + 1; 0 = free */
};

/* What has no place beyond these (32 MiB) is in a shared lane and counted again each time. */
#define MAX_PLACES (1u << 19)

/* Names by category and number, so that each is in the page once. */
struct filling {
	struct lanes *lanes;
	const struct report_file *file;
	struct names_of_file *names;
	const struct source *source; /* the one that is read */
	uint32_t *table;	     /* open addressing: index in lanes.names + 1 */
	int64_t *keys;
	size_t table_room;
	struct place *places; /* open addressing, a power of two */
	size_t place_count, place_capacity;
	struct place recent; /* of the last row */
};

static char *name_text(const struct filling *filling, char category, int64_t number)
{
	static const char *const copies[] = {
		"?",	"HtoD", "DtoH", "HtoA", "AtoH",		"AtoA",		"AtoD",
		"DtoA", "DtoD", "HtoH", "PtoP", "unified HtoD", "unified DtoH", "unified DtoD"};
	static const char *const waits[] = {"?", "event", "stream for event", "stream", "context"};
	char *text = NULL;
	int n = 0;

	if (category == 'c')
		n = asprintf(&text, "Memcpy %s", copies[number > 0 && number < 14 ? number : 0]);
	else if (category == 's')
		n = asprintf(&text, "Memset");
	else if (category == 'g')
		n = asprintf(&text, "CUDA graph %lld", (long long)number);
	else if (category == 'w')
		n = asprintf(&text, "wait: %s", waits[number > 0 && number < 5 ? number : 0]);
	else
		text = strdup(export_names__string(filling->names, number));
	return n < 0 ? NULL : text;
}

static size_t slot_of(const struct filling *filling, int64_t key)
{
	size_t i = ((uint64_t)key * 0x9e3779b97f4a7c15ull) >> 32 & (filling->table_room - 1);

	while (filling->table[i] && filling->keys[i] != key)
		i = (i + 1) & (filling->table_room - 1);
	return i;
}

static int grow_names(struct filling *filling)
{
	struct lanes *lanes = filling->lanes;
	size_t room = lanes->name_room ? lanes->name_room * 2 : 1024,
	       old_room = filling->table_room;
	struct lane_name *names = realloc(lanes->names, room * sizeof(*names));
	uint32_t *table = calloc(room * 2, sizeof(*table)), *old = filling->table;
	int64_t *keys = calloc(room * 2, sizeof(*keys)), *old_keys = filling->keys;

	if (names)
		lanes->names = names;
	if (!names || !table || !keys) {
		free(table);
		free(keys);
		return -ENOMEM;
	}
	lanes->name_room = room;
	filling->table = table;
	filling->keys = keys;
	filling->table_room = room * 2;
	for (size_t i = 0; i < old_room; i++) {
		if (old[i]) {
			size_t slot = slot_of(filling, old_keys[i]);

			table[slot] = old[i];
			keys[slot] = old_keys[i];
		}
	}
	free(old);
	free(old_keys);
	return 0;
}

static int64_t name_index(struct filling *filling, char category, int64_t number)
{
	struct lanes *lanes = filling->lanes;
	int64_t key = (uint64_t)number << 8 | (uint8_t)category;
	size_t slot;

	if (lanes->name_count >= lanes->name_room && grow_names(filling))
		return -ENOMEM;
	slot = slot_of(filling, key);
	if (!filling->table[slot]) {
		struct lane_name *name = &lanes->names[lanes->name_count];

		name->category = category;
		name->text = name_text(filling, category, number);
		if (!name->text)
			return -ENOMEM;
		filling->keys[slot] = key;
		filling->table[slot] = ++lanes->name_count;
	}
	return filling->table[slot] - 1;
}

static bool same_place(const struct place *a, const struct place *b)
{
	return a->kind == b->kind && a->number == b->number && a->device == b->device &&
	       a->global == b->global;
}

static struct place *place_slot(const struct filling *filling, const struct place *place)
{
	uint64_t hash = ((uint64_t)place->global >> 24) * 31 + (uint64_t)place->number;
	size_t i;

	hash = (hash * 31 + (uint64_t)place->device) * 8 + place->kind;
	i = hash * 0x9e3779b97f4a7c15ull >> 32 & (filling->place_capacity - 1);
	while (filling->places[i].lane && !same_place(&filling->places[i], place))
		i = (i + 1) & (filling->place_capacity - 1);
	return &filling->places[i];
}

static int grow_places(struct filling *filling)
{
	size_t before = filling->place_capacity, capacity = before ? before * 2 : 1024;
	struct place *old = filling->places, *places = calloc(capacity, sizeof(*places));

	if (!places)
		return -ENOMEM;
	filling->places = places;
	filling->place_capacity = capacity;
	for (size_t i = 0; i < before; i++)
		if (old[i].lane)
			*place_slot(filling, &old[i]) = old[i];
	free(old);
	return 0;
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
	struct place place = {global & ~0xffffffll, device, number, kind, 0}, *slot;
	struct lanes *lanes = filling->lanes;
	struct lane *lane;

	if (filling->recent.lane && same_place(&filling->recent, &place))
		return &lanes->list[filling->recent.lane - 1];
	if (filling->place_count * 2 >= filling->place_capacity && grow_places(filling))
		return NULL;
	slot = place_slot(filling, &place);
	if (slot->lane) {
		filling->recent = *slot;
		return &lanes->list[slot->lane - 1];
	}
	lane = choose_lane(lanes, &place);
	place.lane = lane - lanes->list + 1;
	filling->recent = place;
	if (filling->place_count < MAX_PLACES) {
		*slot = place;
		filling->place_count++;
	}
	return lane;
}

static int add_item(struct lane *lane, const struct lane_item *item)
{
	if (lane->count == lane->room) {
		size_t room = lane->room ? lane->room * 2 : 256;
		struct lane_item *items = realloc(lane->items, room * sizeof(*items));

		if (!items)
			return -ENOMEM;
		lane->items = items;
		lane->room = room;
	}
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

static int take_row(void *context, int columns, sqlite3_value **row)
{
	struct filling *filling = context;
	struct lanes *lanes = filling->lanes;
	struct lane_item item = {
		.start = sqlite3_value_int64(row[0]),
		.end = sqlite3_value_int64(row[1]),
		.count = 1,
	};
	const struct source *source = filling->source;
	/* Calls of the runtime contain those of the driver: two lanes for one thread. */
	bool runtime = source->kind == LANE_DRIVER && !sqlite3_value_int(row[6]);
	struct lane *lane;
	int64_t name;

	if (item.end < item.start || item.start < lanes->begin || item.end > lanes->end) {
		lanes->invalid++;
		return 0;
	}
	name = name_index(filling, runtime ? 'r' : source->category, sqlite3_value_int64(row[5]));
	if (name < 0)
		return name;
	lane = find_lane(filling, runtime ? LANE_RUNTIME : source->kind,
			 sqlite3_value_int64(row[2]), sqlite3_value_int64(row[3]),
			 sqlite3_value_int64(row[4]));
	if (!lane)
		return -ENOMEM;
	item.name = name;
	item.busy = item.end - item.start;
	/* What is as long as a cell stands for itself, as far as there is room. */
	if (!lanes->cell || (item.end - item.start >= lanes->cell && lane->count < LANES_CELLS))
		return add_item(lane, &item);
	return add_to_cell(lanes, lane, &item);
}

static int read_source(struct filling *filling, const struct source *source)
{
	char sql[512];

	if (!report_file__has(filling->file, source->table, NULL))
		return 0;
	snprintf(sql, sizeof(sql), "SELECT %s FROM %s %s", source->columns, source->table,
		 source->where);
	filling->source = source;
	return scan__run(filling->file, sql, take_row, filling);
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
	struct filling filling = {.lanes = lanes, .file = file, .names = names};
	int err;

	memset(lanes, 0, sizeof(*lanes));
	err = measure(lanes, file);
	if (!err)
		choose_cells(lanes, file);
	for (size_t i = 0; !err && i < SOURCES; i++)
		err = read_source(&filling, &sources[i]);
	for (size_t i = 0; !err && i < lanes->count; i++)
		err = settle(lanes, &lanes->list[i]);
	free(filling.table);
	free(filling.keys);
	free(filling.places);
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
		report_file__give_back(file, &job->file);
		free(job);
		return err;
	}
	*result = job;
	return 0;
}

int lanes__wait(struct lanes_job *job, struct lanes **lanes)
{
	pthread_join(job->thread, NULL);
	report_file__give_back(job->lender, &job->file);
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
	memset(lanes, 0, sizeof(*lanes));
}
