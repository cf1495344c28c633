// SPDX-License-Identifier: BSD-2-Clause
#include "turns.h"

#include <stdbool.h>
#include <stdlib.h>

#define SLICE  2140
#define CHANGE 140
#define NONE   TURNS_PROCESSES

static const struct {
	unsigned int length, pause;
} work[TURNS_PROCESSES] = {{4000, 10}, {2000, 3000}, {1500, 6000}, {1000, 12000}};

/* A process as the driver sees it. */
struct state {
	unsigned long ready;   /* when its next kernel is launched */
	unsigned long started; /* of the one that runs or waits */
	unsigned int left;     /* 0 = there is none */
};

void turns__add(struct turns *process, unsigned long from, unsigned long to)
{
	process->spans = realloc(process->spans, (process->count + 1) * sizeof(process->spans[0]));
	if (!process->spans)
		abort();
	process->spans[process->count++] = (struct turns_span){from, to};
	process->ran += (double)(to - from);
}

/* Sleeps are never of one length. */
static unsigned int pause_of(int process)
{
	static unsigned int seed = 1;

	seed = seed * 1103515245 + 12345;
	return work[process].pause + (work[process].pause > 100 ? seed / 65536 % 300 : 0);
}

static bool has_work(const struct state *state, unsigned long now)
{
	return state->left || state->ready <= now;
}

static int next_of(const struct state *states, int last, unsigned long now)
{
	for (int i = 1; i <= TURNS_PROCESSES; i++)
		if (has_work(&states[(last + i) % TURNS_PROCESSES], now))
			return (last + i) % TURNS_PROCESSES;
	return NONE;
}

/* Returns when its turn ends. */
static unsigned long run_slice(struct turns *process, struct state *state, int number,
			       unsigned long now)
{
	unsigned long end = now + SLICE;

	while (now < end && has_work(state, now)) {
		unsigned long step;

		if (!state->left) {
			state->left = work[number].length;
			state->started = now;
		}
		step = state->left < end - now ? state->left : end - now;
		now += step;
		state->left -= step;
		if (!state->left) {
			turns__add(process, state->started, now);
			/* Not the time in which it waited. */
			process->ran -= (double)(now - state->started - work[number].length);
			state->ready = now + pause_of(number);
		}
	}
	return now;
}

void turns__plan(struct turns processes[TURNS_PROCESSES], unsigned long until)
{
	struct state states[TURNS_PROCESSES] = {{0}};
	int last = 0;

	for (unsigned long now = 0; now < until;) {
		int next = next_of(states, last, now);

		if (next == NONE) {
			now++;
			continue;
		}
		if (next != last)
			now += CHANGE;
		now = run_slice(&processes[next], &states[next], next, now);
		last = next;
	}
}
