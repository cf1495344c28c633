// SPDX-License-Identifier: BSD-2-Clause
/*
 * Energy of meters and work that are known exactly: what no simulated GPU has. Prints lines of
 * "WHAT meter JOULES work … idle … unattributed … [NAME=JOULES]…".
 */
#include <stdio.h>
#include <string.h>
#include "cuda-trace/energy/energy.h"

#define CELL (1ull << 27)
#define BASE (1000 * CELL)

static const uint8_t uuid[16] = {7}, other[16] = {8};

static const char *name_of(void *context, uint32_t id)
{
	static char name[2];

	(void)context;
	name[0] = (char)('a' + id - 1);
	return name;
}

static struct energy *begin(void)
{
	struct energy *energy = energy__new();

	energy__meter(energy, 0, uuid);
	return energy;
}

static void step(struct energy *energy, uint64_t cells, double joules)
{
	energy__step(energy, &(struct energy_step){0, BASE + cells * CELL,
						   BASE + (cells + 1) * CELL, joules});
}

static void work(struct energy *energy, struct energy_process *process, uint32_t name, double from,
		 double to)
{
	energy__work(energy, process, 0, name, BASE + (uint64_t)(from * (double)CELL),
		     BASE + (uint64_t)(to * (double)CELL));
}

static void busy(struct energy *energy, double from, double to)
{
	energy__busy(energy, 0, BASE + (uint64_t)(from * (double)CELL),
		     (uint64_t)((to - from) * (double)CELL));
}

static void finish(const char *what, struct energy *energy, struct energy_process *process)
{
	const struct energy_sums *sums;

	energy__end(energy, process, "unit", name_of, NULL);
	sums = energy__finish(energy);
	printf("%s meter %.2f work %.2f idle %.2f unattributed %.2f", what, sums->gpus[0].meter,
	       sums->gpus[0].work, sums->gpus[0].idle, sums->gpus[0].unattributed);
	for (uint32_t i = 0; i < sums->kernel_count; i++)
		printf(" %s=%.2f", sums->kernels[i].name, sums->kernels[i].joules);
	printf(" late %.2f unmetered %.2f\n", (double)sums->late_ns / (double)CELL,
	       (double)sums->unmetered_ns / (double)CELL);
	energy__free(energy);
}

/* Cells 0 to 2 idle at 10 J, then half busy with 40 J. */
static void rested(void)
{
	struct energy *energy = begin();
	struct energy_process *process = energy__start(energy, 1);

	for (int i = 0; i < 3; i++)
		step(energy, i, 10);
	step(energy, 3, 40);
	work(energy, process, 1, 3, 3.5);
	busy(energy, 3, 3.5);
	finish("rested", energy, process);
}

static void never_idle(void)
{
	struct energy *energy = begin();
	struct energy_process *process = energy__start(energy, 1);

	step(energy, 0, 40);
	work(energy, process, 1, 0, 0.75);
	busy(energy, 0, 0.75);
	finish("never idle", energy, process);
}

/* Two kernels at once, one three times as long. */
static void overlap(void)
{
	struct energy *energy = begin();
	struct energy_process *process = energy__start(energy, 1);

	step(energy, 0, 40);
	work(energy, process, 1, 0, 1);
	work(energy, process, 2, 0, 0.3333333);
	busy(energy, 0, 1);
	finish("overlap", energy, process);
}

/* The parts of a GPU have work, its meter is the whole's. */
static void mig(void)
{
	struct energy *energy = begin();
	struct energy_process *process = energy__start(energy, 1);

	energy__gpu(energy, 0, uuid, true);
	step(energy, 0, 40);
	work(energy, process, 1, 0, 1);
	busy(energy, 0, 1);
	finish("mig", energy, process);
}

static void other_gpu(void)
{
	struct energy *energy = begin();
	struct energy_process *process = energy__start(energy, 1);

	energy__gpu(energy, 0, other, false);
	step(energy, 0, 40);
	work(energy, process, 1, 0, 1);
	finish("other GPU", energy, process);
}

/* Longer than the ring; then work of its beginning. */
static void late(void)
{
	struct energy *energy = begin();
	struct energy_process *process = energy__start(energy, 1);

	for (int i = 0; i < 2000; i++) {
		step(energy, i, 10);
		if (i % 2)
			continue;
		work(energy, process, 1, i, i + 1);
		busy(energy, i, i + 1);
	}
	work(energy, process, 2, 1, 2);
	finish("late", energy, process);
}

/* More names than there is space for: all of the energy is somebody's. */
static void many(void)
{
	struct energy *energy = begin();
	struct energy_process *process = energy__start(energy, 1);
	const struct energy_sums *sums;
	double joules = 0;

	step(energy, 0, 40);
	for (uint32_t name = 1; name <= 100000; name++)
		energy__work(energy, process, 0, name, BASE + name, BASE + name + 1);
	sums = energy__finish(energy);
	for (uint32_t i = 0; i < sums->kernel_count; i++)
		joules += sums->kernels[i].joules;
	printf("many %s\n", joules > sums->gpus[0].work - 1e-6 && joules < sums->gpus[0].work + 1e-6
				    ? "conserved"
				    : "lost");
	energy__free(energy);
}

int main(void)
{
	rested();
	never_idle();
	overlap();
	mig();
	other_gpu();
	late();
	many();
	return 0;
}
