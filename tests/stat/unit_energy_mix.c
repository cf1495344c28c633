// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kernels of known power in a mix, and a counter as an H100 has it: updated every 20 to 100 ms,
 * with what was used until some time before. As tests/gpu/run energies: twenty kernels in random
 * turns of 300 ms. Simulated time, so nothing waits.
 *
 *   unit_energy_mix random SEED READ_MS SECONDS    one line: how many of 20 are within 5 %
 *   unit_energy_mix pair|pair-and-third|many       a line for each kernel
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/energy/energy.h"
#include "cuda-trace/energy/energy_reading.h"

#define MS     1000000ull
#define BASE   (100000 * MS)
#define KINDS  200
#define PART   (1ull << 24)
#define IDLE_W 100.0

struct run {
	uint64_t start, end;
	uint32_t kind;
	double joules; /* of all before, without idle power */
	double watts;
};

static struct run *runs;
static size_t count;
static double watts_of[KINDS]; /* with the idle GPU's */
static uint64_t ns_of[KINDS];
static uint64_t now = BASE, state;
static struct energy *energy;
static struct energy_process *process;

static double uniform(double from, double to)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return from + (to - from) * (double)(state >> 11) / (double)(1ull << 53);
}

static const char *name_of(void *context, uint32_t id)
{
	static char name[16];

	(void)context;
	snprintf(name, sizeof(name), "k%u", id - 1);
	return name;
}

static void begin(uint64_t seed)
{
	static const uint8_t uuid[16] = {7};

	state = seed * 77777 + 1;
	for (int i = 0; i < 10; i++)
		uniform(0, 1);
	runs = calloc(400000, sizeof(*runs));
	energy = energy__new();
	energy__meter(energy, 0, uuid);
	process = energy__start(energy, 1);
	for (int i = 0; i < KINDS; i++) {
		watts_of[i] = uniform(300, 700);
		ns_of[i] = (uint64_t)(uniform(0.3, 4) * 1e6);
	}
}

static void busy(uint64_t start, uint64_t end)
{
	for (uint64_t at = start / PART; at <= end / PART; at++) {
		uint64_t from = at * PART > start ? at * PART : start;
		uint64_t to = (at + 1) * PART < end ? (at + 1) * PART : end;

		if (to > from)
			energy__busy(energy, 0, from, to - from);
	}
}

static void launch(uint32_t kind, double watts)
{
	struct run *last = count ? &runs[count - 1] : NULL, *run = &runs[count++];

	*run = (struct run){.start = now, .end = now + ns_of[kind], .kind = kind, .watts = watts};
	if (last)
		run->joules = last->joules +
			      (last->watts - IDLE_W) * (double)(last->end - last->start) / 1e9;
	now = run->end + 4000;
}

/* The power of a turn differs by 1 % from the kernel's: temperature. */
static void turn(uint32_t kind, uint64_t ns)
{
	double watts = watts_of[kind] * uniform(0.99, 1.01);

	for (uint64_t end = now + ns; now < end;)
		launch(kind, watts);
}

