// SPDX-License-Identifier: BSD-2-Clause
/*
 * A flame graph as SVG. Wider is longer; the order of siblings is by time. What would be narrower
 * than a thousandth is left out of the picture, not of its parent's width, and said.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/export/export.h"
#include "cuda-trace/export/export_stack_tree.h"
#include "cuda-trace/report/report_records.h"
#include "cuda-trace/base/text.h"
#include "embedded/web.h"

#define WIDTH	  1200.0
#define ROW	  18
#define TOP	  64
#define LEAST	  0.3 /* pixels */
#define CHARACTER 6.6 /* pixels, about */

struct picture {
	FILE *out;
	const struct stacks *stacks;
	uint32_t *children, *first; /* children of node i: children[first[i]..first[i + 1]) */
	uint32_t deepest;
	uint64_t left_out;
	char *text; /* a label, cut */
};

static void write_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			putc(*text, out);
		}
	}
}

static const struct stacks *sorting;

static int by_time(const void *a, const void *b)
{
	const struct stacks_node *x = &sorting->nodes[*(const uint32_t *)a];
	const struct stacks_node *y = &sorting->nodes[*(const uint32_t *)b];

	return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns) : strcmp(x->name, y->name);
}

static int sort_children(struct picture *picture)
{
	const struct stacks *stacks = picture->stacks;
	uint32_t *fill;

	picture->first = calloc(stacks->count + 2, sizeof(*picture->first));
	picture->children = calloc(stacks->count + 1, sizeof(*picture->children));
	fill = calloc(stacks->count + 1, sizeof(*fill));
	if (!picture->first || !picture->children || !fill) {
		free(fill);
		return -ENOMEM;
	}
	for (size_t i = 1; i < stacks->count; i++)
		picture->first[stacks->nodes[i].parent + 1]++;
	for (size_t i = 0; i < stacks->count; i++)
		picture->first[i + 1] += picture->first[i];
	for (size_t i = 1; i < stacks->count; i++) {
		uint32_t parent = stacks->nodes[i].parent;

		picture->children[picture->first[parent] + fill[parent]++] = i;
	}
	sorting = stacks;
	for (size_t i = 0; i < stacks->count; i++)
		qsort(picture->children + picture->first[i],
		      picture->first[i + 1] - picture->first[i], sizeof(uint32_t), by_time);
	free(fill);
	return 0;
}

/* A warm colour that stays the same for a name. */
static void color_of(const char *name, char out[8])
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	snprintf(out, 8, "#%02x%02x%02x", 205 + hash % 50, 90 + (hash >> 8) % 120,
		 (hash >> 16) % 60);
}

static void write_label(struct picture *picture, const char *name, double x, double width, double y)
{
	int fits = (int)((width - 6) / CHARACTER);

	if (fits < 3)
		return;
	text__show(picture->text, 4096, name, fits);
	fprintf(picture->out, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + 13);
	write_escaped(picture->out, picture->text);
	fputs("</text>", picture->out);
}

static void write_numbers(const struct picture *picture, const struct stacks_node *node,
			  double percent)
{
	char time[16], count[32];

	if (picture->stacks->samples)
		fprintf(picture->out, "\n%s samples, %.2f %%</title>", text__count(count, node->ns),
			percent);
	else
		fprintf(picture->out, "\n%s, %.2f %%, %s kernels</title>", text__ns(time, node->ns),
			percent, text__count(count, node->count));
}

