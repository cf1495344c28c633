// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/energy/energy_reading.h"

#define MS	 1000000ull
#define LEAST	 (80 * MS)  /* to have few steps */
#define LONGEST	 (250 * MS) /* a counter that does not change */
#define CPU	 20	    /* reading takes one part in so many */
#define SOON	 (1 * MS)
#define OFTEN	 (10 * MS)
#define SELDOM	 (100 * MS)
#define UPDATES	 7		     /* that are looked for */
#define PATIENCE (1500 * MS)	     /* for which they are looked for */
#define EARLIER	 (3 * MS / 10)	     /* each reading, until one is too early; */
#define LATER	 ((int64_t)(2 * MS)) /* then so much later */

uint64_t energy_reading__least(uint64_t cost)
{
	return cost * CPU > LEAST ? cost * CPU : LEAST;
}

static void look_for_updates(struct energy_reading *reading, uint64_t now)
{
	reading->updates = ENERGY_UPDATES_UNKNOWN;
	reading->found = 0;
	reading->since = now;
	reading->missed = reading->near = false;
}

/* Looked for: the last reading was just before it. */
static void find_update(struct energy_reading *reading, uint64_t now, bool changed)
{
	uint64_t update = reading->read + (now - reading->read) / 2, gap = update - reading->update;

	if (!changed || now - reading->read > OFTEN + 2 * reading->cost) {
		if (now - reading->since > PATIENCE)
			reading->updates = ENERGY_UPDATES_IRREGULAR;
		return;
	}
	reading->update = update;
	if (!reading->found++) {
		reading->first = update;
		reading->nearest = UINT64_MAX;
		reading->longest = 0;
		return;
	}
	if (gap < reading->nearest)
		reading->nearest = gap;
	if (gap > reading->longest)
		reading->longest = gap;
	if (reading->found < UPDATES)
		return;
	reading->period = (update - reading->first) / (reading->found - 1);
	reading->margin = LATER;
	/* Where other programs keep the tool from reading, regular ones look irregular. */
	reading->found = 0;
	if (reading->longest - reading->nearest < reading->period / 4)
		reading->updates = ENERGY_UPDATES_REGULAR;
	else if (now - reading->since > PATIENCE)
		reading->updates = ENERGY_UPDATES_IRREGULAR;
}

/* The one that is read next, by number from the last. */
static uint64_t ahead(const struct energy_reading *reading, uint64_t least)
{
	return (least + reading->period - 1) / reading->period;
}

/* Of several updates, the last can be seen only from behind the one before. */
static bool is_near_due(const struct energy_reading *reading, uint64_t least)
{
	return !reading->near && ahead(reading, least) > 1;
}

/* It was seen now, and perhaps was not there at the reading before: the estimate stays between. */
static void follow_update(struct energy_reading *reading, uint64_t now, uint64_t least)
{
	uint64_t count = (now - reading->update + reading->period / 8) / reading->period, expected;
	uint64_t update;
	int64_t limit = (int64_t)reading->period / 4;

	if (count < ahead(reading, least))
		count = ahead(reading, least);
	expected = update = reading->update + count * reading->period;
	if (update > now)
		update = now;
	if (reading->missed && update < reading->read)
		update = reading->read + (now - reading->read) / 2;
	reading->period += (uint64_t)((int64_t)(update - expected) / (int64_t)(16 * count));
	reading->update = update;
	reading->margin += reading->missed ? LATER : -(int64_t)EARLIER;
	if (reading->margin > limit)
		reading->margin = limit;
	if (reading->margin < -limit)
		reading->margin = -limit;
	reading->missed = reading->near = false;
}

/* Whether that is an update with which a step may end. */
static bool note_reading(struct energy_reading *reading, uint64_t now, bool changed, uint64_t least)
{
	if (reading->updates == ENERGY_UPDATES_UNKNOWN && reading->waits)
		look_for_updates(reading, now);
	else if (reading->updates == ENERGY_UPDATES_UNKNOWN)
		find_update(reading, now, changed);
	else if (reading->updates == ENERGY_UPDATES_IRREGULAR)
		reading->update = now;
	else if (is_near_due(reading, least))
		return !(reading->near = true);
	else if (changed)
		follow_update(reading, now, least);
	else if (now > reading->update + (ahead(reading, least) + 1) * reading->period)
		look_for_updates(reading, now);
	else
		reading->missed = true;
	return changed;
}

static uint64_t next_due(const struct energy_reading *reading, uint64_t now, uint64_t least)
{
	uint64_t pause = reading->cost * CPU, update;

	if (reading->updates == ENERGY_UPDATES_REGULAR && !reading->missed) {
		update = reading->update + ahead(reading, least) * reading->period;
		return is_near_due(reading, least) ? update - reading->period / 2
						   : update + (uint64_t)reading->margin;
	}
	if (reading->updates == ENERGY_UPDATES_UNKNOWN && reading->waits)
		return now + SELDOM;
	if (reading->updates != ENERGY_UPDATES_IRREGULAR)
		return now + SOON;
	return now + (pause < OFTEN ? OFTEN : pause > SELDOM ? SELDOM : pause);
}

/* An update is known better than the reading that saw it. */
static uint64_t end_of_step(const struct energy_reading *reading, uint64_t now, bool changed,
			    bool last)
{
	return changed && !last && reading->update > reading->time ? reading->update : now;
}

enum energy_reading_kind energy_reading__next(struct energy_reading *reading, uint64_t began,
					      uint64_t ended, uint64_t millijoules, uint64_t least,
					      bool last, struct energy_span *step)
{
	bool first = !reading->time, changed = millijoules != reading->seen;
	uint64_t longest = 3 * least > LONGEST ? 3 * least : LONGEST, length;

	reading->cost += (ended - began) / 8 - reading->cost / 8;
	if (first)
		look_for_updates(reading, ended);
	else
		changed = note_reading(reading, ended, changed, least);
	reading->read = ended;
	reading->seen = millijoules;
	reading->due = next_due(reading, ended, least);
	step->from = reading->time;
	step->to = first ? ended : end_of_step(reading, ended, changed, last);
	step->millijoules = millijoules - reading->millijoules;
	length = step->to - step->from;
	if (!first && millijoules >= reading->millijoules && !last && length < longest &&
	    (!changed || length < least - least / 8))
		return ENERGY_NO_STEP;
	reading->time = step->to;
	first |= millijoules < reading->millijoules;
	reading->millijoules = millijoules;
	return !first ? ENERGY_STEP : step->from ? ENERGY_BACKWARDS : ENERGY_NO_STEP;
}
