// SPDX-License-Identifier: BSD-2-Clause
/*
 * `origin PATH...`: what these control groups say, one a line: key=value of each name, and what
 * container engines would be queried for. `origin -p PID PATH`: with what version 1 says of the
 * process. `origin -w PATH`: the same with engines' answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/origin/origin_path.h"

static void print(const struct origin *origin, const char *path)
{
	struct origin_container container;
	char text[ORIGIN_TEXT_SIZE];

	for (int name = 0; name < ORIGIN_NAME_COUNT; name++)
		if (*origin__name(origin, name))
			printf("%s=%s ", origin__key(name), origin__name(origin, name));
	if (origin_path__container(path, &container))
		printf("%.6s:%s%s%s ", container.id, container.engines & ENGINE_CRI ? "c" : "",
		       container.engines & ENGINE_DOCKER ? "d" : "",
		       container.engines & ENGINE_PODMAN ? "p" : "");
	printf("[%s]\n", origin__text(origin, text));
}

int main(int argc, char **argv)
{
	struct origin origin = {};

	if (argc == 4 && !strcmp(argv[1], "-p")) {
		origin_path__parse(argv[3], &origin);
		origin_path__read_slurm(atoi(argv[2]), argv[3], &origin);
		print(&origin, argv[3]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "-w")) {
		if (origin__find(0, argv[2], &origin) == ORIGIN_PENDING) {
			origin__wait(10000);
			origin__find(0, argv[2], &origin);
		}
		print(&origin, argv[2]);
		return 0;
	}
	for (int i = 1; i < argc; i++) {
		memset(&origin, 0, sizeof(origin));
		origin_path__parse(argv[i], &origin);
		print(&origin, argv[i]);
	}
	return 0;
}
