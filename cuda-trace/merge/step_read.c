// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two passes over the kernels: which take the longest, then what each step has of them. Operations
 * of NCCL and the causes of idle time follow.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/nccl_calls.h"
#include "cuda-trace/collectives/collectives.h"
#include "cuda-trace/report/report_collectives.h"
#include "cuda-trace/merge/step_ranges.h"
#include "cuda-trace/merge/steps.h"

#define OTHERS (STEP_GROUPS_MAX - 1)

/* What is summed up of each step: the groups of kernels, and: */
enum sum {
	BUSY = STEP_GROUPS_MAX,
	NCCL,
	LENGTH,
	IDLE,
	CAUSES,
	OPERATIONS = CAUSES + IDLE_CAUSE_COUNT,
	SUMS = OPERATIONS + NCCL_OPERATIONS
};

struct group {
	int64_t name; /* of StringIds; -1 = the others */
	bool is_nccl;
	uint64_t kernels;
};

/* A process while the file is read. */
struct process {
	int64_t global;
	struct step_ranges steps;
	struct group groups[STEP_GROUPS_MAX];
	uint32_t group_count;
	uint64_t *sums[SUMS]; /* by step; NULL = there was nothing of it */
	uint64_t calls[NCCL_OPERATIONS], bytes[NCCL_OPERATIONS];
	int64_t covered, nccl_covered;
};

struct scan {
	const struct report_file *file;
	struct process *list;
	uint32_t count;
	bool idle_known, collectives_known;
	const char *idle_unknown; /* why; NULL = known, or not recorded */
	int err;
};

static struct process *find(struct scan *scan, int64_t global)
{
	for (uint32_t i = scan->count; i-- > 0;)
		if (scan->list[i].global == global)
			return &scan->list[i];
	return NULL;
}

/* The processes are those that have steps. */
static int read_steps(struct scan *scan, const char *pattern)
{
	struct step_processes processes = {};
	int err =
		step_ranges__read(scan->file, pattern, STEP_RANGES_MAX, STEP_RANKS_MAX, &processes);

	scan->list = err ? NULL : calloc(processes.count + 1, sizeof(*scan->list));
	if (!scan->list) {
		step_ranges__free(&processes);
		return err ? err : -ENOMEM;
	}
	for (; scan->count < processes.count; scan->count++) {
		scan->list[scan->count].global = processes.list[scan->count].global;
		scan->list[scan->count].steps = processes.list[scan->count];
	}
	free(processes.list);
	return 0;
}

/* Rows of a statement, one after the other; its table may be missing. */
static void each_row(struct scan *scan, const char *table, const char *sql,
		     void (*row)(struct scan *scan, sqlite3_stmt *statement, void *context),
		     void *context)
{
	sqlite3_stmt *statement = NULL;
	int code;

	if (scan->err || !report_file__has(scan->file, table, NULL))
		return;
	code = sqlite3_prepare_v2(scan->file->db, sql, -1, &statement, NULL);
	while (!code || code == SQLITE_ROW) {
		code = sqlite3_step(statement);
		if (code == SQLITE_ROW)
			row(scan, statement, context);
	}
	if (code != SQLITE_DONE)
		scan->err = report_file__complain(scan->file);
	sqlite3_finalize(statement);
}

/* Likewise, of a statement for the calls of NCCL that were executed, for which it has a %s. */
static void each_call(struct scan *scan, const char *format,
		      void (*row)(struct scan *scan, sqlite3_stmt *statement, void *context))
{
	const char *calls = report_collectives__executed(scan->file);
	char *sql = calls ? sqlite3_mprintf(format, calls) : NULL;

	if (sql)
		each_row(scan, "CUDA_TRACE_COLLECTIVES", sql, row, NULL);
	else if (calls)
		scan->err = -ENOMEM;
	sqlite3_free(sql);
}

