// SPDX-License-Identifier: BSD-2-Clause
// Modules that come and go, each with a kernel of another name: "even" and "odd" in turn. Where the
// names of the one lay, those of the next may lie.
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: modules [ROUNDS [LAUNCHES [wait]]]\n"
	"ROUNDS (20) of a module and LAUNCHES (2003) of its kernel. The last line also has even\n"
	"and odd, the launches of each kernel. wait: says \"ready\" and reads a line before the\n"
	"launches of each round, and after them.\n";

static bool waits;

static const char image[] = ".version 7.0\n"
			    ".target sm_52\n"
			    ".address_size 64\n"
			    ".visible .entry %s()\n"
			    "{\n"
			    "	ret;\n"
			    "}\n";

static void wait_for_line(void)
{
	if (!waits)
		return;
	puts("ready");
	fflush(stdout);
	while (getchar() > '\n')
		;
}

static void use(const char *name, uint64_t launches)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	char text[sizeof(image) + 16];
	CUfunction kernel;
	CUmodule module;

	snprintf(text, sizeof(text), image, name);
	program__check(cuModuleLoadData(&module, text), "cuModuleLoadData");
	program__check(cuModuleGetFunction(&kernel, module, name), "cuModuleGetFunction");
	wait_for_line();
	for (uint64_t i = 0; i < launches; i++)
		program__check(counted__launch(kernel, &shape, NULL, NULL), "launch");
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	wait_for_line();
	program__check(cuModuleUnload(module), "cuModuleUnload");
}

int main(int argc, char **argv)
{
	struct program program;
	uint64_t rounds, launches;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	rounds = argc > 1 ? program__number(argv[1], "ROUNDS") : 20;
	launches = argc > 2 ? program__number(argv[2], "LAUNCHES") : 2003;
	waits = argc > 3 && !strcmp(argv[3], "wait");
	program__start(&program);
	for (uint64_t i = 0; i < rounds; i++)
		use(i % 2 ? "odd" : "even", launches);
	program__also("even", (rounds + 1) / 2 * launches);
	program__also("odd", rounds / 2 * launches);
	program__expect();
	return 0;
}
