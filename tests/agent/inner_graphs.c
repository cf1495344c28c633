// SPDX-License-Identifier: BSD-2-Clause
/*
 * The numbers that nodes of inner graphs get in their executable graph, as an H200 was seen
 * to give them; and that nothing is said where they cannot be known. Linked with the agent's own
 * object. Silent and 0 if all is right.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "libcupti-usdt/base/inner_graphs.h"

static int failures;
static char said[4096];

static void moved(void *context, uint64_t id, uint64_t before)
{
	size_t length = strlen(said);

	(void)context;
	snprintf(said + length, sizeof(said) - length, "%llx<%llx ", (unsigned long long)id,
		 (unsigned long long)before);
}

static void expect(const char *what, const char *text)
{
	if (strcmp(said, text)) {
		printf("%s: \"%s\", not \"%s\"\n", what, said, text);
		failures++;
	}
	said[0] = '\0';
}

static void copies(struct inner_graphs *graphs, uint32_t graph, uint32_t nodes)
{
	for (uint32_t i = 0; i < nodes; i++)
		inner_graphs__created(graphs, (uint64_t)graph << 32 | i);
}

/* Graph 7 with nodes of its own, and inner graphs 8 (3 nodes) and 9 (1); the driver's own node has
 * this number. */
static void instantiate(struct inner_graphs *graphs, uint32_t next)
{
	copies(graphs, 7, 2);
	copies(graphs, 8, 3);
	copies(graphs, 9, 1);
	inner_graphs__begin(graphs);
	inner_graphs__graph_ends(graphs, 8);
	inner_graphs__graph_ends(graphs, 9);
	if (next)
		inner_graphs__created(graphs, 7ULL << 32 | next);
	inner_graphs__end(graphs, 7, moved, NULL);
}

int main(void)
{
	static struct inner_graphs graphs;

	instantiate(&graphs, 6);
	expect("two inner graphs",
	       "700000002<800000000 700000003<800000001 700000004<800000002 700000005<900000000 ");
	graphs = (struct inner_graphs){0};
	instantiate(&graphs, 7);
	expect("numbers in another order", "");
	graphs = (struct inner_graphs){0};
	instantiate(&graphs, 0);
	expect("no node that confirms it", "");

	/* Graphs that the program destroys. */
	graphs = (struct inner_graphs){0};
	copies(&graphs, 1, 2);
	inner_graphs__graph_ends(&graphs, 1);
	copies(&graphs, 2, 2);
	inner_graphs__begin(&graphs);
	inner_graphs__end(&graphs, 2, moved, NULL);
	expect("no inner graph", "");

	/* Its own nodes, or an inner graph's, are no longer known. */
	graphs = (struct inner_graphs){0};
	copies(&graphs, 7, 2);
	for (uint32_t i = 0; i < INNER_GRAPHS_MAX; i++)
		copies(&graphs, 100 + i, 1);
	inner_graphs__begin(&graphs);
	for (uint32_t i = 0; i < INNER_GRAPHS_MAX; i++)
		inner_graphs__graph_ends(&graphs, 100 + i);
	inner_graphs__created(&graphs, 7ULL << 32 | (2 + INNER_GRAPHS_MAX));
	inner_graphs__end(&graphs, 7, moved, NULL);
	expect("too many inner graphs", "");
	graphs = (struct inner_graphs){0};
	copies(&graphs, 7, 2);
	inner_graphs__begin(&graphs);
	for (uint32_t i = 0; i < 10 * INNER_GRAPHS_MAX; i++)
		inner_graphs__graph_ends(&graphs, 7);
	inner_graphs__created(&graphs, 7ULL << 32 | 9);
	inner_graphs__end(&graphs, 7, moved, NULL);
	expect("inner graphs without end", "");
	return failures != 0;
}
