// SPDX-License-Identifier: BSD-2-Clause
/*
 * Words are taken in two steps: first the eBPF program gets the limit, so that it marks nothing
 * there any more, and at the next tick, when none of its batches can be in the middle of one of
 * them, they are read. All of it must be done before the ring comes round.
 *
 * What was read is divided as bpf/time_slice.h says; the moments of base/gpu_turns.h are points.
 */
#include "cuda-trace/live/live_shares.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/gpu_turns.h"
#include "cuda-trace/live/live_ranges.h"
#include "cuda-trace/proc/mps_server.h"

#define EVERY_NS 250000000ull
#define LAG_NS	 2500000000ull /* until the records of all processes are there */
#define POINT_NS ((double)(1 << AGGREGATE_POINT_BITS))

_Static_assert(LAG_NS + 4 * EVERY_NS < 1ull << AGGREGATE_TURN_BITS, "within the ring");

struct line {
	uint64_t owner;	       /* AGGREGATE_SHARE_OWNER */
	void *whose;	       /* the sink's; NULL = its process has not been collected yet */
	struct gpu_turn share; /* not handed out */
	uint64_t credited;     /* of the program's points */
	uint64_t last;	       /* word: its process ended then; 0 = it runs */
};

struct live_shares {
	struct aggregate_shares memory;
	struct live_sink sink;
	struct live_ranges *ranges;	 /* NULL = energy is not wanted */
	uint64_t next_tick, read, taken; /* ns; words */
	bool mps;			 /* as it was when a process last came to a GPU */
	struct line lines[AGGREGATE_SHARES];
	struct gpu_turns turns[AGGREGATE_DEVICES];
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
	for (uint32_t gpu = 0; gpu < AGGREGATE_DEVICES; gpu++)
		gpu_turns__init(&shares->turns[gpu], 1 << AGGREGATE_POINT_BITS);
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

/* The lines of one GPU, and their points of a word. */
struct sharers {
	uint32_t count;
	uint32_t lines[AGGREGATE_SHARES];
	double before[AGGREGATE_SHARES];
	uint32_t work[AGGREGATE_SHARES];
	uint32_t young[AGGREGATE_SHARES];
	uint32_t all_young;
};

static void add_sharer(const struct live_shares *shares, struct sharers *sharers, uint32_t line)
{
	sharers->before[sharers->count] = shares->lines[line].share.moments;
	sharers->lines[sharers->count++] = line;
}

static void find_sharers(const struct live_shares *shares, uint32_t gpu, struct sharers *sharers)
{
	sharers->count = 0;
	add_sharer(shares, sharers, gpu);
	for (uint32_t line = AGGREGATE_DEVICES; line < AGGREGATE_SHARES; line++) {
		uint64_t owner = shares->memory.owners[line];

		if (owner && AGGREGATE_SHARE_GPU(owner) == gpu)
			add_sharer(shares, sharers, line);
	}
}

/* Returns the points at which what is there may differ from the point before. */
static uint32_t read_word(const struct live_shares *shares, struct sharers *sharers, uint32_t busy,
			  uint64_t word)
{
	uint32_t borders = 1;

	sharers->all_young = 0;
	for (uint32_t i = 0; i < sharers->count; i++) {
		uint32_t line = sharers->lines[i];
		uint32_t young = points_of(line_words(shares, line, YOUNG), word) & busy;
		uint32_t work = (points_of(line_words(shares, line, OLD), word) & busy) | young;

		/* What runs at once has no turns. */
		if (shares->mps)
			young = work;
		sharers->work[i] = work;
		sharers->young[i] = young;
		sharers->all_young |= young;
		borders |= (work ^ work << 1) | (young ^ young << 1);
	}
	return borders;
}

/* Points that begin with this one, and differ in nothing. */
static void give(struct live_shares *shares, uint32_t gpu, const struct sharers *sharers,
		 uint64_t word, int point, int length)
{
	struct gpu_turn *list[AGGREGATE_SHARES];
	uint64_t now = (word << AGGREGATE_WORD_BITS) + (uint64_t)point;
	uint32_t mask = 1u << point, count = 0;
	bool young = sharers->all_young & mask;
	const uint32_t *whose = young ? sharers->young : sharers->work;

	for (uint32_t i = 0; i < sharers->count; i++)
		if (whose[i] & mask)
			list[count++] = &shares->lines[sharers->lines[i]].share;
	if (young)
		gpu_turns__young(&shares->turns[gpu], list, count, now, (uint32_t)length);
	else if (count)
		gpu_turns__old(&shares->turns[gpu], list, count, now, (uint32_t)length);
}

static void divide_word(struct live_shares *shares, uint32_t gpu, struct sharers *sharers,
			uint32_t busy, uint64_t word)
{
	uint32_t borders = read_word(shares, sharers, busy, word);

	while (borders) {
		uint32_t after = borders & (borders - 1);
		int point = __builtin_ctz(borders);
		int end = after ? __builtin_ctz(after) : 1 << AGGREGATE_WORD_BITS;

		give(shares, gpu, sharers, word, point, end - point);
		borders = after;
	}
}

/* What the lines had, and the changes in proportion. These remain where nobody had anything. */
static void add_points(struct live_shares *shares, uint32_t gpu, const struct sharers *sharers)
{
	double more[AGGREGATE_SHARES], all = 0, changes = 0;

	for (uint32_t i = 0; i < sharers->count; i++) {
		more[i] = shares->lines[sharers->lines[i]].share.moments - sharers->before[i];
		more[i] = more[i] > 0 ? more[i] : 0;
		all += more[i];
	}
	if (all > 0)
		changes = gpu_turns__drain_changes(&shares->turns[gpu]);
	for (uint32_t i = 0; i < sharers->count; i++) {
		double change = all > 0 ? changes * more[i] / all : 0;

		shares->lines[sharers->lines[i]].share.moments += change;
		live_ranges__line(shares->ranges, sharers->lines[i], more[i] + change);
	}
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
			divide_word(shares, gpu, &sharers, busy, word);
		points += (uint64_t)__builtin_popcount(busy);
	}
	add_points(shares, gpu, &sharers);
	live_ranges__busy(shares->ranges, gpu, points);
}

