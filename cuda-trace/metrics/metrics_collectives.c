// SPDX-License-Identifier: BSD-2-Clause
/*
 * One row of samples for each rank of each communicator, five for the ranks and one histogram for
 * the communicator. The number of both is limited where they are made (live_collectives.c).
 */
#include "cuda-trace/metrics/metrics_collectives.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/collectives/comm_windows.h"

#define FIRST_BOUND 10 /* 1.024 us ... 68.7 s, as the other histograms of times have */
#define LAST_BOUND  36
#define BOUND_STEP  2
#define BOUNDS	    ((LAST_BOUND - FIRST_BOUND) / BOUND_STEP + 1)

_Static_assert(NCCL_COMM_SKEWS == LAST_BOUND + 2, "the last bucket is of what is beyond");

/* What ranks with the same labels have together: one of two communicators that were made before
 * they were observed. */
struct row {
	const char *labels;
	double since;
	uint64_t kernels, kernels_ns, compared, last, last_ns;
};

static const struct {
	struct metric metric;
	size_t offset;
	bool is_time;
} families[] = {
	{{METRIC_COUNTER, "cuda_collective_kernels", "",
	  "Kernels of collectives in which all ranks wait for each other."},
	 offsetof(struct row, kernels),
	 false},
	{{METRIC_COUNTER, "cuda_collective_kernel_seconds", "seconds",
	  "Time of these kernels on the GPU: the transfer, and waiting for the last rank. The rank "
	  "with the least of a communicator is the one that the others wait for."},
	 offsetof(struct row, kernels_ns),
	 true},
	{{METRIC_COUNTER, "cuda_collective_compared", "",
	  "Collectives of a rank that were compared with those of the other ranks on this host."},
	 offsetof(struct row, compared),
	 false},
	{{METRIC_COUNTER, "cuda_collective_last", "",
	  "Of these, those to which the rank came last, by 131 us or more on average."},
	 offsetof(struct row, last),
	 false},
	{{METRIC_COUNTER, "cuda_collective_late_seconds", "seconds",
	  "By how much later than the others it came to these: what each of them waited for it on "
	  "average."},
	 offsetof(struct row, last_ns),
	 true},
};

static const struct metric skew = {
	METRIC_HISTOGRAM, "cuda_collective_skew_seconds", "seconds",
	"Time from the first rank's arrival at a collective to the last one's, of the ranks on "
	"this host."};
static const struct metric late_rank = {
	METRIC_GAUGE, "cuda_collective_late_rank", "",
	"The rank of this host for which the others wait; no sample where none is late."};
static const struct metric left_out = {
	METRIC_COUNTER, "cuda_trace_collectives_left_out", "",
	"Times that a communicator or a rank found no place, and calls without a kernel: in "
	"graphs, launched by another thread, or lost."};

static void put_comm(FILE *file, const struct nccl_comm *comm)
{
	if (comm->id)
		fprintf(file, "communicator=\"%016" PRIx64 "\"", comm->id);
	else
		fputs("communicator=\"unknown\"", file);
	if (comm->size)
		fprintf(file, ",size=\"%" PRIu32 "\"", comm->size);
}

static char *labels_of(const struct nccl_comm *comm, const struct nccl_comm_rank *rank,
		       const char *process)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	put_comm(file, comm);
	if (rank->rank >= 0)
		fprintf(file, ",rank=\"%" PRId32 "\"", rank->rank);
	fprintf(file, ",device=\"%" PRIu32 "\",%s", rank->device, process);
	return fclose(file) ? NULL : text;
}

static void name_rank(const struct nccl_comm *comm, struct nccl_comm_rank *rank,
		      const char *process)
{
	char *shown = labels_of(comm, rank, process);
	struct timespec now;

	if (!shown)
		return;
	if (!rank->shown) {
		clock_gettime(CLOCK_REALTIME, &now);
		rank->shown_since = now.tv_sec + now.tv_nsec / 1e9;
	}
	free(rank->shown);
	rank->shown = shown;
}

void metrics_collectives__name(struct nccl_comms *comms, uint32_t pid,
			       const struct series_labels *labels)
{
	char *process = NULL;

	for (uint32_t i = 0; comms && i < comms->count; i++)
		for (uint32_t k = 0; k < comms->list[i].rank_count; k++) {
			struct nccl_comm_rank *rank = &comms->list[i].ranks[k];

			/* What ended long ago may have had the same number. */
			if (rank->pid != pid || (rank->ended_ns && rank->shown) || !rank->gpu_ns)
				continue;
			if (!process)
				process = series_labels__text(labels);
			if (process)
				name_rank(&comms->list[i], rank, process);
		}
	free(process);
}

