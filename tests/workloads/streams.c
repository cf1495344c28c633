// SPDX-License-Identifier: BSD-2-Clause
// Many streams, of several priorities, that come and go, with a few launches on each.
#include <stdlib.h>
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: streams [COUNT [AT-ONCE [LAUNCHES]]]\n"
	"COUNT (2000) streams, AT-ONCE (100) of them together, LAUNCHES (2) on each.\n"
	"The last line also has streams, how many were created.\n";

static struct program program;
static CUfunction empty;

static void use(CUstream *streams, uint64_t count, uint64_t launches)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	int least, greatest;

	program__check(cuCtxGetStreamPriorityRange(&least, &greatest), "priorities");
	for (uint64_t i = 0; i < count; i++)
		program__check(cuStreamCreateWithPriority(&streams[i], CU_STREAM_NON_BLOCKING,
							  i % 2 ? least : greatest),
			       "cuStreamCreateWithPriority");
	for (uint64_t l = 0; l < launches; l++)
		for (uint64_t i = 0; i < count; i++)
			program__check(counted__launch(empty, &shape, streams[i], NULL), "launch");
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	for (uint64_t i = 0; i < count; i++)
		program__check(cuStreamDestroy_v2(streams[i]), "cuStreamDestroy");
}

int main(int argc, char **argv)
{
	uint64_t count, at_once, launches;
	CUstream *streams;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	count = argc > 1 ? program__number(argv[1], "COUNT") : 2000;
	at_once = argc > 2 ? program__number(argv[2], "AT-ONCE") : 100;
	launches = argc > 3 ? program__number(argv[3], "LAUNCHES") : 2;
	if (!at_once)
		program__fail("streams: at least 1 at once");
	streams = calloc(at_once, sizeof(*streams));
	if (!streams)
		program__fail("no memory");
	program__start(&program);
	empty = program__kernel(&program, "empty");
	for (uint64_t done = 0; done < count; done += at_once)
		use(streams, count - done < at_once ? count - done : at_once, launches);
	free(streams);
	program__also("streams", count);
	program__expect();
	return 0;
}
