// SPDX-License-Identifier: BSD-2-Clause
/*
 * A step is used when the first cell is distributed that its energy may come from, before that cell
 * is cleared. By then the ring has all of its time. A user without a column replaces the one with
 * the least time when it has had twice that; the old one's past goes to the column of others.
 */
#include "cuda-trace/energy/energy_fit.h"

#include <stdlib.h>
#include <string.h>

#define STEPS	 2048 /* that wait: those of the ring's 68 s and more */
#define USERS	 (UINT16_MAX + 1)
#define MAX_LAG	 (ENERGY_LAGS - 1)
#define MAX_STEP (1000000000ull)
#define BLOCK	 5 /* steps that follow each other belong to the same group */
#define MIN_ROWS 20
#define LEAST	 0.1 /* of the prior: power below this is no estimate */

enum { IDLE, OTHERS, FIRST }; /* columns */

struct column {
	uint32_t user;
	uint64_t ns;
	double seconds, joules;		/* of distributed cells: of the GPU's time, by time */
	double row_seconds, row_joules; /* of rows, for the prior */
	double had;			/* seconds of rows, with those before it had the column */
	double scaled;			/* joules for each joule of the regression; 0: not used */
};

struct energy_fit {
	struct energy_normal *normal;
	struct energy_step steps[STEPS];
	uint64_t written, taken;
	uint8_t column_of[USERS];
	float pooled[USERS]; /* seconds of users without a column */
	struct column columns[ENERGY_COLUMNS];
	uint32_t count;
	bool solved;
	struct energy_estimate estimate;
};

struct energy_fit *energy_fit__new(void)
{
	struct energy_fit *fit = calloc(1, sizeof(*fit));

	if (!fit)
		return NULL;
	fit->normal = energy_normal__new();
	fit->count = FIRST;
	if (fit->normal)
		return fit;
	free(fit);
	return NULL;
}

void energy_fit__free(struct energy_fit *fit)
{
	if (!fit)
		return;
	energy_normal__free(fit->normal);
	free(fit);
}

void energy_fit__step(struct energy_fit *fit, const struct energy_step *step)
{
	if (fit && fit->written - fit->taken < STEPS)
		fit->steps[fit->written++ % STEPS] = *step;
}

static uint32_t smallest(const struct energy_fit *fit)
{
	uint32_t found = FIRST;

	for (uint32_t i = FIRST; i < ENERGY_COLUMNS; i++)
		if (fit->columns[i].had < fit->columns[found].had)
			found = i;
	return found;
}

static void replace(struct energy_fit *fit, uint32_t at, uint32_t user)
{
	struct column *column = &fit->columns[at], *others = &fit->columns[OTHERS];

	energy_normal__fold(fit->normal, at, OTHERS);
	others->row_seconds += column->row_seconds;
	others->row_joules += column->row_joules;
	fit->column_of[column->user] = 0;
	fit->pooled[column->user] = (float)column->had;
	fit->column_of[user] = (uint8_t)at;
	*column = (struct column){.user = user, .had = (double)fit->pooled[user]};
}

/* User 0 is those without a name of their own. */
static uint32_t column_of(struct energy_fit *fit, uint32_t user, double seconds)
{
	uint32_t at;

	if (!user || user >= USERS)
		return OTHERS;
	if (fit->column_of[user])
		return fit->column_of[user];
	if (fit->count < ENERGY_COLUMNS) {
		fit->columns[fit->count].user = user;
		fit->column_of[user] = (uint8_t)fit->count;
		return fit->count++;
	}
	fit->pooled[user] += (float)seconds;
	at = smallest(fit);
	if ((double)fit->pooled[user] < 2 * fit->columns[at].had)
		return OTHERS;
	replace(fit, at, user);
	return at;
}

/* What ran in a part of a cell, of which `share` is in the window. */
static double add_part(struct energy_fit *fit, const struct energy_cell *cell, uint32_t part,
		       double share, double seconds[ENERGY_COLUMNS])
{
	double total = 0, busy = (double)cell->busy_parts[part];

	for (uint32_t i = 0; i < cell->count; i++)
		total += (double)cell->shares[i].parts[part];
	if (total <= 0)
		return 0;
	if (busy <= 0 || busy > total)
		busy = total;
	if (busy > (double)ENERGY_PART_NS)
		busy = (double)ENERGY_PART_NS;
	for (uint32_t i = 0; i < cell->count; i++) {
		const struct energy_share *user = &cell->shares[i];
		double own = (double)user->parts[part] / total * busy * share / 1e9;

		if (own > 0)
			seconds[column_of(fit, user->user, own)] += own;
	}
	return busy * share / 1e9;
}

