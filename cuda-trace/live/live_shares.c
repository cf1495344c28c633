// SPDX-License-Identifier: BSD-2-Clause
/*
 * Words are taken in two steps: first the eBPF program gets the limit, so that it marks nothing
 * there any more, and at the next tick, when none of its batches can be in the middle of one of
 * them, they are read. All of it must be done before the ring comes round.
 *
 * Of what was read, a point is that of the processes whose work there was young, or of all that
 * had work there (bpf/time_slice.h).
 */
#include "cuda-trace/live/live_shares.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/live/live_ranges.h"
#include "cuda-trace/proc/mps_server.h"

#define EVERY_NS 250000000ull
#define LAG_NS	 2500000000ull /* until the records of all processes are there */
#define POINT_NS ((double)(1 << AGGREGATE_POINT_BITS))

_Static_assert(LAG_NS + 4 * EVERY_NS < 1ull << AGGREGATE_TURN_BITS, "within the ring");

struct line {
	void *whose;	   /* the sink's; NULL = its process has not been collected yet */
	double points;	   /* not handed out */
	uint64_t credited; /* of the program's points */
	uint64_t last;	   /* word: its process ended then; 0 = it runs */
};

struct live_shares {
	struct aggregate_shares memory;
	struct live_sink sink;
	struct live_ranges *ranges;	 /* NULL = energy is not wanted */
	uint64_t next_tick, read, taken; /* ns; words */
	bool mps;			 /* as it was when a process last came to a GPU */
	struct line lines[AGGREGATE_SHARES];
	double attributed[AGGREGATE_DEVICES]; /* points */
	double nobodys[AGGREGATE_DEVICES];
};

static uint64_t word_at(uint64_t ns)
{
	return ns >> (AGGREGATE_POINT_BITS + AGGREGATE_WORD_BITS);
}

struct live_shares *live_shares__new(const struct aggregate *aggregate,
				     const struct live_sink *sink, struct live_energy *energy)
{
	struct live_shares *shares = calloc(1, sizeof(*shares));

	if (!shares)
		return NULL;
	shares->memory = aggregate__shares(aggregate);
	shares->sink = *sink;
	shares->ranges = live_ranges__new(energy, shares->memory.owners);
	if (energy && !shares->ranges) {
		free(shares);
		return NULL;
	}
	shares->read = shares->taken = word_at(monotonic__ns() - LAG_NS);
	return shares;
}

/* The points of a word in this turn of the ring. */
static uint32_t points_of(const uint64_t *words, uint64_t word)
{
	uint64_t entry = __atomic_load_n(&words[word % AGGREGATE_WORDS], __ATOMIC_RELAXED);

	return entry >> 32 == (uint32_t)(word / AGGREGATE_WORDS) ? (uint32_t)entry : 0;
}

enum age { YOUNG, OLD };

static const uint64_t *line_words(const struct live_shares *shares, uint32_t line, enum age age)
{
	return shares->memory.words + ((size_t)age * AGGREGATE_SHARES + line) * AGGREGATE_WORDS;
}

/* The lines of one GPU. */
struct sharers {
	uint32_t count;
	uint32_t lines[AGGREGATE_SHARES];
	uint32_t young[AGGREGATE_SHARES]; /* points of the word */
	uint32_t points[AGGREGATE_SHARES];
};

static void find_sharers(const struct live_shares *shares, uint32_t gpu, struct sharers *sharers)
{
	sharers->count = 0;
	sharers->lines[sharers->count++] = gpu;
	for (uint32_t line = AGGREGATE_DEVICES; line < AGGREGATE_SHARES; line++) {
		uint64_t owner = shares->memory.owners[line];

		if (owner && AGGREGATE_SHARE_GPU(owner) == gpu)
			sharers->lines[sharers->count++] = line;
	}
}

static void add_points(struct live_shares *shares, uint32_t line, double points)
{
	shares->lines[line].points += points;
	live_ranges__line(shares->ranges, line, points);
}

/* Each point in equal parts. */
static void divide(struct live_shares *shares, const struct sharers *sharers, uint32_t points)
{
	for (; points; points &= points - 1) {
		uint32_t bit = points & -points, count = 0;

		for (uint32_t i = 0; i < sharers->count; i++)
			count += !!(sharers->points[i] & bit);
		for (uint32_t i = 0; count && i < sharers->count; i++)
			if (sharers->points[i] & bit)
				add_points(shares, sharers->lines[i], 1.0 / count);
	}
}

