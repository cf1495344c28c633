// SPDX-License-Identifier: BSD-2-Clause
/* `rank`: the rank, local rank and size in the NUL-separated environment on stdin. */
#include <stdio.h>
#include <unistd.h>
#include "cuda-trace/proc/rank.h"

int main(void)
{
	static char environment[1 << 20];
	struct rank rank;
	size_t size = fread(environment, 1, sizeof(environment), stdin);

	rank__parse(&rank, environment, size);
	if (!rank.known)
		return puts("none") < 0;
	return printf("%u %d %d\n", rank.rank, (int)rank.local, (int)rank.size) < 0;
}
