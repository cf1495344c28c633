// SPDX-License-Identifier: BSD-2-Clause
/* Each line of standard input as it is shown, or "-" if it stays what it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/demangle.h"

int main(void)
{
	char line[8192];

	while (fgets(line, sizeof(line), stdin)) {
		char *pretty;

		line[strcspn(line, "\n")] = 0;
		pretty = demangle(line);
		printf("%.60s\n", pretty ? pretty : "-");
		free(pretty);
	}
	return 0;
}
