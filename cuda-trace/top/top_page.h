/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pages of top as lines of text: drawn by top_screen.c on a terminal, printed by batch mode,
 * written into a file on request. What programs call themselves is escaped here.
 */
#ifndef CUDA_TRACE_TOP_TOP_PAGE_H
#define CUDA_TRACE_TOP_TOP_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "cuda-trace/top/top_model.h"

/* Columns that processes can be sorted by. X(enumerator, word, title) */
#define TOP_SORTS(X)            \
	X(GPU, "gpu")           \
	X(LAUNCHES, "launches") \
	X(COPY, "copy")         \
	X(MEMORY, "memory")     \
	X(WAIT, "wait")         \
	X(ERRORS, "errors")     \
	X(PID, "pid")           \
	X(NAME, "name")

enum top_sort {
#define TOP_SORT(name, word) TOP_SORT_##name,
	TOP_SORTS(TOP_SORT)
#undef TOP_SORT
		TOP_SORT_COUNT
};

enum line_style { LINE_PLAIN, LINE_TITLE, LINE_HEADER, LINE_SELECTED, LINE_DIM, LINE_WARNING };

#define LINE_COLUMNS 250

struct line {
	enum line_style style;
	char text[LINE_COLUMNS * 4 + 8]; /* UTF-8 */
};

struct page {
	struct line *lines;
	int count;
	int capacity;
	int columns; /* as wide as the terminal, LINE_COLUMNS at most */
};

struct top_view {
	enum top_sort sort;
	bool reverse;
	bool graphs; /* graph launches instead of kernel launches */
	bool utf8;   /* bars may be drawn with block characters */
	bool paused;
	bool help;
	bool idle;	       /* why GPUs were idle, instead of the processes */
	uint32_t pid;	       /* whose kernels are shown; 0 = the processes */
	int selected;	       /* row of the list */
	int first;	       /* row at the top of the list, when it is longer than the screen */
	int lines;	       /* of the screen that a page may have; 0 = any number (batch mode) */
	int rows;	       /* of the list that fit; 0 = all; set by drawing */
	uint32_t selected_pid; /* of the row that is selected; set by drawing */
	int row_count;	       /* set by drawing */
	char filter[64];       /* part of a name, user or origin; "" = all */
};

void page__line(struct page *page, enum line_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void page__clear(struct page *page);
void page__free(struct page *page);
void page__print(const struct page *page, FILE *file);

/* The page that the view means. */
void top_page__draw(struct page *page, struct top_model *model, struct top_view *view);
void top_page__draw_kernels(struct page *page, struct top_model *model, struct top_view *view);
/* top_causes.c */
void top_page__draw_causes(struct page *page, const struct top_model *model, struct top_view *view);
/* "launch 62%" of the time, for a column of 14 characters; returns out. */
const char *top_page__main_cause(char out[32], const struct top_model *model,
				 const struct top_device *device);
/* Once all that stands above a list is drawn: how many rows of it fit, and which. Keeps the
 * selection on the list, and the part that is shown around it. */
void top_page__settle(const struct page *page, struct top_view *view, int count);

/* GPU | launches | …; -EINVAL. */
int top_sort__parse(const char *word, enum top_sort *sort);
#define TOP_SORT_WORD(name, word) "," word
#define TOP_SORT_WORDS		  (&TOP_SORTS(TOP_SORT_WORD)[1])
/* Where it runs, in one word: its pod, container, job or unit, or its container's id; "" = not
 * known. Returns text. */
const char *top_page__origin(const struct top_process *process, char text[ORIGIN_TEXT_SIZE]);
bool top_page__is_shown(const struct top_view *view, const struct top_process *process);

/* top_json.c: one object, one line. */
void top_json__write(FILE *file, struct top_model *model, const struct top_view *view);

#endif