/* Rows come longest first. */
static void add_group(struct scan *scan, sqlite3_stmt *row, void *context)
{
	struct process *process = find(scan, sqlite3_column_int64(row, 0) & ~0xffffffll);
	const char *name = (const char *)sqlite3_column_text(row, 2);

	if (!process || process->group_count >= OTHERS)
		return;
	process->groups[process->group_count++] = (struct group){
		.name = sqlite3_column_int64(row, 1),
		.is_nccl = name && collectives__is_nccl(name),
	};
}

static void add_sum(struct scan *scan, struct process *process, int sum, uint32_t step,
		    uint64_t value)
{
	uint64_t **sums = &process->sums[sum];

	if (!*sums)
		*sums = calloc(process->steps.count, sizeof(**sums));
	if (*sums)
		(*sums)[step] += value;
	else
		scan->err = -ENOMEM;
}

static uint32_t group_of(const struct process *process, int64_t name)
{
	uint32_t i = 0;

	while (i + 1 < process->group_count && process->groups[i].name != name)
		i++;
	return i;
}

/* What the interval adds to what is covered already: they come by their starts. */
static uint64_t cover(int64_t *covered, int64_t start, int64_t end)
{
	int64_t from = start > *covered ? start : *covered;

	if (end <= from)
		return 0;
	*covered = end;
	return end - from;
}

static void add_kernel(struct scan *scan, sqlite3_stmt *row, void *context)
{
	struct process *process = find(scan, sqlite3_column_int64(row, 0) & ~0xffffffll);
	int64_t start = sqlite3_column_int64(row, 1), end = sqlite3_column_int64(row, 2);
	struct group *group;
	uint32_t index;
	int64_t at;

	if (!process || !process->group_count || end < start)
		return;
	at = step_ranges__at(&process->steps, start);
	if (at < 0)
		return;
	index = group_of(process, sqlite3_column_int64(row, 3));
	group = &process->groups[index];
	group->kernels++;
	add_sum(scan, process, index, at, end - start);
	add_sum(scan, process, BUSY, at, cover(&process->covered, start, end));
	if (group->is_nccl)
		add_sum(scan, process, NCCL, at, cover(&process->nccl_covered, start, end));
}

static int operation_of(sqlite3_stmt *row, int column)
{
	int64_t operation = sqlite3_column_int64(row, column);

	return operation > 0 && operation < NCCL_OPERATIONS ? operation : 0;
}

static void add_call(struct scan *scan, sqlite3_stmt *row, void *context)
{
	struct process *process = find(scan, sqlite3_column_int64(row, 0) & ~0xffffffll);
	int operation = operation_of(row, 2);
	int64_t bytes = sqlite3_column_int64(row, 3);

	if (!process || !operation ||
	    step_ranges__at(&process->steps, sqlite3_column_int64(row, 1)) < 0)
		return;
	process->calls[operation]++;
	process->bytes[operation] += bytes > 0 ? bytes : 0;
}

/* A kernel of several operations counts for the first one. */
static void add_collective(struct scan *scan, sqlite3_stmt *row, void *context)
{
	struct process *process = find(scan, sqlite3_column_int64(row, 0) & ~0xffffffll);
	int64_t start = sqlite3_column_int64(row, 1), end = sqlite3_column_int64(row, 2);
	int operation = operation_of(row, 3);
	int64_t at =
		process && operation && end >= start ? step_ranges__at(&process->steps, start) : -1;

	if (at >= 0)
		add_sum(scan, process, OPERATIONS + operation, at, end - start);
}

/* A gap may be a part of several steps. */
static void add_part_of_gap(struct scan *scan, struct process *process, enum idle_cause cause,
			    int64_t start, int64_t end)
{
	int64_t last = process->steps.list[process->steps.count - 1].end;

	end = end < last ? end : last;
	while (end > start) {
		int64_t at = step_ranges__at(&process->steps, end - 1);
		int64_t from = at < 0 || process->steps.list[at].start < start
				       ? start
				       : process->steps.list[at].start;

		if (at < 0)
			return;
		add_sum(scan, process, IDLE, at, end - from);
		add_sum(scan, process, CAUSES + cause, at, end - from);
		end = from;
	}
}

