// SPDX-License-Identifier: BSD-2-Clause
/*
 * Steps of meters wait until the range comes in which they were read, some 11 s later. A range has
 * of each step the part of its time that lies in it.
 */
#include "cuda-trace/live/live_energy.h"

#include <stdlib.h>
#include <string.h>
#include "bpf/aggregate.h"
#include "cuda-trace/base/array_grow.h"
#include "libcupti-usdt/probes.h"

#define MAX_STEPS      16384 /* that wait: of 64 GPUs for 25 s */
#define MORE_THAN_IDLE 1.2

struct gpu {
	uint8_t uuid[16];
	bool known, mig;
	double work, placed; /* of the range: joules, ns */
};

struct meter {
	double joules; /* of the range */
	double covered;
	double idle_joules, idle_ns;
	double most; /* joules in a ns, of the steps that wait */
	bool rested; /* nothing ran in the range before */
};

struct live_energy {
	struct energy_meter *source;
	struct gpu gpus[AGGREGATE_DEVICES];
	struct meter meters[ENERGY_METERS];
	struct live_energy_meter sums[ENERGY_METERS];
	struct energy_step *steps;
	uint32_t count, step_count, step_capacity;
};

struct live_energy *live_energy__open(const char **why)
{
	struct live_energy *energy = calloc(1, sizeof(*energy));

	*why = "out of memory";
	if (!energy)
		return NULL;
	energy->source = energy_meter__open(why);
	if (!energy->source) {
		free(energy);
		return NULL;
	}
	energy->count = energy_meter__count(energy->source);
	for (uint32_t i = 0; i < energy->count; i++)
		memcpy(energy->sums[i].uuid, energy_meter__uuid(energy->source, i), 16);
	return energy;
}

void live_energy__close(struct live_energy *energy)
{
	if (!energy)
		return;
	energy_meter__close(energy->source);
	free(energy->steps);
	free(energy);
}

void live_energy__gpu(struct live_energy *energy, uint32_t gpu, const struct cuda_device *device)
{
	if (!energy || gpu >= AGGREGATE_DEVICES)
		return;
	memcpy(energy->gpus[gpu].uuid, device->uuid, 16);
	energy->gpus[gpu].known = true;
	energy->gpus[gpu].mig |= device->mig;
}

static bool is_of(const struct live_energy *energy, uint32_t gpu, uint32_t meter)
{
	return energy->gpus[gpu].known &&
	       !memcmp(energy->gpus[gpu].uuid, energy->sums[meter].uuid, 16);
}

static void lose(struct live_energy *energy, uint32_t meter, double joules)
{
	energy->sums[meter].meter += joules;
	energy->sums[meter].unattributed += joules;
}

static void read_steps(struct live_energy *energy)
{
	struct energy_step step;

	while (energy_meter__next(energy->source, &step)) {
		if (step.gpu >= energy->count || step.to <= step.from)
			continue;
		if (energy->step_count < MAX_STEPS &&
		    array_grow__for_one(energy->steps, energy->step_capacity, energy->step_count))
			energy->steps[energy->step_count++] = step;
		else
			lose(energy, step.gpu, step.joules);
	}
}

/* Takes what the step has before `to` off it. */
static double cut(struct energy_step *step, uint64_t to)
{
	uint64_t end = step->to < to ? step->to : to;
	double joules;

	if (end <= step->from)
		return 0;
	joules = step->joules * (double)(end - step->from) / (double)(step->to - step->from);
	step->joules -= joules;
	step->from = end;
	return joules;
}