void metrics_collectives__expire(struct nccl_comms *comms, unsigned int seconds)
{
	uint64_t now = monotonic__ns(), ns = seconds * 1000000000ull;

	if (comms && now > ns)
		nccl_comms__expire(comms, now - ns);
}

static int compare_rows(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->labels, ((const struct row *)b)->labels);
}

/* Sorted; each label set once. */
static struct row *rows_of(const struct nccl_comms *comms, uint32_t *count)
{
	uint32_t all = 0, n = 0, kept = 0;
	struct row *rows;

	for (uint32_t i = 0; i < comms->count; i++)
		all += comms->list[i].rank_count;
	rows = calloc(all ? all : 1, sizeof(*rows));
	for (uint32_t i = 0; rows && i < comms->count; i++)
		for (uint32_t k = 0; k < comms->list[i].rank_count; k++) {
			const struct nccl_comm_rank *rank = &comms->list[i].ranks[k];

			if (rank->shown)
				rows[n++] = (struct row){rank->shown,	 rank->shown_since,
							 rank->kernels,	 rank->kernels_ns,
							 rank->compared, rank->last,
							 rank->last_ns};
		}
	if (n)
		qsort(rows, n, sizeof(*rows), compare_rows);
	for (uint32_t i = 0; i < n; i++) {
		struct row *row = kept ? &rows[kept - 1] : NULL;

		if (!row || compare_rows(row, &rows[i])) {
			rows[kept++] = rows[i];
			continue;
		}
		row->kernels += rows[i].kernels;
		row->kernels_ns += rows[i].kernels_ns;
		row->compared += rows[i].compared;
		row->last += rows[i].last;
		row->last_ns += rows[i].last_ns;
	}
	*count = kept;
	return rows;
}

static void write_ranks(struct exposition *exposition, const struct nccl_comms *comms)
{
	uint32_t count;
	struct row *rows = rows_of(comms, &count);

	for (size_t i = 0; rows && i < sizeof(families) / sizeof(families[0]); i++) {
		exposition__family(exposition, &families[i].metric);
		for (uint32_t k = 0; k < count; k++) {
			uint64_t value;

			memcpy(&value, (const char *)&rows[k] + families[i].offset, sizeof(value));
			if (families[i].is_time)
				exposition__value(exposition, rows[k].labels, value / 1e9,
						  rows[k].since);
			else
				exposition__count(exposition, rows[k].labels, value, rows[k].since);
		}
	}
	free(rows);
}

static void write_skew(struct exposition *exposition, const struct nccl_comm *comm,
		       const char *labels, double started)
{
	double limits[BOUNDS];
	uint64_t cumulative[BOUNDS], below = 0;
	int count = 0;

	for (int bucket = 0; bucket <= LAST_BOUND; bucket++) {
		below += comm->skews[bucket];
		if (bucket < FIRST_BOUND || (bucket - FIRST_BOUND) % BOUND_STEP)
			continue;
		limits[count] = (1ull << bucket) / 1e9;
		cumulative[count++] = below;
	}
	exposition__histogram(exposition, labels,
			      &(struct exposition_histogram){
				      .bounds = limits,
				      .cumulative = cumulative,
				      .count_of_bounds = count,
				      .count = below + comm->skews[LAST_BOUND + 1],
				      .sum = comm->skew_ns / 1e9,
			      },
			      started);
}

/* Of communicators with several ranks on this host. */
static void write_comms(struct exposition *exposition, const struct nccl_comms *comms, bool skews,
			double started)
{
	exposition__family(exposition, skews ? &skew : &late_rank);
	for (uint32_t i = 0; i < comms->count; i++) {
		const struct nccl_comm *comm = &comms->list[i];
		const struct nccl_comm_rank *late = comm_windows__late(comm);
		char labels[80];
		FILE *file = fmemopen(labels, sizeof(labels), "w");

		if (!file)
			continue;
		put_comm(file, comm);
		fclose(file);
		if (!comm->id || !comm->rank_count || !comm->ranks[0].compared)
			continue;
		if (skews)
			write_skew(exposition, comm, labels, started);
		else if (late && late->rank >= 0 && !late->ended_ns)
			exposition__count(exposition, labels, late->rank, 0);
	}
}

void metrics_collectives__write(struct exposition *exposition, const struct nccl_comms *comms,
				double started)
{
	if (!comms)
		return;
	write_ranks(exposition, comms);
	write_comms(exposition, comms, true, started);
	write_comms(exposition, comms, false, started);
	exposition__family(exposition, &left_out);
	exposition__count(exposition, "what=\"communicators\"", comms->left_out, started);
	exposition__count(exposition, "what=\"ranks\"", comms->ranks_left_out, started);
	exposition__count(exposition, "what=\"calls\"", comms->unlaunched, started);
}