static void add_gap(void *context, uint32_t pid, enum idle_cause cause, uint64_t from, uint64_t to)
{
	struct scan *scan = context;

	for (uint32_t i = 0; i < scan->count; i++)
		if ((scan->list[i].global >> 24 & 0xffffff) == pid)
			add_part_of_gap(scan, &scan->list[i], cause, from, to);
}

static int compare_times(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return (first > second) - (first < second);
}

/* Sorts them; NULL = zeros. The smallest that so many in 100 do not exceed. */
static struct step_time time_of(uint64_t *times, uint32_t count)
{
	if (!times)
		return (struct step_time){};
	qsort(times, count, sizeof(*times), compare_times);
	return (struct step_time){
		.p50 = times[(count * 50ull + 99) / 100 - 1],
		.p99 = times[(count * 99ull + 99) / 100 - 1],
	};
}

static void copy_text(const struct report_file *file, const char *sql, int64_t key, char *out,
		      size_t size, size_t columns)
{
	sqlite3_stmt *statement = NULL;

	snprintf(out, size, "?");
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		return;
	sqlite3_bind_int64(statement, 1, key);
	if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
		text__show(out, size, (const char *)sqlite3_column_text(statement, 0), columns);
	sqlite3_finalize(statement);
}

static void name_rank(const struct report_file *file, int64_t global, struct step_rank *rank)
{
	char number[32];

	copy_text(file, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'", 0,
		  rank->host, sizeof(rank->host), 12);
	copy_text(file, "SELECT name FROM PROCESSES WHERE globalPid = ?", global, rank->process,
		  sizeof(rank->process), 12);
	rank->pid = global >> 24 & 0xffffff;
	copy_text(file, "SELECT rank FROM CUDA_TRACE_PROCESSES WHERE globalPid = ?", global, number,
		  sizeof(number), 0);
	rank->rank = number[0] >= '0' && number[0] <= '9' ? strtoll(number, NULL, 10) : -1;
}

static uint64_t total_of(const uint64_t *times, uint32_t count)
{
	uint64_t total = 0;

	for (uint32_t i = 0; times && i < count; i++)
		total += times[i];
	return total;
}

/* Of `count` sums, the ones with the most time, but not those of which there is none. */
static void list_parts(struct process *process, enum sum first, int count,
		       const char *(*name)(uint32_t number), struct step_parts *parts)
{
	while (parts->count < STEP_PARTS_MAX) {
		struct step_part *part = &parts->list[parts->count];
		uint64_t most = 0;
		int longest = 0;

		for (int i = 0; i < count; i++) {
			uint64_t total = total_of(process->sums[first + i], process->steps.count);

			if (total <= most)
				continue;
			most = total;
			longest = i;
		}
		if (!most)
			return;
		snprintf(part->name, sizeof(part->name), "%s", name(longest));
		if (first == OPERATIONS) {
			part->calls = process->calls[longest];
			part->bytes = process->bytes[longest];
		}
		part->ns = time_of(process->sums[first + longest], process->steps.count);
		free(process->sums[first + longest]);
		process->sums[first + longest] = NULL;
		parts->count++;
	}
}

static const char *cause_key(uint32_t cause)
{
	return idle_cause_keys[cause];
}

static void conclude_idle(const struct scan *scan, struct process *process, struct step_rank *rank)
{
	rank->causes.known = scan->idle_known;
	if (scan->idle_unknown)
		snprintf(rank->idle_unknown, sizeof(rank->idle_unknown), "%s", scan->idle_unknown);
	if (!scan->idle_known)
		return;
	rank->idle = time_of(process->sums[IDLE], process->steps.count);
	list_parts(process, CAUSES, IDLE_CAUSE_COUNT, cause_key, &rank->causes);
}