static double used_until(uint64_t time)
{
	size_t low = 0, high = count;
	double joules = IDLE_W * (double)(time - BASE / 2) / 1e9;
	uint64_t end;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (runs[middle].start <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return joules;
	end = runs[low - 1].end < time ? runs[low - 1].end : time;
	return joules + runs[low - 1].joules +
	       (runs[low - 1].watts - IDLE_W) * (double)(end - runs[low - 1].start) / 1e9;
}

static void put_work(uint64_t until)
{
	static size_t done;

	for (; done < count && runs[done].start < until; done++) {
		const struct run *run = &runs[done];

		energy__work(energy, process, 0, run->kind + 1, run->start, run->end);
		busy(run->start, run->end);
	}
}

/* How the counter is updated and read. */
enum meter {
	REGULAR,   /* as on an H100: every 100 ms, and reading takes 2 to 6 ms */
	SHORT,	   /* the same, every 20 ms: steps of several updates */
	IRREGULAR, /* every 20 to 100 ms; reading takes no time */
	FIXED,	   /* the same, read every 100 ms and never between: recordings of before 1.0 */
};

static bool is_regular(enum meter meter)
{
	return meter == REGULAR || meter == SHORT;
}

static uint64_t update_after(enum meter meter, uint64_t updated)
{
	if (is_regular(meter))
		return updated + (meter == SHORT ? 20 : 100) * MS + (uint64_t)uniform(0, 0.5e6);
	return updated + (uint64_t)(uniform(20, 100) * 1e6);
}

static void add_span(const struct energy_span *span)
{
	energy__step(energy, &(struct energy_step){0, span->from, span->to,
						   (double)span->millijoules / 1e3});
}

static void read_meter(enum meter meter)
{
	uint64_t lag = (uint64_t)(uniform(0, 40) * 1e6), updated = BASE - 1000 * MS, next = updated;
	uint64_t cost = is_regular(meter) ? 4 * MS : 0;
	struct energy_reading reading = {0};
	struct energy_span span;
	uint64_t millijoules = 0;

	for (uint64_t time = BASE - 800 * MS; time < now + 1000 * MS;) {
		uint64_t ended = time + (uint64_t)(uniform(0.5, 1.5) * (double)cost);

		put_work(ended);
		for (; next <= ended; next = update_after(meter, updated)) {
			updated = next;
			millijoules = (uint64_t)(used_until(updated - lag) * 1e3);
		}
		if (energy_reading__next(&reading, time, ended, millijoules,
					 energy_reading__least(reading.cost), meter == FIXED,
					 &span) == ENERGY_STEP)
			add_span(&span);
		time = meter == FIXED ? time + 100 * MS : reading.due;
		time += (uint64_t)uniform(0, 1e6);
	}
}

static const struct energy_sums *finish(enum meter meter)
{
	read_meter(meter);
	energy__end(energy, process, "unit", name_of, NULL);
	return energy__finish(energy);
}

static double truth_of(const struct energy_line *line)
{
	return watts_of[atoi(line->name + 1)];
}

static void check_sums(const struct energy_sums *sums)
{
	const struct energy_gpu *gpu = &sums->gpus[0];
	double joules = 0, by_time = 0, processes = 0;

	for (uint32_t i = 0; i < sums->kernel_count; i++) {
		joules += sums->kernels[i].joules;
		by_time += sums->kernels[i].joules_by_time;
	}
	for (uint32_t i = 0; i < sums->process_count; i++)
		processes += sums->processes[i].joules;
	if (fabs(joules - gpu->work) > 1e-6 || fabs(by_time - gpu->work) > 1e-6 ||
	    fabs(processes - gpu->work) > 1e-6 ||
	    fabs(gpu->work + gpu->idle + gpu->unattributed - gpu->meter) > 1e-6)
		printf("not conserved\n");
}

static void put_counts(uint64_t seed, const struct energy_sums *sums)
{
	double worst = 0, worst_by_time = 0, error = 0;
	int within = 0, within_by_time = 0, covered = 0, known = 0;

	for (uint32_t i = 0; i < sums->kernel_count; i++) {
		const struct energy_line *line = &sums->kernels[i];
		double truth = truth_of(line), seconds = (double)line->ns / 1e9;
		double off = fabs(line->joules / seconds / truth - 1);
		double off_by_time = fabs(line->joules_by_time / seconds / truth - 1);

		within += off <= 0.05;
		within_by_time += off_by_time <= 0.05;
		worst = fmax(worst, off);
		worst_by_time = fmax(worst_by_time, off_by_time);
		if (line->basis != ENERGY_REGRESSION)
			continue;
		known++;
		error += line->error / truth;
		covered += off * truth <= line->error;
	}
	printf("seed %llu of %u: by time %d worst %.1f%% regression %d worst %.1f%% known %d "
	       "covered %d +-%.1f%% lag %.0f ms\n",
	       (unsigned long long)seed, sums->kernel_count, within_by_time, 100 * worst_by_time,
	       within, 100 * worst, known, covered, 100 * error / fmax(known, 1),
	       (double)sums->gpus[0].lag_ns / 1e6);
}

static void put_lines(const struct energy_sums *sums)
{
	static const char *const words[] = {"by time", "short", "not separable", "regression"};

	for (uint32_t i = 0; i < sums->kernel_count; i++) {
		const struct energy_line *line = &sums->kernels[i];
		double watts = line->joules * 1e9 / (double)line->ns;

		printf("%s truth %.0f watts %.0f by time %.0f +-%.1f: %s\n", line->name,
		       truth_of(line), watts, line->joules_by_time * 1e9 / (double)line->ns,
		       line->error, words[line->basis]);
	}
}

/* Two that take turns of some milliseconds: no step has one without the other. */
static void pair(uint64_t ns)
{
	for (uint64_t end = now + ns; now < end;) {
		launch(0, watts_of[0]);
		launch(1, watts_of[1]);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	enum meter meter = argc > 3 ? (enum meter)strtoul(argv[3], NULL, 10) : IRREGULAR;
	uint64_t seconds = argc > 4 ? strtoull(argv[4], NULL, 10) : 50;
	const struct energy_sums *sums;

	begin(seed);
	if (strcmp(what, "random") == 0) {
		while (now < BASE + seconds * 1000 * MS)
			turn((uint32_t)uniform(0, 20), 300 * MS);
	} else if (strcmp(what, "many") == 0) {
		/* More than have columns: the first 100 briefly. */
		for (uint32_t i = 0; i < 100; i++)
			turn(20 + i, 20 * MS);
		while (now < BASE + seconds * 1000 * MS)
			turn((uint32_t)uniform(0, 20), 300 * MS);
	} else {
		watts_of[0] = 600;
		watts_of[1] = 300;
		watts_of[2] = 450;
		ns_of[0] = ns_of[1] = 2 * MS;
		for (int i = 0; i < 30; i++) {
			pair(500 * MS);
			if (strcmp(what, "pair-and-third") == 0)
				turn(2, 300 * MS);
		}
	}
	sums = finish(meter);
	check_sums(sums);
	if (strcmp(what, "random") == 0)
		put_counts(seed, sums);
	else
		put_lines(sums);
	energy__free(energy);
	free(runs);
	return 0;
}
