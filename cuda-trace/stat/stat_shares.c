// SPDX-License-Identifier: BSD-2-Clause
/*
 * As long as one process uses a GPU, all of its work is that process's, and there is no line for
 * it. When a second one comes, each gets a line; what the first did until then is copied from the
 * GPU's lines. A process that has ended stays until its last slice is closed.
 *
 * Each process's work is in two lines, young and old as bpf/time_slice.h explains; with several
 * streams, a bit may be in both. The line of old work is opened when there is some, also for the
 * only user of a GPU. What the first did until the second came is young where it was not old.
 * Slices are closed in the order of time, as base/gpu_turns.h wants it; its moments are bits.
 */
#include "cuda-trace/stat/stat_shares.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/gpu_turns.h"

#define MOMENTS 64   /* of a slice */
#define KEPT	1024 /* shares of processes that have ended, of all GPUs; the rest is summed up */

enum sharer_line { YOUNG, OLD, SHARER_LINES };

struct stat_sharer {
	struct stat_line lines[SHARER_LINES];
	uint32_t gpu;
	struct stat_user user;
	struct gpu_turn share;
	double alone;  /* bits */
	uint64_t last; /* slice, if ended */
	bool ended;
};

struct gpu {
	struct stat_sharer *active[STAT_SHARE_LINES];
	uint32_t count;
	struct gpu_turns turns;
	struct stat_sharer others; /* that are kept no longer */
	double busy, nobodys;	   /* bits */
	uint64_t nobodys_ns;
	bool blind; /* a line was missing: nothing is divided */
};

struct stat_shares {
	struct stat_lines *lines;
	bool (*is_mps)(void); /* NULL = not known */
	bool mps;
	uint32_t gpu_count, opened[SHARER_LINES];
	struct gpu *gpus;
	struct stat_sharer *past; /* without lines */
	uint32_t past_count, past_capacity;
	struct stat_share *list;
	uint32_t list_count, list_capacity;
};

struct stat_shares *stat_shares__new(struct stat_lines *lines, uint32_t gpus)
{
	struct stat_shares *shares = calloc(1, sizeof(*shares));

	if (!shares)
		return NULL;
	shares->lines = lines;
	shares->gpu_count = gpus;
	shares->gpus = calloc(gpus, sizeof(*shares->gpus));
	if (!shares->gpus) {
		free(shares);
		return NULL;
	}
	for (uint32_t i = 0; i < gpus; i++)
		gpu_turns__init(&shares->gpus[i].turns, 1 << STAT_BIT_BITS);
	return shares;
}

static void close_lines(struct stat_shares *shares, struct stat_sharer *sharer)
{
	for (int i = 0; i < SHARER_LINES; i++) {
		if (!sharer->lines[i].words)
			continue;
		stat_lines__close(shares->lines, &sharer->lines[i], 1);
		shares->opened[i]--;
	}
}

void stat_shares__free(struct stat_shares *shares)
{
	if (!shares)
		return;
	for (uint32_t i = 0; i < shares->gpu_count; i++)
		for (uint32_t n = 0; n < shares->gpus[i].count; n++) {
			close_lines(shares, shares->gpus[i].active[n]);
			free(shares->gpus[i].active[n]);
		}
	free(shares->gpus);
	free(shares->past);
	free(shares->list);
	free(shares);
}

static bool open_line(struct stat_shares *shares, struct stat_sharer *sharer, enum sharer_line line)
{
	if (sharer->lines[line].words)
		return true;
	if (shares->opened[line] == STAT_SHARE_LINES ||
	    !stat_lines__open(shares->lines, &sharer->lines[line], 1))
		return false;
	shares->opened[line]++;
	return true;
}

/* What the GPU did until now was done by its only user. */
static bool open_first(struct stat_shares *shares, struct stat_sharer *first,
		       const struct stat_line *kernels, const struct stat_line *copies)
{
	struct stat_lines *lines = shares->lines;

	if (first->lines[YOUNG].words)
		return true;
	if (!open_line(shares, first, YOUNG))
		return false;
	for (uint64_t slice = lines->oldest; slice < lines->oldest + lines->size; slice++) {
		uint64_t done = *stat_lines__word(lines, kernels, slice) |
				*stat_lines__word(lines, copies, slice);

		if (first->lines[OLD].words)
			done &= ~*stat_lines__word(lines, &first->lines[OLD], slice);
		/* What is never written takes no memory. */
		if (done)
			*stat_lines__word(lines, &first->lines[YOUNG], slice) = done;
	}
	return true;
}

void stat_shares__set_mps(struct stat_shares *shares, bool (*is_mps)(void))
{
	shares->is_mps = is_mps;
}

bool stat_shares__mps(const struct stat_shares *shares)
{
	return shares->mps;
}

