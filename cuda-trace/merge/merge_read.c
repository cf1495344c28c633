// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each file is read once and closed; what stays is a row for each kernel of NCCL and sums.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/merge/merge.h"
#include "cuda-trace/merge/merge_scan.h"

#define SAME_BOOT 1000000000ll /* ns by which wall clocks of one host may differ over a run */

/* A step of a statement; false at the end or after an error, which is printed. */
static bool next_row(struct merge_scan *scan, sqlite3_stmt *statement)
{
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW)
		return true;
	if (code != SQLITE_DONE)
		scan->err = report_file__complain(&scan->file);
	return false;
}

static sqlite3_stmt *prepare(struct merge_scan *scan, const char *table, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (scan->err || !report_file__has(&scan->file, table, NULL))
		return NULL;
	if (sqlite3_prepare_v2(scan->file.db, sql, -1, &statement, NULL))
		scan->err = report_file__complain(&scan->file);
	return statement;
}

static int find_clock(struct merge *merge, const char *host, int64_t boot)
{
	for (uint32_t i = 0; i < merge->clock_count; i++)
		if (!strcmp(merge->clocks[i].host, host) &&
		    llabs(merge->clocks[i].boot - boot) < SAME_BOOT)
			return i;
	if (!array_grow__for_one(merge->clocks, merge->clock_capacity, merge->clock_count))
		return -ENOMEM;
	merge->clocks[merge->clock_count] = (struct merge_clock){.boot = boot, .error = -1};
	snprintf(merge->clocks[merge->clock_count].host, sizeof(merge->clocks->host), "%s", host);
	return merge->clock_count++;
}

static int64_t near(int64_t time)
{
	return time < -MERGE_FAR || time > MERGE_FAR ? 0 : time;
}

static void read_clock(struct merge_scan *scan)
{
	struct merge_file *file = &scan->merge->files[scan->index];
	char host[64] = "";
	sqlite3_stmt *statement;
	int64_t utc;
	int clock;

	statement = prepare(scan, "TARGET_INFO_SYSTEM_ENV",
			    "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'");
	if (statement && next_row(scan, statement) && sqlite3_column_text(statement, 0))
		text__show(host, sizeof(host), (const char *)sqlite3_column_text(statement, 0), 48);
	sqlite3_finalize(statement);
	utc = near(report_file__number(&scan->file,
				       "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", 0));
	file->epoch = near(report_file__number(
		&scan->file, "SELECT systemClockNs FROM TARGET_INFO_SESSION_START_TIME", 0));
	clock = find_clock(scan->merge, *host ? host : "?", utc - file->epoch);
	if (clock < 0)
		scan->err = clock;
	else
		file->clock = clock;
}

int merge_scan__rank(struct merge_scan *scan, int64_t global)
{
	struct merge *merge = scan->merge;
	global &= ~0xffffffll;
	for (uint32_t i = merge->rank_count; i-- > scan->first_rank;)
		if (merge->ranks[i].global == global)
			return i;
	if (merge->rank_count == MERGE_RANKS)
		return -1;
	if (!array_grow__for_one(merge->ranks, merge->rank_capacity, merge->rank_count))
		return -1;
	merge->ranks[merge->rank_count] = (struct merge_rank){
		.file = scan->index,
		.clock = merge->files[scan->index].clock,
		.pid = global >> 24 & 0xffffff,
		.global = global,
		.rank = -1,
		.world = -1,
		.group = merge->rank_count,
	};
	return merge->rank_count++;
}

static void read_processes(struct merge_scan *scan)
{
	bool ranked = report_file__has(&scan->file, "CUDA_TRACE_PROCESSES", "rank");
	sqlite3_stmt *statement =
		ranked ? prepare(scan, "CUDA_TRACE_PROCESSES",
				 "SELECT DISTINCT globalPid, rank, worldSize FROM "
				 "CUDA_TRACE_PROCESSES WHERE rank IS NOT NULL")
		       : NULL;

	while (statement && next_row(scan, statement)) {
		int index = merge_scan__rank(scan, sqlite3_column_int64(statement, 0));
		int64_t rank = sqlite3_column_int64(statement, 1);

		if (index < 0 || rank < 0 || rank > INT32_MAX)
			continue;
		scan->merge->ranks[index].rank = rank;
		if (sqlite3_column_type(statement, 2) == SQLITE_INTEGER)
			scan->merge->ranks[index].world = sqlite3_column_int64(statement, 2);
	}
	sqlite3_finalize(statement);
}

static uint32_t group_of(struct merge *merge, uint32_t rank)
{
	while (merge->ranks[rank].group != rank)
		rank = merge->ranks[rank].group = merge->ranks[merge->ranks[rank].group].group;
	return rank;
}

