/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report of several sections, as tables for people or as one JSON object. A command describes
 * each section once, row by row: what a column is called in text and in JSON, and its value with
 * its unit. What only one of the two has goes through functions that do nothing for the other.
 */
#ifndef CUDA_TRACE_CLI_SHEET_H
#define CUDA_TRACE_CLI_SHEET_H

#include "cuda-trace/cli/writer.h"

#define SHEET_COLUMNS 16
#define SHEET_DEPTH   8

struct sheet {
	FILE *file;
	bool json;
	bool plain; /* JSON: escapes in texts only what must be, and "/", as json-c does */
	/* The rest is sheet.c's own. */
	const char *title;
	bool headed;
	uint64_t most, shown, left; /* rows of the section */
	struct sheet_column {
		struct column column;
		const char *shown; /* NULL = not in this row */
		char text[WRITER_CELL_SIZE];
	} columns[SHEET_COLUMNS];
	int depth;
	char closes[SHEET_DEPTH];
	bool filled[SHEET_DEPTH + 1];
};

/* A section: in text its title and at most so many rows, in JSON an array with all of them. */
void sheet__begin(struct sheet *sheet, const char *key, const char *title, uint64_t most);
/* The same without an array. */
void sheet__title(struct sheet *sheet, const char *title, uint64_t most);
/* JSON: an object; the key is NULL in arrays. False: text has enough rows; the others are counted.
 */
bool sheet__row(struct sheet *sheet, const char *key);
/* Text: the place in the row, from 0 (below = JSON only), the title and the width (negative = flush
 * left, 0 = as wide as it gets). JSON: the key, in the order of the calls; NULL = text only. */
void sheet__column(struct sheet *sheet, int place, const char *title, int width, const char *key,
		   struct cell cell);
void sheet__row_end(struct sheet *sheet);
void sheet__end(struct sheet *sheet);
/* Text: how many rows were too many, and how to see them. */
void sheet__say_more(struct sheet *sheet);

/* Text only. */
__attribute__((format(printf, 2, 3))) void sheet__say(struct sheet *sheet, const char *format, ...);
/* JSON only. `bracket` is '{' or '['; the key is NULL in arrays. */
void sheet__open(struct sheet *sheet, const char *key, char bracket);
void sheet__put(struct sheet *sheet, const char *key, struct cell cell);
void sheet__close(struct sheet *sheet);

#endif
