// SPDX-License-Identifier: BSD-2-Clause
/*
 * Time in cells of 134 ms. Each cell of a GPU has what its meter counted in it, how long the GPU
 * was busy, and how long the kernels of each name of each process ran. Cells wait for records that
 * come late, and are distributed one after the other when the ring is full, or at the end.
 */
#include "cuda-trace/energy/energy.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/energy/energy_cells.h"
#include "cuda-trace/energy/energy_fit.h"
#include "cuda-trace/energy/energy_users.h"

#define GPUS 64 /* as many as base/gpu_set.h has */

struct gpu {
	struct energy_cells work;
	uint8_t uuid[16];
	bool known, mig;
};

struct meter {
	struct energy_cells steps;
	struct energy_fit *fit; /* NULL: no step yet, or no memory */
	struct energy_gpu sums;
	double idle_joules, most_watts;
	uint64_t idle_ns;
	bool rested; /* nothing ran in the cell before */
};

struct energy {
	uint64_t oldest; /* cell; 0 = nothing came */
	struct energy_users *users;
	struct gpu gpus[GPUS];
	struct meter meters[ENERGY_METERS];
	uint32_t gpu_count, meter_count;
	struct energy_sums sums;
};

struct energy *energy__new(void)
{
	struct energy *energy = calloc(1, sizeof(*energy));

	if (energy)
		energy->users = energy_users__new();
	if (energy && energy->users)
		return energy;
	free(energy);
	return NULL;
}

void energy__free(struct energy *energy)
{
	if (!energy)
		return;
	for (int i = 0; i < GPUS; i++)
		energy_cells__free(&energy->gpus[i].work);
	for (int i = 0; i < ENERGY_METERS; i++) {
		energy_cells__free(&energy->meters[i].steps);
		energy_fit__free(energy->meters[i].fit);
	}
	energy_users__free(energy->users);
	free(energy->sums.kernels);
	free(energy->sums.processes);
	free(energy);
}

void energy__meter(struct energy *energy, uint32_t meter, const uint8_t uuid[16])
{
	if (!energy || meter >= ENERGY_METERS)
		return;
	memcpy(energy->meters[meter].sums.uuid, uuid, 16);
	if (meter >= energy->meter_count)
		energy->meter_count = meter + 1;
}

void energy__gpu(struct energy *energy, uint32_t gpu, const uint8_t uuid[16], bool mig)
{
	if (!energy || gpu >= GPUS)
		return;
	memcpy(energy->gpus[gpu].uuid, uuid, 16);
	energy->gpus[gpu].known = true;
	energy->gpus[gpu].mig = mig;
}

struct energy_process *energy__start(struct energy *energy, uint32_t pid)
{
	return energy ? energy_users__start(energy->users, pid) : NULL;
}

void energy__end(struct energy *energy, struct energy_process *process, const char *comm,
		 const char *(*name_of)(void *context, uint32_t name), void *context)
{
	if (energy)
		energy_users__end(energy->users, process, comm, name_of, context);
}

/* A GPU that no process has identified is the only one there is, or nobody's. */
static bool is_of(const struct energy *energy, const struct gpu *gpu, const struct meter *meter)
{
	if (!gpu->known)
		return energy->meter_count == 1 && energy->gpu_count == 1;
	return !memcmp(gpu->uuid, meter->sums.uuid, sizeof(gpu->uuid));
}

static struct energy_cell *work_of(struct energy *energy, const struct meter *meter, uint64_t at,
				   bool *mig)
{
	struct energy_cell *found = NULL;

	*mig = false;
	for (uint32_t i = 0; i < energy->gpu_count; i++) {
		struct gpu *gpu = &energy->gpus[i];
		struct energy_cell *cell = energy_cells__find(&gpu->work, at);

		if (!cell || !is_of(energy, gpu, meter))
			continue;
		*mig |= gpu->mig;
		found = cell;
	}
	return found;
}

