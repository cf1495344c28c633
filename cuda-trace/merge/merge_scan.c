// SPDX-License-Identifier: BSD-2-Clause
/* The calls come ordered by process and kernel, so that a kernel finds its calls by bisection. */
#include "cuda-trace/merge/merge_scan.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/collectives/collectives.h"
#include "cuda-trace/report/report_collectives.h"

#define UNSET	    INT64_MIN
#define MAX_STRINGS (1 << 20) /* of a file */
#define MAX_GPUS    64	      /* of a file's processes, together */

/* What the kernels of a process on a GPU cover, from left to right. */
struct coverage {
	uint32_t rank;
	int64_t device;
	int64_t at, nccl_end, compute_end;
	struct step_cursor cursor;
};

struct kernel_scan {
	struct merge_scan *scan;
	int32_t *names; /* of StringIds: index of merge.kernels + 2; 1 = none; 0 = not looked up */
	sqlite3_stmt *name;
	struct coverage coverage[MAX_GPUS];
	int coverage_count;
};

static const struct scan_comm *find_comm(const struct merge_scan *scan, int64_t global, uint64_t id)
{
	for (uint32_t i = scan->comm_count; i-- > 0;)
		if (scan->comms[i].id == id && scan->comms[i].global == global)
			return &scan->comms[i];
	return NULL;
}

