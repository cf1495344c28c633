// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shares are found by a look at the last one and then at each: a program runs some ten kernels in
 * 134 ms, often the same one again. Beyond MAX_SHARES the first share, of "others", has the rest.
 */
#include "cuda-trace/energy/energy_cells.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"

#define MAX_SHARES 256

struct energy_cell *energy_cells__find(struct energy_cells *cells, uint64_t at)
{
	struct energy_cell *cell = cells->ring ? &cells->ring[at % ENERGY_CELLS] : NULL;

	return cell && cell->at == at ? cell : NULL;
}

struct energy_cell *energy_cells__make(struct energy_cells *cells, uint64_t at)
{
	struct energy_cell *cell;

	if (!cells->ring)
		cells->ring = calloc(ENERGY_CELLS, sizeof(*cells->ring));
	if (!cells->ring)
		return NULL;
	cell = &cells->ring[at % ENERGY_CELLS];
	if (cell->at != at)
		energy_cells__clear(cell);
	cell->at = at;
	return cell;
}

static struct energy_share *share_of(struct energy_cell *cell, uint32_t user)
{
	for (uint32_t i = cell->count; i; i--)
		if (cell->shares[i - 1].user == user)
			return &cell->shares[i - 1];
	if (user && cell->count >= MAX_SHARES)
		return share_of(cell, 0);
	if (!array_grow__for_one(cell->shares, cell->capacity, cell->count))
		return NULL;
	cell->shares[cell->count] = (struct energy_share){.user = user};
	return &cell->shares[cell->count++];
}

uint64_t energy_cells__overlap(uint64_t at, uint32_t bits, uint64_t start, uint64_t end)
{
	uint64_t from = at << bits, to = from + (1ull << bits);

	from = start > from ? start : from;
	to = end < to ? end : to;
	return to > from ? to - from : 0;
}

bool energy_cells__add(struct energy_cell *cell, uint32_t user, uint64_t start, uint64_t end)
{
	struct energy_share *share = share_of(cell, user);
	uint64_t ns = energy_cells__overlap(cell->at, ENERGY_CELL_BITS, start, end);

	if (!share)
		return false;
	share->ns += ns;
	cell->total += ns;
	for (uint32_t i = 0; i < ENERGY_PARTS && ns; i++) {
		uint64_t part = energy_cells__overlap(cell->at * ENERGY_PARTS + i, ENERGY_PART_BITS,
						      start, end);

		share->parts[i] += (float)part;
		ns -= part;
	}
	return true;
}

void energy_cells__clear(struct energy_cell *cell)
{
	free(cell->shares);
	memset(cell, 0, sizeof(*cell));
}

void energy_cells__free(struct energy_cells *cells)
{
	for (int i = 0; cells->ring && i < ENERGY_CELLS; i++)
		free(cells->ring[i].shares);
	free(cells->ring);
	cells->ring = NULL;
}