static void write_node(struct picture *picture, uint32_t index, double x, double width)
{
	const struct stacks_node *node = &picture->stacks->nodes[index];
	double total = picture->stacks->nodes[0].ns, y = TOP + node->depth * ROW, at = x;
	char color[8];

	if (width < LEAST) {
		picture->left_out++;
		return;
	}
	if (node->depth > picture->deepest)
		picture->deepest = node->depth;
	color_of(node->name, color);
	fprintf(picture->out, "<g class=\"f\" data-x=\"%.4f\" data-w=\"%.4f\"><title>", x, width);
	write_escaped(picture->out, node->name);
	write_numbers(picture, node, total > 0 ? 100 * node->ns / total : 0);
	fprintf(picture->out,
		"<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>", x, y,
		width, ROW - 1, color);
	write_label(picture, node->name, x, width, y);
	fputs("</g>\n", picture->out);
	for (uint32_t i = picture->first[index]; i < picture->first[index + 1]; i++) {
		uint32_t child = picture->children[i];
		double w = node->ns ? width * picture->stacks->nodes[child].ns / node->ns : 0;

		write_node(picture, child, at, w);
		at += w;
	}
}

static void write_frame(struct picture *picture)
{
	char total[48], count[32];
	uint32_t deepest = 0;

	for (size_t i = 0; i < picture->stacks->count; i++)
		if (picture->stacks->nodes[i].depth > deepest)
			deepest = picture->stacks->nodes[i].depth;
	if (picture->stacks->samples)
		snprintf(total, sizeof(total), "%s samples",
			 text__count(count, picture->stacks->nodes[0].ns));
	else
		text__ns(total, picture->stacks->nodes[0].ns);
	fprintf(picture->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %u\" "
		"style=\"width:100%%;height:auto\" "
		"font-family=\"monospace\" font-size=\"11\">\n"
		"<style>.f{cursor:pointer}.f:hover rect,.f:focus "
		"rect{stroke:#000}"
		".hit rect{fill:#7b3ff2}.hit text{fill:#fff}.dim{opacity:.35}"
		"text{pointer-events:none}#q,#r{pointer-events:auto;cursor:pointer;"
		"text-decoration:underline}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fbfaf6\"/>\n"
		"<text x=\"10\" y=\"22\" font-size=\"16\">%s: %s</text>\n"
		"<text x=\"10\" y=\"46\" id=\"m\">click: zoom; Ctrl-F or / : search</text>\n"
		"<text x=\"%.0f\" y=\"22\" id=\"q\">search</text>"
		"<text x=\"%.0f\" y=\"22\" id=\"r\">reset</text>\n<g id=\"frames\">\n",
		WIDTH + 20, TOP + (deepest + 1) * ROW + 26,
		picture->stacks->samples ? "Inside kernels" : "Time on the GPU", total, WIDTH - 100,
		WIDTH - 40);
}

int stacks__write_flamegraph(const struct stacks *stacks, FILE *out)
{
	struct picture picture = {.out = out, .stacks = stacks, .text = malloc(4096)};
	int err = picture.text ? sort_children(&picture) : -ENOMEM;

	if (!err) {
		write_frame(&picture);
		write_node(&picture, 0, 10, WIDTH);
		fprintf(out, "</g>\n<text x=\"10\" y=\"%u\">",
			TOP + (picture.deepest + 1) * ROW + 16);
		if (picture.left_out)
			fprintf(out, "%llu too narrow to be drawn; ",
				(unsigned long long)picture.left_out);
		if (stacks->samples && stacks->period)
			fprintf(out, "functions of the host: shares of the launches of a kernel; ");
		else if (stacks->period > 1)
			fprintf(out, "functions of the host: estimated from one in %u launches; ",
				stacks->period);
		if (stacks->nameless)
			fprintf(out, "%llu frames without a name; ",
				(unsigned long long)stacks->nameless);
		fprintf(out,
			"cuda-trace " VERSION
			"</text>\n<script><![CDATA[\n%s]]></script>\n</svg>\n",
			embedded_flamegraph_js);
	}
	free(picture.first);
	free(picture.children);
	free(picture.text);
	return err;
}

int export_flamegraph(const struct report_file *file, FILE *out)
{
	struct stacks stacks;
	int err = stacks__read(&stacks, file);

	if (err)
		return err;
	err = stacks__write_flamegraph(&stacks, out);
	stacks__free(&stacks);
	return err;
}