static void fill_row(struct energy_fit *fit, struct energy_cells *work,
		     const struct energy_step *step, struct energy_row *row)
{
	double seconds[ENERGY_COLUMNS] = {0}, busy = 0, all;

	for (uint64_t part = step->from >> ENERGY_PART_BITS; part <= step->to >> ENERGY_PART_BITS;
	     part++) {
		uint64_t ns = energy_cells__overlap(part, ENERGY_PART_BITS, step->from, step->to);
		struct energy_cell *cell = energy_cells__find(work, part / ENERGY_PARTS);

		if (cell && ns)
			busy += add_part(fit, cell, part % ENERGY_PARTS,
					 (double)ns / (double)ENERGY_PART_NS, seconds);
	}
	all = (double)(step->to - step->from) / 1e9;
	seconds[IDLE] = all > busy ? all - busy : 0;
	row->count = 0;
	row->joules = step->joules;
	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++)
		if (seconds[i] > 0) {
			row->columns[row->count] = (uint8_t)i;
			row->seconds[row->count++] = seconds[i];
		}
}

/* The division by time, of this row: the prior. */
static void add_prior(struct energy_fit *fit, const struct energy_row *row, double idle_watts)
{
	double idle = row->count && row->columns[0] == IDLE ? row->seconds[0] : 0, all = 0, joules;

	for (uint32_t i = 0; i < row->count; i++)
		all += row->seconds[i];
	joules = idle_watts < 0 ? row->joules * (1 - idle / all) : row->joules - idle_watts * idle;
	if (joules < 0)
		joules = 0;
	for (uint32_t i = 0; i < row->count; i++) {
		struct column *column = &fit->columns[row->columns[i]];

		column->row_seconds += row->seconds[i];
		column->had += row->seconds[i];
		if (row->columns[i] == IDLE)
			column->row_joules += row->joules - joules;
		else
			column->row_joules += joules * row->seconds[i] / (all - idle);
	}
}

static void use_step(struct energy_fit *fit, struct energy_cells *work,
		     const struct energy_step *step, double idle_watts)
{
	uint32_t group = (uint32_t)(energy_normal__rows(fit->normal) / BLOCK % ENERGY_GROUPS);
	struct energy_row row;

	for (uint32_t lag = 0; lag <= MAX_LAG; lag++) {
		struct energy_step earlier = *step;

		earlier.from -= lag * ENERGY_PART_NS;
		earlier.to -= lag * ENERGY_PART_NS;
		fill_row(fit, work, &earlier, &row);
		energy_normal__add(fit->normal, lag, group, &row);
		if (!lag)
			add_prior(fit, &row, idle_watts);
	}
}

void energy_fit__use(struct energy_fit *fit, struct energy_cells *work, uint64_t at,
		     double idle_watts)
{
	for (; fit && fit->taken < fit->written; fit->taken++) {
		const struct energy_step *step = &fit->steps[fit->taken % STEPS];

		if (step->from <= MAX_LAG * ENERGY_PART_NS)
			continue;
		if ((step->from - MAX_LAG * ENERGY_PART_NS) >> ENERGY_CELL_BITS > at)
			return;
		/* Otherwise the GPU had no work yet, a cell that is needed has been cleared, or
		 * the counter could not be read for long. */
		if (work && (step->from - MAX_LAG * ENERGY_PART_NS) >> ENERGY_CELL_BITS == at &&
		    step->to - step->from <= MAX_STEP)
			use_step(fit, work, step, idle_watts);
	}
}

void energy_fit__spread(struct energy_fit *fit, uint32_t user, uint64_t ns, double seconds,
			double joules)
{
	struct column *column;

	if (!fit || user >= USERS || !fit->column_of[user])
		return;
	column = &fit->columns[fit->column_of[user]];
	column->ns += ns;
	column->seconds += seconds;
	column->joules += joules;
}