/* A cell in which nothing ran, after another one: the counter has caught up by then. */
static void learn_idle(struct energy *energy, uint64_t at)
{
	for (uint32_t i = 0; i < energy->meter_count; i++) {
		struct meter *meter = &energy->meters[i];
		struct energy_cell *step = energy_cells__find(&meter->steps, at), *work;
		bool mig, rests;

		work = work_of(energy, meter, at, &mig);
		rests = !work || !work->total;
		if (step && rests && meter->rested && step->covered == ENERGY_CELL_NS) {
			meter->idle_joules += step->joules;
			meter->idle_ns += step->covered;
		}
		meter->rested = rests;
	}
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static void spread(struct energy *energy, struct meter *meter, const struct energy_cell *work,
		   uint64_t busy, double joules)
{
	for (uint32_t i = 0; i < work->count; i++) {
		const struct energy_share *share = &work->shares[i];
		double part = (double)share->ns / (double)work->total;

		energy_users__add(energy->users, share->user, joules * part, share->ns);
		energy_fit__spread(meter->fit, share->user, share->ns, part * (double)busy / 1e9,
				   joules * part);
	}
}

static void distribute_work(struct energy *energy, struct meter *meter,
			    const struct energy_cell *step, const struct energy_cell *work)
{
	uint64_t busy = work->busy && work->busy < work->total ? work->busy : work->total;
	double idle = 0, none = 0, gap;

	/* Its last part may not have been read. */
	if (busy > step->covered)
		busy = step->covered;
	gap = (double)(step->covered - busy);
	if (meter->idle_ns)
		idle = least(step->joules, meter->idle_joules / (double)meter->idle_ns * gap);
	else
		none = step->joules * gap / (double)step->covered;
	meter->sums.idle += idle;
	meter->sums.unattributed += none;
	meter->sums.work += step->joules - idle - none;
	spread(energy, meter, work, busy, step->joules - idle - none);
}

static double idle_watts(const struct meter *meter)
{
	return meter->idle_ns ? meter->idle_joules * 1e9 / (double)meter->idle_ns : -1;
}

/* Before the cell is cleared: the regression has the steps that begin in it. */
static void fit_meter(struct energy *energy, struct meter *meter, uint64_t at)
{
	struct energy_cells *work = NULL;

	for (uint32_t i = 0; i < energy->gpu_count; i++) {
		struct gpu *gpu = &energy->gpus[i];

		if (gpu->work.ring && !gpu->mig && is_of(energy, gpu, meter))
			work = &gpu->work;
	}
	energy_fit__use(meter->fit, work, at, idle_watts(meter));
}

static void distribute_meter(struct energy *energy, struct meter *meter, uint64_t at)
{
	struct energy_cell *step = energy_cells__find(&meter->steps, at), *work;
	bool mig;

	work = work_of(energy, meter, at, &mig);
	if (!step || !step->covered)
		return;
	meter->sums.meter += step->joules;
	if (step->covered > ENERGY_CELL_NS / 2 &&
	    step->joules * 1e9 / (double)step->covered > meter->most_watts)
		meter->most_watts = step->joules * 1e9 / (double)step->covered;
	if (mig) {
		meter->sums.unattributed += step->joules;
	} else if (!work || !work->total) {
		meter->sums.idle += step->joules;
	} else {
		distribute_work(energy, meter, step, work);
		work->metered = true;
	}
	energy_cells__clear(step);
}

static void distribute(struct energy *energy, uint64_t at)
{
	for (uint32_t i = 0; i < energy->meter_count; i++) {
		fit_meter(energy, &energy->meters[i], at);
		distribute_meter(energy, &energy->meters[i], at);
	}
	for (uint32_t i = 0; i < energy->gpu_count; i++) {
		struct energy_cell *work = energy_cells__find(&energy->gpus[i].work, at);

		if (!work)
			continue;
		if (!work->metered)
			energy->sums.unmetered_ns += work->total;
		energy_cells__clear(work);
	}
}

static void make_space(struct energy *energy, uint64_t at)
{
	if (!energy->oldest)
		energy->oldest = at > ENERGY_CELLS / 2 ? at - ENERGY_CELLS / 2 : 1;
	for (; at >= energy->oldest + ENERGY_CELLS; energy->oldest++) {
		learn_idle(energy, energy->oldest);
		distribute(energy, energy->oldest);
	}
}

void energy__step(struct energy *energy, const struct energy_step *step)
{
	double length = (double)(step->to - step->from);
	struct meter *meter;

	if (!energy || step->gpu >= energy->meter_count || step->to <= step->from)
		return;
	meter = &energy->meters[step->gpu];
	if (!meter->fit)
		meter->fit = energy_fit__new();
	energy_fit__step(meter->fit, step);
	for (uint64_t at = step->from >> ENERGY_CELL_BITS; at <= step->to >> ENERGY_CELL_BITS;
	     at++) {
		uint64_t covered =
			energy_cells__overlap(at, ENERGY_CELL_BITS, step->from, step->to);
		double joules = step->joules * (double)covered / length;
		struct energy_cell *cell;

		make_space(energy, at);
		cell = at < energy->oldest ? NULL : energy_cells__make(&meter->steps, at);
		if (cell) {
			cell->covered += covered;
			cell->joules += joules;
		} else {
			meter->sums.meter += joules;
			meter->sums.unattributed += joules;
		}
	}
}

static struct energy_cell *make_work(struct energy *energy, uint32_t gpu, uint64_t at)
{
	if (gpu >= GPUS)
		return NULL;
	if (gpu >= energy->gpu_count)
		energy->gpu_count = gpu + 1;
	make_space(energy, at);
	return at < energy->oldest ? NULL : energy_cells__make(&energy->gpus[gpu].work, at);
}

void energy__work(struct energy *energy, struct energy_process *process, uint32_t gpu,
		  uint32_t name, uint64_t start, uint64_t end)
{
	uint32_t user;

	if (!energy || end <= start)
		return;
	user = energy_users__find(energy->users, process, name);
	for (uint64_t at = start >> ENERGY_CELL_BITS; at <= (end - 1) >> ENERGY_CELL_BITS; at++) {
		struct energy_cell *cell = make_work(energy, gpu, at);

		if (!cell || !energy_cells__add(cell, user, start, end))
			energy->sums.late_ns +=
				energy_cells__overlap(at, ENERGY_CELL_BITS, start, end);
	}
}

/* Slices of stat_lines.h do not cross a cell. */
void energy__busy(struct energy *energy, uint32_t gpu, uint64_t start, uint64_t ns)
{
	uint64_t at = start >> ENERGY_CELL_BITS;
	struct energy_cell *cell;

	if (!energy || !ns || gpu >= GPUS || at < energy->oldest)
		return;
	cell = energy_cells__find(&energy->gpus[gpu].work, at);
	if (!cell)
		return;
	cell->busy += ns;
	cell->busy_parts[(start >> ENERGY_PART_BITS) % ENERGY_PARTS] += (float)ns;
}

static void finish_meter(struct energy *energy, struct meter *meter)
{
	struct energy_gpu *sums = &energy->sums.gpus[energy->sums.gpu_count++];

	*sums = meter->sums;
	sums->idle_watts = idle_watts(meter);
	/* Two ends, each as late as the slowest counters are. */
	sums->error = 2 * 0.1 * meter->most_watts;
	energy_fit__finish(meter->fit, energy->users, sums->idle_watts);
	sums->lag_ns = energy_fit__lag(meter->fit);
}

static void add_errors(void *context, const struct energy_line_parts *parts)
{
	struct energy *energy = context;

	for (uint32_t i = 0; i < energy->meter_count; i++)
		energy_fit__lines(energy->meters[i].fit, parts);
}

const struct energy_sums *energy__finish(struct energy *energy)
{
	struct energy_line_source source = {add_errors, energy};
	struct energy_sums *sums;

	if (!energy)
		return NULL;
	sums = &energy->sums;
	for (uint64_t i = 0; i < ENERGY_CELLS && energy->oldest; i++)
		learn_idle(energy, energy->oldest + i);
	for (uint64_t i = 0; i < ENERGY_CELLS && energy->oldest; i++)
		distribute(energy, energy->oldest + i);
	for (uint32_t i = 0; i < energy->meter_count; i++)
		finish_meter(energy, &energy->meters[i]);
	sums->kernels = energy_users__kernels(energy->users, &source, &sums->kernel_count);
	sums->processes = energy_users__processes(energy->users, &source, &sums->process_count);
	return sums;
}
