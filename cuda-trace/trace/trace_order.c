// SPDX-License-Identifier: BSD-2-Clause
/*
 * A heap by time, and by arrival where that is equal. The tool's one thread.
 */
#include "cuda-trace/trace/trace_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"

#define KEEP_MS	  300
#define MAX_LINES 32768 /* then the earliest goes at once */

struct line {
	uint64_t time, number, came_ms;
	size_t length;
	char *text;
};

struct trace_order {
	FILE *output;
	struct line *lines;
	size_t count;
	uint64_t number;
};

struct trace_order *trace_order__new(FILE *output)
{
	struct trace_order *order = calloc(1, sizeof(*order));

	if (!order)
		return NULL;
	order->output = output;
	order->lines = malloc(MAX_LINES * sizeof(*order->lines));
	if (order->lines)
		return order;
	free(order);
	return NULL;
}

static bool is_earlier(const struct line *a, const struct line *b)
{
	return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void swap(struct line *a, struct line *b)
{
	struct line c = *a;

	*a = *b;
	*b = c;
}

static void write_earliest(struct trace_order *order)
{
	struct line *lines = order->lines;
	size_t at = 0, child;

	fwrite(lines[0].text, 1, lines[0].length, order->output);
	free(lines[0].text);
	lines[0] = lines[--order->count];
	while ((child = 2 * at + 1) < order->count) {
		if (child + 1 < order->count && is_earlier(&lines[child + 1], &lines[child]))
			child++;
		if (!is_earlier(&lines[child], &lines[at]))
			break;
		swap(&lines[child], &lines[at]);
		at = child;
	}
}

void trace_order__add(struct trace_order *order, uint64_t time, const char *text, size_t length)
{
	struct line *lines = order->lines;
	size_t at = order->count;

	if (order->count == MAX_LINES) {
		write_earliest(order);
		at = order->count;
	}
	lines[at] = (struct line){time, order->number++, monotonic__ms(), length, malloc(length)};
	if (!lines[at].text) {
		fwrite(text, 1, length, order->output);
		return;
	}
	memcpy(lines[at].text, text, length);
	order->count++;
	for (; at && is_earlier(&lines[at], &lines[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&lines[at], &lines[(at - 1) / 2]);
}

void trace_order__tick(struct trace_order *order)
{
	uint64_t now = monotonic__ms();

	while (order->count && order->lines[0].came_ms + KEEP_MS <= now)
		write_earliest(order);
}

void trace_order__flush(struct trace_order *order)
{
	while (order->count)
		write_earliest(order);
}

void trace_order__free(struct trace_order *order)
{
	if (!order)
		return;
	trace_order__flush(order);
	free(order->lines);
	free(order);
}