struct stat_sharer *stat_shares__add(struct stat_shares *shares, uint32_t index,
				     const struct stat_line *kernels,
				     const struct stat_line *copies)
{
	struct gpu *gpu = &shares->gpus[index];
	struct stat_sharer *sharer = calloc(1, sizeof(*sharer));

	if (!sharer)
		return NULL;
	sharer->gpu = index;
	if (gpu->count && shares->is_mps)
		shares->mps |= shares->is_mps();
	if (gpu->count && !open_first(shares, gpu->active[0], kernels, copies))
		gpu->blind = true;
	/* Without a line, its work is in no share. */
	if (gpu->count == STAT_SHARE_LINES || (gpu->count && !open_line(shares, sharer, YOUNG))) {
		free(sharer);
		return NULL;
	}
	gpu->active[gpu->count++] = sharer;
	return sharer;
}

static void mark(struct stat_shares *shares, struct stat_line *line, uint64_t start, uint64_t end)
{
	uint64_t oldest = shares->lines->oldest << STAT_SLICE_BITS;

	if (line->words && end >= oldest)
		stat_lines__mark(shares->lines, line, start > oldest ? start : oldest, end);
}

/* Old work without a line for it counts as young. What is late is so for the GPU's line, too, and
 * counted there. */
void stat_shares__mark(struct stat_shares *shares, struct stat_sharer *sharer, uint64_t start,
		       uint64_t end, uint64_t old)
{
	if (!sharer)
		return;
	if (end > old && open_line(shares, sharer, OLD)) {
		mark(shares, &sharer->lines[OLD], start > old ? start : old, end);
		end = old;
	}
	if (start <= end)
		mark(shares, &sharer->lines[YOUNG], start, end);
}

void stat_shares__end(struct stat_shares *shares, struct stat_sharer *sharer,
		      const struct stat_user *user)
{
	if (!sharer)
		return;
	sharer->user = *user;
	sharer->last = shares->lines->last >> STAT_SLICE_BITS;
	sharer->ended = true;
}

static double bits(uint64_t map)
{
	return map ? __builtin_popcountll(map) : 0;
}

static void keep_past(struct stat_shares *shares, struct gpu *gpu, struct stat_sharer *sharer)
{
	if (shares->past_count < KEPT &&
	    array_grow__for_one(shares->past, shares->past_capacity, shares->past_count)) {
		shares->past[shares->past_count++] = *sharer;
	} else {
		gpu->others.share.moments += sharer->share.moments;
		gpu->others.alone += sharer->alone;
	}
	free(sharer);
}

/* Those whose last slice is closed. */
static void retire(struct stat_shares *shares, struct gpu *gpu, uint64_t slice)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < gpu->count; i++) {
		struct stat_sharer *sharer = gpu->active[i];

		if (!sharer->ended || slice <= sharer->last) {
			gpu->active[kept++] = sharer;
			continue;
		}
		close_lines(shares, sharer);
		gpu_turns__forget(&gpu->turns, &sharer->share);
		keep_past(shares, gpu, sharer);
	}
	gpu->count = kept;
	gpu->blind &= !!kept;
}

static uint64_t empty(struct stat_shares *shares, struct stat_line *line, uint64_t slice)
{
	uint64_t *word, map;

	if (!line->words)
		return 0;
	word = stat_lines__word(shares->lines, line, slice);
	map = *word;
	if (map)
		*word = 0;
	return map;
}

/* A slice of a GPU, a map for each process. */
struct maps {
	uint64_t work[STAT_SHARE_LINES];
	uint64_t young[STAT_SHARE_LINES];
	uint64_t all, all_young;
};

static void read_maps(struct stat_shares *shares, struct gpu *gpu, uint64_t slice, uint64_t busy,
		      struct maps *maps)
{
	maps->all = maps->all_young = 0;
	for (uint32_t i = 0; i < gpu->count; i++) {
		struct stat_line *lines = gpu->active[i]->lines;
		uint64_t young = empty(shares, &lines[YOUNG], slice) & busy;

		maps->work[i] = (empty(shares, &lines[OLD], slice) & busy) | young;
		/* What runs at once has no turns. */
		maps->young[i] = shares->mps ? maps->work[i] : young;
		maps->all |= maps->work[i];
		maps->all_young |= maps->young[i];
	}
}

/* The bits that more than one of them has. */
static uint64_t several(const uint64_t *maps, uint32_t count)
{
	uint64_t seen = 0, twice = 0;

	for (uint32_t i = 0; i < count; i++) {
		twice |= seen & maps[i];
		seen |= maps[i];
	}
	return twice;
}

/* Bits that differ from the one before them in a map: there, parts of the slice begin. */
static uint64_t borders(const struct maps *maps, uint32_t count)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < count; i++)
		found |= (maps->work[i] ^ maps->work[i] << 1) |
			 (maps->young[i] ^ maps->young[i] << 1);
	return found;
}

/* A part that begins with this bit. */
static void give(struct gpu *gpu, const struct maps *maps, uint64_t slice, int bit, int length)
{
	struct gpu_turn *list[STAT_SHARE_LINES];
	uint64_t mask = 1ull << bit, now = slice * MOMENTS + (uint64_t)bit;
	const uint64_t *whose = maps->all_young & mask ? maps->young : maps->work;
	uint32_t count = 0;

	for (uint32_t i = 0; i < gpu->count; i++)
		if (whose[i] & mask)
			list[count++] = &gpu->active[i]->share;
	if (maps->all_young & mask)
		gpu_turns__young(&gpu->turns, list, count, now, (uint32_t)length);
	else if (count)
		gpu_turns__old(&gpu->turns, list, count, now, (uint32_t)length);
}

