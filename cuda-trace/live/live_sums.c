// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tallies and shapes into sums. Called from the sinks of live.c on the thread that collects.
 */
#include "cuda-trace/live/live_sums.h"

static const char *const direction_labels[] = {
#define DIRECTION_LABEL(name, label) label,
	SUMS_DIRECTIONS(DIRECTION_LABEL)
#undef DIRECTION_LABEL
};

const char *sums__direction_label(enum sums_direction direction)
{
	return direction_labels[direction];
}

/* By CUpti_ActivityMemcpyKind: 3 and 4 copy to and from arrays, 5 to 7 between device memories. */
enum sums_direction sums__direction_of(uint8_t copy_kind)
{
	static const uint8_t directions[] = {
		SUMS_OTHER, SUMS_H2D, SUMS_D2H, SUMS_H2D, SUMS_D2H, SUMS_D2D,
		SUMS_D2D,   SUMS_D2D, SUMS_D2D, SUMS_H2H, SUMS_P2P,
	};

	return copy_kind < sizeof(directions) ? directions[copy_kind] : SUMS_OTHER;
}

void histogram__add(struct histogram *histogram, uint64_t sum, const uint32_t *buckets)
{
	histogram->sum += sum;
	for (int i = 0; i < AGGREGATE_BUCKETS; i++) {
		histogram->buckets[i] += buckets[i];
		histogram->count += buckets[i];
	}
}

void histogram__merge(struct histogram *histogram, const struct histogram *more)
{
	histogram->sum += more->sum;
	histogram->count += more->count;
	for (int i = 0; i < AGGREGATE_BUCKETS; i++)
		histogram->buckets[i] += more->buckets[i];
}

double histogram__quantile(const struct histogram *histogram, double share)
{
	double rank = share * histogram->count, below = 0;

	for (int i = 0; i < AGGREGATE_BUCKETS; i++) {
		double in = histogram->buckets[i], low = i ? (double)(1ull << i) / 2 : 0;

		if (in && below + in >= rank)
			return low + ((1ull << i) - low) * (rank - below) / in;
		below += in;
	}
	return 0;
}

static void add_copy(struct sums *sums, uint8_t kind, const struct tally *tally)
{
	enum sums_direction direction = sums__direction_of(kind);

	sums->copies[direction].copies += tally->count;
	sums->copies[direction].bytes += tally->bytes;
	histogram__add(&sums->copies[direction].ns, tally->ns, tally->ns_log2);
	sums->copies_busy_ns += tally->busy_ns;
	sums->invalid += tally->errors;
}

static void add_memory(struct sums *sums, const struct tally_key *key, const struct tally *tally)
{
	int kind = key->detail < SUMS_MEMORY_KINDS ? key->detail : 0;

	if (key->kind == TALLY_ALLOC) {
		sums->memory[kind].allocations += tally->count;
		sums->memory[kind].allocated += tally->bytes;
	} else {
		sums->memory[kind].frees += tally->count;
		sums->memory[kind].freed += tally->bytes;
	}
}

static void add_kernels(struct sums *sums, const struct tally *tally)
{
	histogram__add(&sums->kernels, tally->ns, tally->ns_log2);
	/* What has no valid time was executed all the same: it counts, in no bucket. */
	sums->kernels.count += tally->errors;
	if (tally->max_ns > sums->kernels_max_ns)
		sums->kernels_max_ns = tally->max_ns;
	sums->busy_ns += tally->busy_ns;
	sums->invalid += tally->errors;
}

static void add_overhead(struct sums *sums, uint8_t kind, const struct tally *tally)
{
	kind = kind < SUMS_OVERHEAD_KINDS ? kind : 0;
	sums->overheads[kind] += tally->count;
	sums->overhead_ns[kind] += tally->ns;
}

void sums__add_tally(struct sums *sums, const struct tally_key *key, const struct tally *tally)
{
	switch (key->kind) {
	case TALLY_KERNEL:
		add_kernels(sums, tally);
		break;
	case TALLY_GRAPH_LAUNCH:
		sums->graph_launches += tally->count;
		sums->graph_errors += tally->errors;
		break;
	case TALLY_QUEUE:
		histogram__add(&sums->queue, tally->ns, tally->ns_log2);
		break;
	case TALLY_MEMCPY:
		add_copy(sums, key->detail, tally);
		break;
	case TALLY_MEMSET:
		sums->memsets += tally->count;
		sums->memset_bytes += tally->bytes;
		sums->memset_ns += tally->ns;
		sums->invalid += tally->errors;
		break;
	case TALLY_ALLOC:
	case TALLY_FREE:
		add_memory(sums, key, tally);
		break;
	case TALLY_SYNC:
		histogram__add(&sums->syncs[key->detail < SUMS_SYNC_TYPES ? key->detail : 0],
			       tally->ns, tally->ns_log2);
		break;
	case TALLY_ERROR:
		sums->errors += tally->count;
		break;
	case TALLY_FAILED:
		if (key->detail < CUDA_GROUP_COUNT)
			sums->failed[key->detail] += tally->count;
		break;
	case TALLY_UVM:
		sums->uvm[key->detail < SUMS_UVM_COUNTERS ? key->detail : 0] += tally->bytes;
		break;
	case TALLY_OVERHEAD:
		add_overhead(sums, key->detail, tally);
		break;
	}
}

void sums__add_shape(struct sums *sums, const struct shape *shape)
{
	sums->launches += shape->launches;
	sums->launch_errors += shape->errors;
	sums->launch_ns += shape->ns;
	histogram__add(&sums->block_threads, shape->block_threads, shape->block_threads_log2);
	histogram__add(&sums->grid_blocks, shape->grid_blocks, shape->grid_blocks_log2);
	histogram__add(&sums->threads, shape->threads, shape->threads_log2);
}