/* The rank takes part in this communicator; false: another recording has it already. */
static bool join(struct merge_scan *scan, uint32_t rank, uint32_t comm, int32_t number, bool found,
		 uint32_t *member)
{
	struct merge *merge = scan->merge;
	int index;

	for (uint32_t i = 0; i < merge->member_count; i++) {
		const struct merge_member *other = &merge->members[i];

		if (other->comm != comm)
			continue;
		merge->ranks[group_of(merge, rank)].group = group_of(merge, other->rank);
		if (number < 0 || merge->comms.list[comm].ranks[other->member].rank != number)
			continue;
		*member = other->member;
		if (other->rank == rank) {
			merge->members[i].found |= found;
			return true;
		}
		merge->ranks[rank].repeats = true;
		return false;
	}
	if (!array_grow__for_one(merge->members, merge->member_capacity, merge->member_count))
		return false;
	index = nccl_comms__rank(&merge->comms, comm, merge->ranks[rank].pid, number);
	if (index < 0)
		return false;
	merge->members[merge->member_count++] =
		(struct merge_member){.comm = comm, .member = index, .rank = rank, .found = found};
	*member = index;
	return true;
}

static void read_comm(struct merge_scan *scan, sqlite3_stmt *row)
{
	int64_t global = sqlite3_column_int64(row, 0), size = sqlite3_column_int64(row, 3);
	uint64_t id = sqlite3_column_int64(row, 1), parent = sqlite3_column_int64(row, 2);
	int32_t number = sqlite3_column_int(row, 4);
	bool found = sqlite3_column_int(row, 5);
	struct merge_rank *of_rank;
	int rank = merge_scan__rank(scan, global), comm, of = -1;
	struct scan_comm known = {.global = global & ~0xffffffll, .id = id};

	for (uint32_t i = 0; parent && i < scan->merge->comms.count; i++)
		if (scan->merge->comms.list[i].id == parent)
			of = i;
	comm = nccl_comms__find(&scan->merge->comms, id, size > 0 && size <= INT32_MAX ? size : 0,
				of);
	if (rank < 0 || comm < 0)
		return;
	/* The first one is that of all ranks, where no launcher says it; of those that were made
	 * before, the largest. */
	of_rank = &scan->merge->ranks[rank];
	if (size > 0 && (of_rank->rank < 0 || (of_rank->by_found && size > of_rank->world))) {
		of_rank->rank = number;
		of_rank->world = size;
		of_rank->by_found = found;
	}
	if (!array_grow__for_one(scan->comms, scan->comm_capacity, scan->comm_count) ||
	    !join(scan, rank, comm, number, found, &known.member))
		return;
	known.comm = comm;
	known.rank = rank;
	scan->comms[scan->comm_count++] = known;
}

#define COMMUNICATORS(found)                                                           \
	"SELECT globalPid, communicatorId, coalesce(parentId, 0), coalesce(size, 0), " \
	"coalesce(rank, -1), " found " FROM CUDA_TRACE_COMMUNICATORS "                 \
	"WHERE communicatorId IS NOT NULL ORDER BY start"

static void read_comms(struct merge_scan *scan)
{
	static const char table[] = "CUDA_TRACE_COMMUNICATORS";
	/* Recordings made before 2026-11-27 know no communicators that were found. */
	const char *sql = report_file__has(&scan->file, table, "found") ? COMMUNICATORS("found")
									: COMMUNICATORS("0");
	sqlite3_stmt *statement = prepare(scan, table, sql);

	while (statement && next_row(scan, statement))
		read_comm(scan, statement);
	sqlite3_finalize(statement);
}

static void read_file(struct merge *merge, uint32_t index)
{
	struct merge_scan scan = {
		.merge = merge,
		.index = index,
		.first_rank = merge->rank_count,
		.first_arrival = merge->arrival_count,
	};

	if (report_file__open(&scan.file, merge->files[index].path)) {
		merge->unreadable++;
		return;
	}
	read_clock(&scan);
	if (!scan.err)
		read_processes(&scan);
	if (!scan.err)
		read_comms(&scan);
	if (!scan.err)
		merge_scan__calls(&scan);
	if (!scan.err)
		merge_steps__read(&scan);
	if (!scan.err)
		merge_scan__kernels(&scan);
	merge_steps__finish(&scan);
	merge->files[index].read = !scan.err;
	merge->unreadable += scan.err != 0;
	report_file__close(&scan.file);
	free(scan.comms);
	free(scan.keys);
}

int merge_read__all(struct merge *merge)
{
	for (uint32_t i = 0; i < merge->file_count; i++)
		read_file(merge, i);
	for (uint32_t i = 0; i < merge->rank_count; i++)
		merge->ranks[i].group = group_of(merge, i);
	for (uint32_t i = 0; i < merge->member_count; i++) {
		const struct merge_member *member = &merge->members[i];

		merge->comms.list[member->comm].ranks[member->member].host =
			merge->clocks[merge->ranks[member->rank].clock].host;
	}
	merge_kernels__sort(&merge->kernels);
	return merge->unreadable == merge->file_count ? -EIO : 0;
}