static void share_out(struct stat_shares *shares, struct gpu *gpu, uint64_t slice, uint64_t busy)
{
	struct maps maps;
	uint64_t shared, parts;

	read_maps(shares, gpu, slice, busy, &maps);
	shared = several(maps.work, gpu->count);
	for (uint32_t i = 0; i < gpu->count; i++)
		gpu->active[i]->alone += bits(maps.work[i] & ~shared);
	parts = borders(&maps, gpu->count) | 1;
	for (; parts; parts &= parts - 1) {
		uint64_t after = parts & (parts - 1);
		int bit = __builtin_ctzll(parts), end = after ? __builtin_ctzll(after) : 64;

		give(gpu, &maps, slice, bit, end - bit);
	}
	gpu->nobodys += bits(busy & ~maps.all);
}

void stat_shares__close(struct stat_shares *shares, uint32_t index, uint64_t slice, uint64_t busy)
{
	struct gpu *gpu = &shares->gpus[index];

	gpu->busy += bits(busy);
	if (busy && gpu->count && gpu->active[0]->lines[YOUNG].words) {
		share_out(shares, gpu, slice, busy);
	} else if (busy && gpu->count && !gpu->blind) {
		empty(shares, &gpu->active[0]->lines[OLD], slice);
		gpu->active[0]->share.moments += bits(busy);
		gpu->active[0]->alone += bits(busy);
	} else if (busy) {
		for (uint32_t i = 0; i < gpu->count; i++)
			for (int line = 0; line < SHARER_LINES; line++)
				empty(shares, &gpu->active[i]->lines[line], slice);
		gpu->nobodys += bits(busy);
	}
	retire(shares, gpu, slice);
}

static void list_one(struct stat_shares *shares, const struct stat_sharer *sharer, double scale)
{
	if (sharer->share.moments <= 0 ||
	    !array_grow__for_one(shares->list, shares->list_capacity, shares->list_count))
		return;
	shares->list[shares->list_count++] = (struct stat_share){
		.gpu = sharer->gpu,
		.user = sharer->user,
		.share_ns = (uint64_t)(sharer->share.moments * scale + 0.5),
		.alone_ns = (uint64_t)(sharer->alone * scale + 0.5),
	};
}

/* The bits of all on a GPU. */
static double moments_of(const struct stat_shares *shares, uint32_t index)
{
	const struct gpu *gpu = &shares->gpus[index];
	double sum = gpu->others.share.moments;

	for (uint32_t i = 0; i < gpu->count; i++)
		sum += gpu->active[i]->share.moments;
	for (uint32_t i = 0; i < shares->past_count; i++)
		if (shares->past[i].gpu == index)
			sum += shares->past[i].share.moments;
	return sum;
}

/* In proportion to what they had. */
static void divide_changes(struct stat_shares *shares, uint32_t index)
{
	struct gpu *gpu = &shares->gpus[index];
	double all = moments_of(shares, index), changes = gpu_turns__drain_changes(&gpu->turns);
	double factor = all > 0 ? 1 + changes / all : 1;

	gpu->others.share.moments *= factor;
	for (uint32_t i = 0; i < gpu->count; i++)
		gpu->active[i]->share.moments *= factor;
	for (uint32_t i = 0; i < shares->past_count; i++)
		if (shares->past[i].gpu == index)
			shares->past[i].share.moments *= factor;
}

void stat_shares__finish(struct stat_shares *shares, uint32_t index, uint64_t busy_ns)
{
	struct gpu *gpu = &shares->gpus[index];
	double scale = gpu->busy > 0 ? busy_ns / gpu->busy : 0;

	divide_changes(shares, index);
	for (uint32_t i = 0; i < gpu->count; i++)
		list_one(shares, gpu->active[i], scale);
	for (uint32_t i = 0; i < shares->past_count; i++)
		if (shares->past[i].gpu == index)
			list_one(shares, &shares->past[i], scale);
	gpu->others.gpu = index;
	list_one(shares, &gpu->others, scale);
	gpu->nobodys_ns = (uint64_t)(gpu->nobodys * scale + 0.5);
}

static int by_share(const void *left, const void *right)
{
	const struct stat_share *a = left, *b = right;

	if (a->share_ns != b->share_ns)
		return a->share_ns < b->share_ns ? 1 : -1;
	return a->user.pid < b->user.pid ? -1 : a->user.pid > b->user.pid;
}

const struct stat_share *stat_shares__list(struct stat_shares *shares, uint32_t *count)
{
	if (shares->list_count)
		qsort(shares->list, shares->list_count, sizeof(*shares->list), by_share);
	*count = shares->list_count;
	return shares->list;
}

uint64_t stat_shares__nobodys(const struct stat_shares *shares, uint32_t gpu)
{
	return shares->gpus[gpu].nobodys_ns;
}
