// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/live/live_ranges.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"

#define RANGES	   64 /* more than come in the time */
#define POINT_NS   ((double)(1 << AGGREGATE_POINT_BITS))
#define WORD_SHIFT (AGGREGATE_POINT_BITS + AGGREGATE_WORD_BITS)

struct range {
	uint64_t from, to; /* words */
	double busy[AGGREGATE_DEVICES];
	double lines[AGGREGATE_SHARES];
};

struct late {
	double points, missing; /* missing: of them those of this range for certain */
};

struct live_ranges {
	struct live_energy *energy;
	const uint64_t *owners;
	struct range ring[RANGES];
	uint64_t begun, settled; /* how many */
	double joules[AGGREGATE_SHARES];
	double late[AGGREGATE_SHARES];	  /* points */
	uint64_t until[AGGREGATE_SHARES]; /* ns: then the range that has them is over */
};

struct live_ranges *live_ranges__new(struct live_energy *energy, const uint64_t *owners)
{
	struct live_ranges *ranges = energy ? calloc(1, sizeof(*ranges)) : NULL;

	if (!ranges)
		return NULL;
	ranges->energy = energy;
	ranges->owners = owners;
	return ranges;
}

void live_ranges__free(struct live_ranges *ranges)
{
	free(ranges);
}

/* The first lines are those of processes without one. */
static bool is_of(const struct live_ranges *ranges, uint32_t line, uint32_t gpu)
{
	uint64_t owner = ranges->owners[line];

	return line == gpu || (owner && AGGREGATE_SHARE_GPU(owner) == gpu);
}

static double find_late(struct live_ranges *ranges, uint32_t gpu, uint64_t now)
{
	double points = 0;

	for (uint32_t line = 0; line < AGGREGATE_SHARES; line++) {
		if (ranges->until[line] < now)
			ranges->late[line] = 0;
		if (ranges->late[line] > 0 && is_of(ranges, line, gpu))
			points += ranges->late[line];
	}
	return points;
}

/* What the GPU was busy in the range, beyond the lines' points: came late, after the line's words
 * were taken and before the GPU's were read. */
static double find_missing(const struct live_ranges *ranges, const struct range *range,
			   uint32_t gpu)
{
	double missing = range->busy[gpu];

	for (uint32_t line = 0; missing > 0 && line < AGGREGATE_SHARES; line++)
		if (is_of(ranges, line, gpu))
			missing -= range->lines[line];
	return missing > 0 ? missing : 0;
}

/* What lines without a process have is nobody's. */
static void divide(struct live_ranges *ranges, const struct range *range, uint32_t gpu,
		   const struct late *late)
{
	double work = live_energy__work(ranges->energy, gpu), left = work;
	double placed = live_energy__placed(ranges->energy, gpu) / POINT_NS;
	double part = late->points > 0 ? (late->missing + placed) / late->points : 0;

	if (work <= 0)
		return;
	for (uint32_t line = 0; line < AGGREGATE_SHARES; line++) {
		double points, joules;

		if (!is_of(ranges, line, gpu))
			continue;
		points = range->lines[line] + ranges->late[line] * part;
		ranges->late[line] -= ranges->late[line] * part;
		joules = work * points / (range->busy[gpu] + placed);
		if (line < AGGREGATE_DEVICES)
			continue;
		ranges->joules[line] += joules;
		left -= joules;
	}
	live_energy__unattributed(ranges->energy, gpu, left);
}

static void settle_one(struct live_ranges *ranges)
{
	const struct range *range = &ranges->ring[ranges->settled++ % RANGES];
	double busy_ns[AGGREGATE_DEVICES], late_ns[AGGREGATE_DEVICES];
	struct late late[AGGREGATE_DEVICES];
	uint64_t now = monotonic__ns();

	for (uint32_t gpu = 0; gpu < AGGREGATE_DEVICES; gpu++) {
		late[gpu].points = find_late(ranges, gpu, now);
		late[gpu].missing = find_missing(ranges, range, gpu);
		if (late[gpu].missing > late[gpu].points)
			late[gpu].missing = late[gpu].points;
		busy_ns[gpu] = range->busy[gpu] * POINT_NS;
		late_ns[gpu] = (late[gpu].points - late[gpu].missing) * POINT_NS;
	}
	live_energy__range(ranges->energy, range->from << WORD_SHIFT, range->to << WORD_SHIFT,
			   busy_ns, late_ns);
	for (uint32_t gpu = 0; gpu < AGGREGATE_DEVICES; gpu++)
		divide(ranges, range, gpu, &late[gpu]);
}

void live_ranges__begin(struct live_ranges *ranges, uint64_t from, uint64_t to)
{
	struct range *range;

	if (!ranges)
		return;
	if (ranges->begun - ranges->settled == RANGES)
		settle_one(ranges);
	range = &ranges->ring[ranges->begun++ % RANGES];
	memset(range, 0, sizeof(*range));
	range->from = from;
	range->to = to;
}

static struct range *newest(struct live_ranges *ranges)
{
	return &ranges->ring[(ranges->begun - 1) % RANGES];
}

void live_ranges__busy(struct live_ranges *ranges, uint32_t gpu, uint64_t points)
{
	if (ranges)
		newest(ranges)->busy[gpu] = (double)points;
}

void live_ranges__line(struct live_ranges *ranges, uint32_t line, double points)
{
	if (ranges)
		newest(ranges)->lines[line] += points;
}

void live_ranges__late(struct live_ranges *ranges, uint32_t line, double points)
{
	if (!ranges || points <= 0)
		return;
	ranges->late[line] += points;
	ranges->until[line] = monotonic__ns() + LIVE_RANGES_NS;
}

void live_ranges__settle(struct live_ranges *ranges)
{
	uint64_t now = monotonic__ns();

	while (ranges && ranges->settled < ranges->begun &&
	       (ranges->ring[ranges->settled % RANGES].to << WORD_SHIFT) + LIVE_RANGES_NS < now)
		settle_one(ranges);
}

double live_ranges__joules(struct live_ranges *ranges, uint32_t line)
{
	double joules = ranges ? ranges->joules[line] : 0;

	if (ranges)
		ranges->joules[line] = 0;
	return joules;
}

bool live_ranges__are_past(const struct live_ranges *ranges, uint64_t word)
{
	return !ranges || ranges->settled == ranges->begun ||
	       ranges->ring[ranges->settled % RANGES].from > word;
}

void live_ranges__forget(struct live_ranges *ranges, uint32_t line)
{
	if (!ranges)
		return;
	live_energy__unattributed(ranges->energy, AGGREGATE_SHARE_GPU(ranges->owners[line]),
				  ranges->joules[line]);
	ranges->joules[line] = ranges->late[line] = 0;
}
