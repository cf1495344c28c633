// SPDX-License-Identifier: BSD-2-Clause
// Rests, runs one kernel for MS milliseconds, then another one, in turns, and rests again:
//   energy [MS [TURNS [FILE]]]
// Says "ready", and begins when there is that file.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/workloads/program.h"

#define PIECE_MS 5 /* of one launch */
#define REST_US	 600000

static void run_for(CUfunction kernel, uint64_t ms)
{
	struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	uint64_t ns = PIECE_MS * 1000000;
	void *parameters[] = {&ns};

	for (uint64_t done = 0; done < ms; done += PIECE_MS)
		program__check(counted__launch(kernel, &shape, NULL, parameters), "cuLaunchKernel");
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
}

int main(int argc, char **argv)
{
	uint64_t ms = argc > 1 ? program__number(argv[1], "MS") : 1000;
	uint64_t turns = argc > 2 ? program__number(argv[2], "TURNS") : 1;
	struct program program;
	CUfunction spin, empty;

	program__start(&program);
	spin = program__kernel(&program, "spin");
	empty = program__kernel(&program, "empty");
	puts("ready");
	fflush(stdout);
	while (argc > 3 && access(argv[3], F_OK))
		usleep(1000);
	usleep(REST_US);
	for (uint64_t i = 0; i < turns; i++) {
		run_for(spin, ms);
		run_for(empty, ms);
	}
	usleep(REST_US);
	program__expect();
	return 0;
}