static void read_credit(struct live_shares *shares, uint32_t line)
{
	uint64_t now = __atomic_load_n(&shares->memory.points[line], __ATOMIC_RELAXED);

	double late = (double)(now - shares->lines[line].credited);

	shares->lines[line].share.moments += late;
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
}

/* Nothing of it is in the ring any more. */
static void free_line(struct live_shares *shares, uint32_t number)
{
	struct line *line = &shares->lines[number];

	if (line->whose)
		shares->sink.share_end(shares->sink.context, line->whose);
	live_ranges__forget(shares->ranges, number);
	for (uint32_t gpu = 0; gpu < AGGREGATE_DEVICES; gpu++)
		gpu_turns__forget(&shares->turns[gpu], &line->share);
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
	if (line->whose && line->share.moments > 0) {
		shares->sink.share(shares->sink.context, line->whose,
				   line->share.moments * POINT_NS);
		shares->attributed[AGGREGATE_SHARE_GPU(owner)] += line->share.moments;
		line->share.moments = 0;
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
			rest -= shares->lines[line].share.moments;
	}
	if (rest > shares->nobodys[gpu])
		shares->nobodys[gpu] = rest;
}

/* Before what they did is divided. */
static void find_new(struct live_shares *shares)
{
	for (uint32_t i = AGGREGATE_DEVICES; i < AGGREGATE_SHARES; i++) {
		uint64_t owner = shares->memory.owners[i];

		if (owner && owner != shares->lines[i].owner)
			shares->mps = mps_server__runs();
		shares->lines[i].owner = owner;
	}
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
	find_new(shares);
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
