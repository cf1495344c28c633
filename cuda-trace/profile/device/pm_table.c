// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/device/pm_table.h"

#include <math.h>
#include <string.h>

#define FIRST_POINT_NS 10000000

void pm_table__scale(const struct pm_choice *choice, struct pm_sample *sample)
{
	for (size_t i = 0; i < choice->count; i++)
		if (choice->columns[i].unit == PM_RATIO)
			sample->values[i] /= 100;
}

static void add_cell(struct pm_cell *cell, double value, uint64_t ns, bool first)
{
	cell->sum += value * ns;
	if (first || value < cell->least)
		cell->least = value;
	if (first || value > cell->most)
		cell->most = value;
}

static void add_row(struct pm_row *row, size_t count, const struct pm_sample *sample)
{
	uint64_t ns = sample->end - sample->start;

	if (!row->samples)
		row->start = sample->start;
	row->end = sample->end;
	row->ns += ns;
	for (size_t i = 0; i < count; i++)
		add_cell(&row->cells[i], sample->values[i], ns, !row->samples);
	row->samples++;
}

/* Half as many points, each of twice the time. */
static void halve(struct pm_table *table, size_t count)
{
	for (int k = 0; k < PM_POINTS; k++) {
		uint64_t ns = table->point_time[k];

		table->point_time[k] = 0;
		table->point_time[k / 2] += ns;
		for (size_t i = 0; i < count; i++) {
			struct pm_cell cell = table->points[i][k];

			table->points[i][k] = (struct pm_cell){};
			table->points[i][k / 2].sum += cell.sum;
		}
	}
	table->point_ns *= 2;
}

static void add_point(struct pm_table *table, size_t count, const struct pm_sample *sample)
{
	uint64_t since = sample->start - table->all.start, ns = sample->end - sample->start;

	if (!table->point_ns)
		table->point_ns = FIRST_POINT_NS;
	/* Clocks were set right in between. */
	if (sample->start < table->all.start)
		return;
	while (since / table->point_ns >= PM_POINTS)
		halve(table, count);
	table->point_time[since / table->point_ns] += ns;
	for (size_t i = 0; i < count; i++)
		table->points[i][since / table->point_ns].sum += sample->values[i] * ns;
}

static void add_bins(struct pm_table *table, const struct pm_choice *choice,
		     const struct pm_sample *sample)
{
	for (size_t i = 0; i < choice->count; i++) {
		double percent = sample->values[i] * 100 + 0.5;

		if (choice->columns[i].unit != PM_RATIO || isnan(percent))
			continue;
		percent = fmin(fmax(percent, 0), PM_BINS - 1);
		table->bins[i][(int)percent] += sample->end - sample->start;
	}
}

void pm_table__add(struct pm_table *table, const struct pm_choice *choice,
		   const struct pm_sample *sample)
{
	add_row(&table->row, choice->count, sample);
	add_row(&table->all, choice->count, sample);
	add_point(table, choice->count, sample);
	add_bins(table, choice, sample);
}

void pm_table__next(struct pm_table *table, uint64_t lost, struct pm_row *row)
{
	*row = table->row;
	row->lost = lost - table->lost_seen;
	table->lost_seen = table->all.lost = lost;
	table->row = (struct pm_row){};
}

double pm_row__mean(const struct pm_row *row, unsigned int column)
{
	return row->ns ? row->cells[column].sum / row->ns : NAN;
}

double pm_table__quantile(const struct pm_table *table, unsigned int column, double part)
{
	uint64_t below = 0, total = 0;

	for (int i = 0; i < PM_BINS; i++)
		total += table->bins[column][i];
	for (int i = 0; i < PM_BINS && total; i++) {
		below += table->bins[column][i];
		if (below >= part * total)
			return i / 100.0;
	}
	return NAN;
}

double pm_table__point(const struct pm_table *table, unsigned int column, unsigned int n,
		       unsigned int count)
{
	uint64_t used =
		table->point_ns ? (table->all.end - table->all.start - 1) / table->point_ns + 1 : 0;
	uint64_t from = n * used / count, to = (n + 1) * used / count, ns = 0;
	double sum = 0;

	/* More of them than points: a point fills several. */
	if (to == from)
		to = from + 1;
	for (uint64_t k = from; k < to && k < PM_POINTS; k++) {
		ns += table->point_time[k];
		sum += table->points[column][k].sum;
	}
	return ns ? sum / ns : NAN;
}