static void read_word(struct live_shares *shares, struct sharers *sharers, uint32_t busy,
		      uint64_t word)
{
	uint32_t seen = 0, several = 0, aged = busy;

	for (uint32_t i = 0; i < sharers->count; i++) {
		uint32_t line = sharers->lines[i];
		uint32_t young = points_of(line_words(shares, line, YOUNG), word) & busy;

		sharers->points[i] = points_of(line_words(shares, line, OLD), word) & busy;
		if (shares->mps) {
			sharers->points[i] |= young;
			young = 0;
		}
		sharers->young[i] = young;
		aged &= ~young;
	}
	for (uint32_t i = 0; i < sharers->count; i++) {
		uint32_t points = sharers->young[i] | (sharers->points[i] & aged);

		several |= seen & points;
		seen |= points;
		sharers->points[i] = points;
	}
	for (uint32_t i = 0; i < sharers->count; i++) {
		uint32_t alone = sharers->points[i] & ~several;

		if (alone)
			add_points(shares, sharers->lines[i], __builtin_popcount(alone));
	}
	divide(shares, sharers, several);
}

static void read_gpu(struct live_shares *shares, uint32_t gpu, uint64_t from, uint64_t to)
{
	const uint64_t *busy_words =
		shares->memory.busy_words + (size_t)AGGREGATE_BUSY_LINE(gpu) * AGGREGATE_WORDS;
	struct sharers sharers;
	uint64_t points = 0;

	find_sharers(shares, gpu, &sharers);
	for (uint64_t word = from; word < to; word++) {
		uint32_t busy = points_of(busy_words, word);

		if (busy)
			read_word(shares, &sharers, busy, word);
		points += (uint64_t)__builtin_popcount(busy);
	}
	live_ranges__busy(shares->ranges, gpu, points);
}

static void read_credit(struct live_shares *shares, uint32_t line)
{
	uint64_t now = __atomic_load_n(&shares->memory.points[line], __ATOMIC_RELAXED);

	double late = (double)(now - shares->lines[line].credited);

	shares->lines[line].points += late;
	live_ranges__late(shares->ranges, line, late);
	shares->lines[line].credited = now;
}

static void name_line(struct live_shares *shares, struct line *line, uint64_t owner,
		      struct live_process *process)
{
	uint32_t device = 0, gpu = AGGREGATE_SHARE_GPU(owner);

	if (!process || process->state.serial != AGGREGATE_SHARE_SERIAL(owner))
		return;
	while (device < AGGREGATE_DEVICES && process->state.gpu_of[device] != gpu + 1)
		device++;
	if (device == AGGREGATE_DEVICES)
		return;
	line->whose = shares->sink.share_start(shares->sink.context, process, device);
	shares->mps = mps_server__runs();
}

/* Nothing of it is in the ring any more. */
static void free_line(struct live_shares *shares, uint32_t number)
{
	struct line *line = &shares->lines[number];

	if (line->whose)
		shares->sink.share_end(shares->sink.context, line->whose);
	live_ranges__forget(shares->ranges, number);
	*line = (struct line){.credited = line->credited};
	for (enum age age = YOUNG; age <= OLD; age++)
		memset((void *)line_words(shares, number, age), 0,
		       AGGREGATE_WORDS * sizeof(uint64_t));
	__atomic_store_n(&shares->memory.owners[number], 0, __ATOMIC_RELEASE);
}

static void hand_out(struct live_shares *shares, uint32_t number, struct live_process *const *slots)
{
	struct line *line = &shares->lines[number];
	uint64_t owner = shares->memory.owners[number];
	uint32_t slot = AGGREGATE_SHARE_SLOT(owner);
	double joules = 0;

	if (!owner)
		return;
	if (!line->whose && slot < AGGREGATE_PROCESSES)
		name_line(shares, line, owner, slots[slot]);
	if (line->whose && line->points > 0) {
		shares->sink.share(shares->sink.context, line->whose, line->points * POINT_NS);
		shares->attributed[AGGREGATE_SHARE_GPU(owner)] += line->points;
		line->points = 0;
	}
	if (line->whose)
		joules = live_ranges__joules(shares->ranges, number);
	if (joules > 0)
		shares->sink.energy(shares->sink.context, line->whose, joules);
	if (line->last && shares->read > line->last &&
	    live_ranges__are_past(shares->ranges, line->last))
		free_line(shares, number);
}

