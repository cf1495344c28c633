// SPDX-License-Identifier: BSD-2-Clause
// Launches from functions of known names that call each other in a known way, built with frame
// pointers. One step is: main → train_step → forward → layer (three times) and main → train_step →
// backward. With --jit another kernel is launched through code that was made at run time and has
// its name in /tmp/perf-PID.map only; with --hostile through a function with a name that nobody
// gives; with --deep N below a function that calls itself N times, with frames of 16 bytes to 5
// KiB.
#include <getopt.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/workloads/program.h"

static const char help[] = "usage: stacks [-n STEPS] [--jit] [--hostile] [--deep N] [--linger]\n"
			   "Launches kernels from a known chain of functions; lingers until its "
			   "input ends.\n";

#define LAYERS	    3
#define FORWARD_NS  30000
#define BACKWARD_NS 10000

/* The optimiser may not fold a function into its caller, nor two of them into one. */
#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noclone))
#endif

static struct program program;
static char jit_map[64];
static uint64_t forward_launches, backward_launches, jit_launches, hostile_launches, deep_launches;

static FUNCTION void spin(uint64_t ns)
{
	static const struct shape shape = {{1, 1, 1}, {1, 1, 1}, 0};
	void *parameters[] = {&ns};

	program__check(counted__launch(program__kernel(&program, "spin"), &shape, NULL, parameters),
		       "cuLaunchKernel");
}

FUNCTION void layer(void);
FUNCTION void forward(void);
FUNCTION void backward(void);
FUNCTION void train_step(void);
FUNCTION void hostile(void) __asm__("\"evil;<b>\033[31m\"");

void layer(void)
{
	spin(FORWARD_NS);
	forward_launches++;
}

void forward(void)
{
	for (int i = 0; i < LAYERS; i++)
		layer();
}

void backward(void)
{
	spin(BACKWARD_NS);
	backward_launches++;
}

void train_step(void)
{
	forward();
	backward();
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
}

void hostile(void)
{
	spin(BACKWARD_NS);
	hostile_launches++;
}

FUNCTION void deep(uint64_t left);

void deep(uint64_t left)
{
	uint64_t size = 16 + left % 8 * 700;
	volatile char *capacity = __builtin_alloca(size);

	/* Pages that were never touched cannot be copied. */
	for (uint64_t i = 0; i < size; i++)
		capacity[i] = 1;
	if (left) {
		deep(left - 1);
	} else {
		spin(BACKWARD_NS);
		deep_launches++;
	}
	*capacity = 0; /* and no jump instead of the call */
}

static FUNCTION void from_jit(void)
{
	spin(BACKWARD_NS);
	jit_launches++;
}

/* void code(void (*call)(void)): a frame of its own around the call. */
static void run_jit(void)
{
#ifdef __aarch64__
	static const uint32_t code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#else
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#endif
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*function)(void (*)(void));
	FILE *map;

	if (page == MAP_FAILED)
		program__fail("no memory");
	memcpy(page, code, sizeof(code));
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(page, (char *)page + sizeof(code));
	snprintf(jit_map, sizeof(jit_map), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(jit_map, "w");
	if (!map)
		program__fail("cannot write %s", jit_map);
	fprintf(map, "%lx %zx py::compiled_step:/srv/train.py\n", (unsigned long)page,
		sizeof(code));
	fclose(map);
	memcpy(&function, &page, sizeof(function));
	function(from_jit);
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"jit", 0, NULL, 'j'},	{"hostile", 0, NULL, 'H'},
						{"deep", 1, NULL, 'D'}, {"linger", 0, NULL, 'l'},
						{"help", 0, NULL, 'h'}, {0}};
	bool jit = false, evil = false, linger = false;
	uint64_t steps = 10, depth = 0;
	int option;

	while ((option = getopt_long(argc, argv, "n:h", options, NULL)) != -1) {
		if (option == 'n')
			steps = program__number(optarg, "-n");
		else if (option == 'j')
			jit = true;
		else if (option == 'H')
			evil = true;
		else if (option == 'D')
			depth = program__number(optarg, "--deep");
		else if (option == 'l')
			linger = true;
		else
			return fputs(help, option == 'h' ? stdout : stderr), option == 'h' ? 0 : 2;
	}
	program__start(&program);
	for (uint64_t i = 0; i < steps; i++)
		train_step();
	if (jit)
		run_jit();
	if (evil)
		hostile();
	if (depth)
		deep(depth - 1);
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	program__also("forward", forward_launches);
	program__also("backward", backward_launches);
	program__also("jit", jit_launches);
	program__also("hostile", hostile_launches);
	program__also("deep", deep_launches);
	program__expect();
	fflush(stdout);
	while (linger && getchar() != EOF)
		;
	if (jit)
		unlink(jit_map);
	return 0;
}