static void cut_range(struct live_energy *energy, uint64_t from, uint64_t to)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < energy->count; i++)
		energy->meters[i].most = 0;
	for (uint32_t i = 0; i < energy->step_count; i++) {
		struct energy_step step = energy->steps[i];
		struct meter *meter = &energy->meters[step.gpu];
		uint64_t start;

		if (step.joules > meter->most * (double)(step.to - step.from))
			meter->most = step.joules / (double)(step.to - step.from);
		/* Of a time that nobody looked at. */
		lose(energy, step.gpu, cut(&step, from));
		start = step.from;
		meter->joules += cut(&step, to);
		meter->covered += (double)(step.from - start);
		if (step.from < step.to)
			energy->steps[kept++] = step;
	}
	energy->step_count = kept;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double divide(struct live_energy *energy, uint32_t number, double busy)
{
	struct meter *meter = &energy->meters[number];
	struct live_energy_meter *sums = &energy->sums[number];
	double gap, idle = 0, none = 0;

	busy = least(busy, meter->covered);
	gap = meter->covered - busy;
	if (meter->idle_ns > 0)
		idle = least(meter->joules, meter->idle_joules / meter->idle_ns * gap);
	else
		none = meter->covered > 0 ? meter->joules * gap / meter->covered : meter->joules;
	sums->meter += meter->joules;
	sums->idle += idle;
	sums->unattributed += none;
	return meter->joules - idle - none;
}

static void rest(struct live_energy *energy, uint32_t number, double length)
{
	struct meter *meter = &energy->meters[number];

	energy->sums[number].meter += meter->joules;
	energy->sums[number].idle += meter->joules;
	/* The counter has caught up by then. */
	if (meter->rested && meter->covered >= length) {
		meter->idle_joules += meter->joules;
		meter->idle_ns += meter->covered;
	}
}

/* Records may come so late that nobody knows when the GPU was busy: then it was where it took more
 * than an idle one, or, of one that was never idle, than half of the most that comes. */
static double place(const struct meter *meter, double busy, double unplaced)
{
	double power = meter->idle_ns > 0 ? MORE_THAN_IDLE * meter->idle_joules / meter->idle_ns
					  : meter->most / 2;

	if (busy >= meter->covered || meter->joules < power * meter->covered)
		return 0;
	return least(unplaced, meter->covered - busy);
}

static void end_range(struct live_energy *energy, uint32_t number, const double *busy_ns,
		      const double *unplaced_ns, double length)
{
	struct meter *meter = &energy->meters[number];
	double busy = 0, placed = 0;
	uint32_t found = 0;
	bool mig = false;

	for (uint32_t gpu = 0; gpu < AGGREGATE_DEVICES; gpu++) {
		if (!is_of(energy, gpu, number))
			continue;
		mig |= energy->gpus[gpu].mig;
		placed = place(meter, busy_ns[gpu], unplaced_ns[gpu]);
		busy = busy_ns[gpu] + placed;
		found = gpu;
	}
	energy->gpus[found].placed += placed;
	if (mig)
		lose(energy, number, meter->joules);
	else if (busy > 0)
		energy->gpus[found].work = divide(energy, number, busy);
	else
		rest(energy, number, length);
	meter->rested = busy <= 0 && !mig;
	meter->joules = meter->covered = 0;
}

void live_energy__range(struct live_energy *energy, uint64_t from, uint64_t to,
			const double *busy_ns, const double *unplaced_ns)
{
	if (!energy)
		return;
	read_steps(energy);
	cut_range(energy, from, to);
	for (uint32_t gpu = 0; gpu < AGGREGATE_DEVICES; gpu++)
		energy->gpus[gpu].work = energy->gpus[gpu].placed = 0;
	for (uint32_t i = 0; i < energy->count; i++)
		end_range(energy, i, busy_ns, unplaced_ns, (double)(to - from));
}

double live_energy__work(const struct live_energy *energy, uint32_t gpu)
{
	return energy ? energy->gpus[gpu].work : 0;
}

double live_energy__placed(const struct live_energy *energy, uint32_t gpu)
{
	return energy ? energy->gpus[gpu].placed : 0;
}

void live_energy__unattributed(struct live_energy *energy, uint32_t gpu, double joules)
{
	for (uint32_t i = 0; energy && i < energy->count; i++)
		if (is_of(energy, gpu, i)) {
			energy->sums[i].unattributed += joules;
			return;
		}
}

void live_energy__state(const struct live_energy *energy, struct live_energy_state *state)
{
	*state = (struct live_energy_state){};
	if (!energy)
		return;
	state->meters = energy->sums;
	state->count = energy->count;
	state->failed = energy_meter__failed(energy->source);
}
