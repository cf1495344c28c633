// SPDX-License-Identifier: BSD-2-Clause
/* `container PATH...`: what containers these control groups are of, one a line. */
#include <stdio.h>
#include "cuda-trace/proc/cgroup.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char name[16];

		cgroup__container(argv[i], name, sizeof(name));
		puts(name);
	}
	return 0;
}
