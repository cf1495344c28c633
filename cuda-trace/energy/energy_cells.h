/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of cells of 134 ms for one GPU or one meter. Only those have memory in which something
 * was.
 */
#ifndef CUDA_TRACE_ENERGY_ENERGY_CELLS_H
#define CUDA_TRACE_ENERGY_ENERGY_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#define ENERGY_CELL_BITS 27
#define ENERGY_CELL_NS	 (1ull << ENERGY_CELL_BITS)
#define ENERGY_CELLS	 512 /* 68 s: a power of two */
/* Parts of a cell, for the regression: 17 ms. */
#define ENERGY_PART_BITS 24
#define ENERGY_PART_NS	 (1ull << ENERGY_PART_BITS)
#define ENERGY_PARTS	 (1 << (ENERGY_CELL_BITS - ENERGY_PART_BITS))

struct energy_share {
	uint32_t user;
	uint64_t ns;
	float parts[ENERGY_PARTS]; /* ns */
};

struct energy_cell {
	uint64_t at;	  /* its number; 0 = empty */
	double joules;	  /* of a meter */
	uint64_t covered; /* ns of it that the meter's steps cover */
	uint64_t busy;	  /* ns of a GPU */
	float busy_parts[ENERGY_PARTS];
	uint64_t total; /* ns of all shares: with overlaps, more than busy */
	struct energy_share *shares;
	uint32_t count, capacity;
	bool metered;
};

struct energy_cells {
	struct energy_cell *ring; /* NULL = none was made */
};

/* NULL: nothing was in it. */
struct energy_cell *energy_cells__find(struct energy_cells *cells, uint64_t at);
/* NULL: no memory. What was in its place must be cleared before. */
struct energy_cell *energy_cells__make(struct energy_cells *cells, uint64_t at);
/* What of [start, end) is in the cell. False: no memory. */
bool energy_cells__add(struct energy_cell *cell, uint32_t user, uint64_t start, uint64_t end);
/* How much of [start, end) is in the cell or part of that number and length, 1 << bits. */
uint64_t energy_cells__overlap(uint64_t at, uint32_t bits, uint64_t start, uint64_t end);
void energy_cells__clear(struct energy_cell *cell);
void energy_cells__free(struct energy_cells *cells);

#endif