/* What was counted, and neither is a share nor still waits in words: of those without a line, and
 * what the program or this reader was too late for. */
static void find_nobodys(struct live_shares *shares, uint32_t gpu)
{
	const uint64_t *counted = &shares->memory.gpu_points[AGGREGATE_BUSY_LINE(gpu)];
	const uint64_t *busy_words =
		shares->memory.busy_words + (size_t)AGGREGATE_BUSY_LINE(gpu) * AGGREGATE_WORDS;
	double rest = (double)__atomic_load_n(counted, __ATOMIC_SEQ_CST) - shares->attributed[gpu];

	for (uint64_t word = shares->read; word < shares->read + AGGREGATE_WORDS; word++)
		rest -= __builtin_popcount(points_of(busy_words, word));
	for (uint32_t line = AGGREGATE_DEVICES; line < AGGREGATE_SHARES; line++) {
		uint64_t owner = shares->memory.owners[line];

		if (owner && AGGREGATE_SHARE_GPU(owner) == gpu)
			rest -= shares->lines[line].points;
	}
	if (rest > shares->nobodys[gpu])
		shares->nobodys[gpu] = rest;
}

void live_shares__tick(struct live_shares *shares, struct live_process *const *slots)
{
	uint64_t now = monotonic__ns(), from, to;

	if (!shares || now < shares->next_tick)
		return;
	shares->next_tick = now + EVERY_NS;
	from = shares->read;
	to = shares->taken;
	if (to - from > AGGREGATE_WORDS)
		from = to - AGGREGATE_WORDS;
	live_ranges__begin(shares->ranges, from, to);
	for (uint32_t gpu = 0; gpu < AGGREGATE_DEVICES; gpu++)
		if (shares->memory.gpu_points[AGGREGATE_BUSY_LINE(gpu)])
			read_gpu(shares, gpu, from, to);
	shares->read = to;
	shares->taken = word_at(now - LAG_NS);
	__atomic_store_n(shares->memory.taken, shares->taken, __ATOMIC_SEQ_CST);
	for (uint32_t line = 0; line < AGGREGATE_SHARES; line++) {
		read_credit(shares, line);
	}
	live_ranges__settle(shares->ranges);
	for (uint32_t line = 0; line < AGGREGATE_SHARES; line++)
		hand_out(shares, line, slots);
	for (uint32_t gpu = 0; gpu < AGGREGATE_DEVICES; gpu++)
		if (shares->memory.gpu_points[AGGREGATE_BUSY_LINE(gpu)])
			find_nobodys(shares, gpu);
}

void live_shares__end(struct live_shares *shares, struct live_process *process)
{
	for (uint32_t i = AGGREGATE_DEVICES; shares && i < AGGREGATE_SHARES; i++) {
		uint64_t owner = shares->memory.owners[i];

		if (!owner || AGGREGATE_SHARE_SLOT(owner) != process->slot ||
		    AGGREGATE_SHARE_SERIAL(owner) != process->state.serial)
			continue;
		if (!shares->lines[i].whose)
			name_line(shares, &shares->lines[i], owner, process);
		shares->lines[i].last = word_at(monotonic__ns());
	}
}

void live_shares__state(const struct live_shares *shares, struct live_share_state *state)
{
	*state = (struct live_share_state){};
	if (!shares)
		return;
	for (uint32_t gpu = 0; gpu < AGGREGATE_DEVICES; gpu++)
		state->nobodys_ns[gpu] = (uint64_t)(shares->nobodys[gpu] * POINT_NS);
	state->late_ns = __atomic_load_n(shares->memory.late, __ATOMIC_RELAXED)
			 << AGGREGATE_POINT_BITS;
}

void live_shares__free(struct live_shares *shares)
{
	for (uint32_t i = 0; shares && i < AGGREGATE_SHARES; i++)
		if (shares->lines[i].whose)
			shares->sink.share_end(shares->sink.context, shares->lines[i].whose);
	if (shares)
		live_ranges__free(shares->ranges);
	free(shares);
}