/* The order of the statement that reads the calls. */
static int compare_keys(const struct scan_key *a, const struct scan_key *b)
{
	if (a->global != b->global)
		return a->global < b->global ? -1 : 1;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static struct merge_arrival *add_arrival(struct merge_scan *scan, const struct scan_comm *comm,
					 const struct scan_key *key)
{
	struct merge *merge = scan->merge;
	uint32_t own = merge->arrival_count - scan->first_arrival;

	if (merge->arrival_count == MERGE_ARRIVALS) {
		merge->left_out++;
		return NULL;
	}
	if (!array_grow__for_one(scan->keys, scan->key_capacity, own) ||
	    !array_grow__for_one(merge->arrivals, merge->arrival_capacity, merge->arrival_count)) {
		merge->left_out++;
		return NULL;
	}
	scan->keys[own] = *key;
	merge->arrivals[merge->arrival_count] = (struct merge_arrival){
		.number = UINT64_MAX,
		.start = UNSET,
		.comm = comm->comm,
		.member = comm->member,
		.rank = comm->rank,
		.part = merge->part_count,
		.step = MERGE_NO_STEP,
	};
	return &merge->arrivals[merge->arrival_count++];
}

static void add_part(struct merge *merge, struct merge_arrival *arrival, uint32_t function,
		     uint64_t bytes)
{
	struct nccl_comm_part *part = merge->parts + arrival->part;

	for (uint32_t i = 0; i < arrival->part_count; i++, part++)
		if (part->function == function) {
			part->calls++;
			part->bytes += bytes;
			return;
		}
	if (arrival->part_count == NCCL_COMM_PARTS)
		return;
	if (!array_grow__for_one(merge->parts, merge->part_capacity, merge->part_count))
		return;
	merge->parts[merge->part_count++] = (struct nccl_comm_part){function, 1, bytes};
	arrival->part_count++;
}

struct call_row {
	struct scan_key key;
	int64_t number;
	uint64_t id, bytes;
	uint32_t function;
	bool numbered;
};

static void add_call(struct merge_scan *scan, const struct call_row *call)
{
	const struct scan_comm *comm = find_comm(scan, call->key.global, call->id);
	int rank = merge_scan__rank(scan, call->key.global);
	struct merge *merge = scan->merge;
	struct nccl_comm_sums *sums;
	struct merge_arrival *arrival = NULL;

	if (rank < 0)
		return;
	merge->ranks[rank].calls++;
	merge->ranks[rank].bytes += call->bytes;
	if (!comm) {
		merge->unknown += !merge->ranks[rank].repeats;
		return;
	}
	sums = &merge->comms.list[comm->comm].sums[call->function];
	sums->calls++;
	sums->bytes += call->bytes;
	if (!call->key.correlation) {
		merge->comms.unlaunched++;
		return;
	}
	if (merge->arrival_count > scan->first_arrival) {
		const struct scan_key *last =
			&scan->keys[merge->arrival_count - scan->first_arrival - 1];

		if (!compare_keys(last, &call->key))
			arrival = &merge->arrivals[merge->arrival_count - 1];
	}
	if (!arrival)
		arrival = add_arrival(scan, comm, &call->key);
	if (!arrival)
		return;
	if (call->numbered && arrival->number == UINT64_MAX)
		arrival->number = call->number;
	add_part(merge, arrival, call->function, call->bytes);
}

void merge_scan__calls(struct merge_scan *scan)
{
	const char *calls = report_collectives__executed(&scan->file);
	sqlite3_stmt *statement = NULL;
	char *sql;
	int code;

	scan->collectives = report_collectives__recorded(&scan->file);
	if (!calls)
		return;
	sql = sqlite3_mprintf("SELECT globalTid & ~16777215 AS process, "
			      "coalesce(correlationId, 0) AS kernel, number, "
			      "coalesce(communicatorId, 0), coalesce(bytes, 0), operation, "
			      "coalesce(graphNodeId, 0) AS node FROM %s WHERE operation > 0 AND "
			      "operation < 11 ORDER BY process, kernel, node, start",
			      calls);
	code = sql ? sqlite3_prepare_v2(scan->file.db, sql, -1, &statement, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	if (code) {
		scan->err = report_file__complain(&scan->file);
		return;
	}
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		add_call(scan,
			 &(struct call_row){
				 .key = {sqlite3_column_int64(statement, 0),
					 sqlite3_column_int64(statement, 1),
					 sqlite3_column_int64(statement, 6)},
				 .number = sqlite3_column_int64(statement, 2),
				 .numbered = sqlite3_column_type(statement, 2) == SQLITE_INTEGER,
				 .id = sqlite3_column_int64(statement, 3),
				 .bytes = sqlite3_column_int64(statement, 4),
				 .function = sqlite3_column_int(statement, 5),
			 });
	if (code != SQLITE_DONE)
		scan->err = report_file__complain(&scan->file);
	sqlite3_finalize(statement);
}

/* Index of merge.kernels; below 0: none. */
static int kernel_of(struct kernel_scan *kernels, int64_t string)
{
	struct merge_kernels *all = &kernels->scan->merge->kernels;
	const char *text = NULL;
	int found = -1;

	if (string < 0 || string >= MAX_STRINGS)
		return -1;
	if (kernels->names[string])
		return kernels->names[string] - 2;
	sqlite3_bind_int64(kernels->name, 1, string);
	if (sqlite3_step(kernels->name) == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(kernels->name, 0);
	if (text)
		found = merge_kernels__find(all, text);
	if (found >= 0)
		all->list[found].nccl = collectives__is_nccl(text);
	sqlite3_reset(kernels->name);
	kernels->names[string] = found + 2;
	return found;
}

static struct merge_arrival *find_arrival(struct merge_scan *scan, const struct scan_key *wanted)
{
	uint32_t count = scan->merge->arrival_count - scan->first_arrival;
	uint32_t low = sorted__count_before(count, i, compare_keys(&scan->keys[i], wanted) < 0);

	return low < count && !compare_keys(&scan->keys[low], wanted)
		       ? &scan->merge->arrivals[scan->first_arrival + low]
		       : NULL;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What is covered between `at` and `to`: each end is the latest so far. */
static void cover(struct merge *merge, struct coverage *coverage, int64_t to)
{
	struct merge_rank *rank = &merge->ranks[coverage->rank];
	int64_t from = coverage->at, nccl = least(to, coverage->nccl_end);
	int64_t compute = least(to, coverage->compute_end);
	int64_t bare = compute > from ? compute : from;

	if (to <= from)
		return;
	rank->nccl_ns += nccl > from ? nccl - from : 0;
	rank->compute_ns += compute > from ? compute - from : 0;
	rank->exposed_ns += nccl > bare ? nccl - bare : 0;
	merge_steps__add(merge, &coverage->cursor, from, compute, false);
	merge_steps__add(merge, &coverage->cursor, bare, nccl, true);
	coverage->at = to;
}

/* NULL: too many GPUs. */
static const struct coverage *add_coverage(struct kernel_scan *kernels, uint32_t rank,
					   int64_t device, bool nccl, int64_t start, int64_t end)
{
	struct merge_scan *scan = kernels->scan;
	struct coverage *coverage = kernels->coverage;
	int i = 0;

	while (i < kernels->coverage_count &&
	       (coverage[i].rank != rank || coverage[i].device != device))
		i++;
	if (i == MAX_GPUS)
		return NULL;
	if (i == kernels->coverage_count) {
		coverage[i] = (struct coverage){rank,  device, start,
						start, start,  merge_steps__cursor(scan, rank)};
		kernels->coverage_count++;
		scan->merge->ranks[rank].gpus++;
	}
	coverage += i;
	cover(scan->merge, coverage, start);
	if (nccl && end > coverage->nccl_end)
		coverage->nccl_end = end;
	if (!nccl && end > coverage->compute_end)
		coverage->compute_end = end;
	return coverage;
}

static void add_kernel(struct kernel_scan *kernels, sqlite3_stmt *row)
{
	struct merge_scan *scan = kernels->scan;
	const struct scan_key key = {sqlite3_column_int64(row, 0) & ~0xffffffll,
				     sqlite3_column_int64(row, 4), sqlite3_column_int64(row, 6)};
	int64_t start = sqlite3_column_int64(row, 1), end = sqlite3_column_int64(row, 2);
	int rank = merge_scan__rank(scan, key.global);
	int name = kernel_of(kernels, sqlite3_column_int64(row, 5));
	bool nccl = name >= 0 && scan->merge->kernels.list[name].nccl;
	const struct coverage *coverage;
	struct merge_arrival *arrival;

	if (rank < 0 || start < -MERGE_FAR || end > MERGE_FAR || end < start)
		return;
	merge_kernels__add(&scan->merge->kernels, name, rank, end - start);
	coverage = add_coverage(kernels, rank, sqlite3_column_int64(row, 3), nccl, start, end);
	arrival = nccl ? find_arrival(scan, &key) : NULL;
	scan->merge->comms.unknown_nodes += nccl && key.node && !arrival && scan->collectives;
	if (arrival && arrival->start == UNSET) {
		arrival->start = start + scan->merge->files[scan->index].epoch;
		arrival->end = end + scan->merge->files[scan->index].epoch;
		if (coverage)
			arrival->step = merge_steps__at(&coverage->cursor, start);
	}
}

/* Those whose kernels are not in the file. */
static void drop_unset(struct merge_scan *scan)
{
	struct merge *merge = scan->merge;
	uint32_t kept = scan->first_arrival;

	for (uint32_t i = scan->first_arrival; i < merge->arrival_count; i++) {
		if (merge->arrivals[i].start == UNSET)
			merge->comms.unlaunched++;
		else
			merge->arrivals[kept++] = merge->arrivals[i];
	}
	merge->arrival_count = kept;
}

static void scan_rows(struct kernel_scan *kernels)
{
	struct merge_scan *scan = kernels->scan;
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(scan->file.db,
				      "SELECT globalPid, start, end, deviceId, correlationId, "
				      "demangledName, coalesce(graphNodeId, 0) FROM "
				      "CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start",
				      -1, &row, NULL);

	if (!code)
		code = sqlite3_prepare_v2(scan->file.db, "SELECT value FROM StringIds WHERE id = ?",
					  -1, &kernels->name, NULL);
	for (bool first = true; !code || code == SQLITE_ROW; first = false) {
		code = sqlite3_step(row);
		if (code == SQLITE_ROW && first)
			scan->merge->files[scan->index].first = sqlite3_column_int64(row, 1);
		if (code == SQLITE_ROW)
			add_kernel(kernels, row);
	}
	if (code != SQLITE_DONE)
		scan->err = report_file__complain(&scan->file);
	sqlite3_finalize(row);
	sqlite3_finalize(kernels->name);
	for (int i = 0; i < kernels->coverage_count; i++)
		cover(scan->merge, &kernels->coverage[i], INT64_MAX);
}

void merge_scan__kernels(struct merge_scan *scan)
{
	struct kernel_scan *kernels = calloc(1, sizeof(*kernels));

	if (kernels)
		kernels->names = calloc(MAX_STRINGS, sizeof(*kernels->names));
	if (!kernels || !kernels->names) {
		scan->err = -ENOMEM;
	} else if (report_file__has(&scan->file, "CUPTI_ACTIVITY_KIND_KERNEL", NULL)) {
		kernels->scan = scan;
		scan_rows(kernels);
	}
	drop_unset(scan);
	if (kernels)
		free(kernels->names);
	free(kernels);
}
