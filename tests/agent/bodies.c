// SPDX-License-Identifier: BSD-2-Clause
/*
 * The numbers that nodes of conditional bodies get in their executable graph, as an H200 was seen
 * to give them; and that nothing is said where they cannot be known. Linked with the agent's own
 * object. Silent and 0 if all is right.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "libcupti-usdt/base/graph_bodies.h"

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

static void copies(struct graph_bodies *bodies, uint32_t graph, uint32_t nodes)
{
	for (uint32_t i = 0; i < nodes; i++)
		graph_bodies__created(bodies, (uint64_t)graph << 32 | i);
}

/* Graph 7 with nodes of its own, and bodies 8 (3 nodes) and 9 (1); the driver's own node has this
 * number. */
static void instantiate(struct graph_bodies *bodies, uint32_t next)
{
	copies(bodies, 7, 2);
	copies(bodies, 8, 3);
	copies(bodies, 9, 1);
	graph_bodies__begin(bodies);
	graph_bodies__graph_ends(bodies, 8);
	graph_bodies__graph_ends(bodies, 9);
	if (next)
		graph_bodies__created(bodies, 7ULL << 32 | next);
	graph_bodies__end(bodies, 7, moved, NULL);
}

int main(void)
{
	static struct graph_bodies bodies;

	instantiate(&bodies, 6);
	expect("two bodies",
	       "700000002<800000000 700000003<800000001 700000004<800000002 700000005<900000000 ");
	bodies = (struct graph_bodies){0};
	instantiate(&bodies, 7);
	expect("numbers in another order", "");
	bodies = (struct graph_bodies){0};
	instantiate(&bodies, 0);
	expect("no node that confirms it", "");

	/* Graphs that the program destroys, and child graphs, which do not end. */
	bodies = (struct graph_bodies){0};
	copies(&bodies, 1, 2);
	graph_bodies__graph_ends(&bodies, 1);
	copies(&bodies, 2, 2);
	graph_bodies__begin(&bodies);
	graph_bodies__end(&bodies, 2, moved, NULL);
	expect("no body", "");

	/* Its own nodes, or a body's, are no longer known. */
	bodies = (struct graph_bodies){0};
	copies(&bodies, 7, 2);
	for (uint32_t i = 0; i < BODIES_GRAPHS; i++)
		copies(&bodies, 100 + i, 1);
	graph_bodies__begin(&bodies);
	for (uint32_t i = 0; i < BODIES_GRAPHS; i++)
		graph_bodies__graph_ends(&bodies, 100 + i);
	graph_bodies__created(&bodies, 7ULL << 32 | (2 + BODIES_GRAPHS));
	graph_bodies__end(&bodies, 7, moved, NULL);
	expect("too many bodies", "");
	bodies = (struct graph_bodies){0};
	copies(&bodies, 7, 2);
	graph_bodies__begin(&bodies);
	for (uint32_t i = 0; i < 10 * BODIES_GRAPHS; i++)
		graph_bodies__graph_ends(&bodies, 7);
	graph_bodies__created(&bodies, 7ULL << 32 | 9);
	graph_bodies__end(&bodies, 7, moved, NULL);
	expect("bodies without end", "");
	return failures != 0;
}
