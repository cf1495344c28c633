// SPDX-License-Identifier: BSD-2-Clause
/* `query SECONDS PROGRAM ARGUMENTS...`: what doctor takes of its output, or why not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/inventory/package_query.h"

int main(int argc, char **argv)
{
	struct filetree tree = {.own = true};
	char *text;
	int err;

	if (argc < 3)
		return 2;
	text = query__output(&tree, argv + 2, strtoul(argv[1], NULL, 10) * 1000000000, &err);
	if (text)
		printf("%d: %s\n", err, text);
	else
		printf("%s\n", strerror(-err));
	free(text);
	return 0;
}