static void solve(struct energy_fit *fit, double idle_watts)
{
	double prior[ENERGY_COLUMNS], joules = 0, seconds = 0;

	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++) {
		joules += fit->columns[i].row_joules;
		seconds += fit->columns[i].row_seconds;
	}
	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++) {
		const struct column *column = &fit->columns[i];

		prior[i] = column->row_seconds > 0 ? column->row_joules / column->row_seconds
						   : joules / seconds;
		if (i == IDLE && idle_watts >= 0)
			prior[i] = idle_watts;
		if (prior[i] < 1)
			prior[i] = 1;
	}
	energy_normal__solve(fit->normal, prior, &fit->estimate);
	fit->solved = true;
}

static bool is_separable(const struct energy_fit *fit, uint32_t column)
{
	double seconds[ENERGY_COLUMNS] = {0}, joules;

	seconds[column] = 1;
	return energy_estimate__error(&fit->estimate, seconds, &joules) != ENERGY_NOT_SEPARABLE;
}

/* Columns that cannot be separated have what is estimated for them together, divided by time:
 * alone, each has the noise of the others. */
static void level(struct energy_fit *fit)
{
	double estimated = 0, by_time = 0;
	bool together[ENERGY_COLUMNS] = {0};

	for (uint32_t i = FIRST; i < fit->count; i++) {
		double seconds = fit->columns[i].seconds;

		together[i] = !is_separable(fit, i);
		if (!together[i])
			continue;
		estimated += fit->estimate.watts[i] * seconds;
		by_time += fit->estimate.prior[i] * seconds;
	}
	for (uint32_t i = FIRST; i < fit->count; i++)
		if (together[i] && by_time > 0)
			fit->estimate.watts[i] = fit->estimate.prior[i] * estimated / by_time;
}

void energy_fit__finish(struct energy_fit *fit, struct energy_users *users, double idle_watts)
{
	double joules = 0, estimated = 0, scale;

	if (!fit || fit->count == FIRST || energy_normal__rows(fit->normal) < MIN_ROWS)
		return;
	solve(fit, idle_watts);
	level(fit);
	for (uint32_t i = FIRST; i < fit->count; i++) {
		double *watts = &fit->estimate.watts[i], least = LEAST * fit->estimate.prior[i];

		if (*watts < least)
			*watts = least;
		joules += fit->columns[i].joules;
		estimated += *watts * fit->columns[i].seconds;
	}
	scale = estimated > 0 ? joules / estimated : 0;
	for (uint32_t i = FIRST; i < fit->count; i++) {
		struct column *column = &fit->columns[i];

		column->scaled = scale;
		if (scale > 0)
			energy_users__move(users, column->user,
					   scale * fit->estimate.watts[i] * column->seconds -
						   column->joules);
	}
}

int64_t energy_fit__lag(const struct energy_fit *fit)
{
	if (!fit || !fit->solved)
		return -1;
	return (int64_t)(fit->estimate.lag * ENERGY_PART_NS);
}

/* One line's columns, from the first on. */
static void add_line(const struct energy_fit *fit, uint32_t first,
		     const struct energy_line_parts *parts)
{
	uint32_t line = parts->line_of[fit->columns[first].user];
	double seconds[ENERGY_COLUMNS] = {0}, joules = 0;
	struct energy_line_part *part = &parts->parts[line];
	enum energy_basis basis;

	for (uint32_t i = first; i < fit->count; i++) {
		const struct column *column = &fit->columns[i];

		if (parts->line_of[column->user] != line)
			continue;
		seconds[i] = column->seconds;
		part->ns += column->ns;
	}
	basis = energy_estimate__error(&fit->estimate, seconds, &joules);
	joules *= fit->columns[first].scaled;
	part->squares += joules * joules;
	if (basis < part->basis)
		part->basis = basis;
}

void energy_fit__lines(const struct energy_fit *fit, const struct energy_line_parts *parts)
{
	uint8_t done[ENERGY_COLUMNS] = {0};

	if (!fit || !fit->solved)
		return;
	for (uint32_t i = FIRST; i < fit->count; i++) {
		if (done[i] || !fit->columns[i].ns)
			continue;
		for (uint32_t j = i; j < fit->count; j++)
			done[j] |= parts->line_of[fit->columns[j].user] ==
				   parts->line_of[fit->columns[i].user];
		add_line(fit, i, parts);
	}
}
