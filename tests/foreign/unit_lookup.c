// SPDX-License-Identifier: BSD-2-Clause
/* usage: unit_lookup PID FOLDER: opens files in a folder whose server is mute, as that process sees
 * it, then one of another folder. Prints each result, and how long all of them took. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "cuda-trace/foreign/foreign_file.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double began = now();
	char path[512];

	if (argc != 3)
		return 2;
	for (int i = 0; i < 8; i++) {
		struct foreign_file file;

		snprintf(path, sizeof(path), "%s/other%d", argv[2], i);
		switch (foreign_file__open(&file, atoi(argv[1]), path, false)) {
		case -ETIMEDOUT:
			printf("late ");
			break;
		case -EBUSY:
			printf("busy ");
			break;
		default:
			printf("unexpected ");
		}
	}
	printf("%s\n", now() - began < 2.5 ? "in time" : "for too long");
	return 0;
}
