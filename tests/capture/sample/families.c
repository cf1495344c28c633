// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads names of CUDA calls, one a line, and says of each beginning of each that cuda-trace would
 * not ask for the name's family if that beginning and a * were given as --api.
 */
#include <stdio.h>
#include <string.h>

#include "cuda-trace/cli/event_groups.h"

int main(void)
{
	char name[128], glob[130];
	int names = 0, failures = 0;

	while (scanf("%127s", name) == 1) {
		uint32_t family = event_groups__of_calls(name);

		names++;
		if (!family || family & (family - 1))
			failures += printf("%s: not one family: %x\n", name, family) > 0;
		for (size_t length = 0; length <= strlen(name); length++) {
			snprintf(glob, sizeof(glob), "%.*s*", (int)length, name);
			if (!(event_groups__of_calls(glob) & family))
				failures += printf("%s is not in %s\n", name, glob) > 0;
		}
	}
	printf("%d names\n", names);
	return failures || names < 100;
}