static int conclude(struct scan *scan, struct process *process, struct step_ranks *ranks)
{
	struct step_rank *rank = step_ranks__add(ranks);

	if (!rank)
		return ranks->count < STEP_RANKS_MAX ? -ENOMEM : 0;
	text__show(rank->range, sizeof(rank->range), ranks->range, 40);
	name_rank(scan->file, process->global, rank);
	rank->steps = process->steps.count;
	for (uint32_t i = 0; i < process->group_count; i++) {
		struct step_group *group = &rank->groups[rank->group_count];

		if (!process->groups[i].kernels)
			continue;
		rank->group_count++;
		if (process->groups[i].name < 0)
			snprintf(group->name, sizeof(group->name), "[others]");
		else
			copy_text(scan->file, "SELECT value FROM StringIds WHERE id = ?",
				  process->groups[i].name, group->name, sizeof(group->name), 80);
		group->kernels = process->groups[i].kernels;
		group->ns = time_of(process->sums[i], process->steps.count);
	}
	rank->busy = time_of(process->sums[BUSY], process->steps.count);
	rank->nccl = time_of(process->sums[NCCL], process->steps.count);
	for (uint32_t i = 0; i < process->steps.count; i++)
		add_sum(scan, process, LENGTH, i,
			process->steps.list[i].end - process->steps.list[i].start);
	rank->step = time_of(process->sums[LENGTH], process->steps.count);
	conclude_idle(scan, process, rank);
	rank->collectives.known = scan->collectives_known;
	list_parts(process, OPERATIONS, NCCL_OPERATIONS, nccl_calls__operation, &rank->collectives);
	return scan->err;
}

static void release(struct scan *scan)
{
	for (uint32_t i = 0; i < scan->count; i++) {
		free(scan->list[i].steps.list);
		for (int j = 0; j < SUMS; j++)
			free(scan->list[i].sums[j]);
	}
	free(scan->list);
}

int step_read__recording(struct step_ranks *ranks, const struct report_file *file)
{
	struct scan scan = {.file = file};

	scan.err = read_steps(&scan, ranks->range);
	each_row(&scan, "CUPTI_ACTIVITY_KIND_KERNEL",
		 "SELECT globalPid, shortName, value FROM CUPTI_ACTIVITY_KIND_KERNEL LEFT JOIN "
		 "StringIds ON id = shortName GROUP BY globalPid, shortName ORDER BY "
		 "sum(end - start) DESC",
		 add_group, NULL);
	for (uint32_t i = 0; i < scan.count; i++)
		if (scan.list[i].group_count == OTHERS)
			scan.list[i].groups[scan.list[i].group_count++].name = -1;
	each_row(&scan, "CUPTI_ACTIVITY_KIND_KERNEL",
		 "SELECT globalPid, start, end, shortName FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY "
		 "start",
		 add_kernel, NULL);
	scan.collectives_known = report_file__any(file, "CUDA_TRACE_COLLECTIVES") > 0;
	each_call(&scan, "SELECT globalTid & ~16777215, start, operation, bytes FROM %s", add_call);
	if (report_file__has(file, "CUPTI_ACTIVITY_KIND_KERNEL", NULL))
		each_call(&scan,
			  "SELECT globalPid, start, end, operation FROM (SELECT globalTid & "
			  "~16777215 AS process, correlationId AS number, coalesce(graphNodeId, 0) "
			  "AS node, min(operation) AS operation FROM %s WHERE correlationId > 0 "
			  "GROUP BY 1, 2, 3) JOIN CUPTI_ACTIVITY_KIND_KERNEL ON correlationId = "
			  "number AND globalPid & ~16777215 = process AND "
			  "coalesce(graphNodeId, 0) = node",
			  add_collective);
	if (scan.count && !scan.err)
		scan.err =
			step_idle__read(file, add_gap, &scan, &scan.idle_known, &scan.idle_unknown);
	for (uint32_t i = 0; i < scan.count && !scan.err; i++)
		scan.err = conclude(&scan, &scan.list[i], ranks);
	release(&scan);
	return scan.err;
}
