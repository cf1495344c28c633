// SPDX-License-Identifier: BSD-2-Clause
// Launches from functions of known names, built with -O2 -fomit-frame-pointer: main → step → the
// library's library_outer → library_inner → back → launch. With --deep N below a function that
// calls itself N times; with --signal from the handler of a signal that came in `interrupted`; with
// --thread on a second thread; with --fiber on a stack that the program made itself; with --jit
// below code that was made at run time and has no frame pointer. The library is libframeless.so
// beside the program, or the file behind --library.
#include <dlfcn.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: frameless [-n STEPS] [--deep N] [--signal] [--thread] [--fiber] [--jit]\n"
	"                 [--library FILE] [--exit] [--linger]\n"
	"Launches kernels from functions without frame pointers; lingers until its "
	"input ends.\n";

#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noclone))
#endif

typedef int64_t (*library_function)(int64_t (*call)(void), const int64_t *values);

static struct program program;
static library_function library_outer;
static const int64_t *volatile values = (const int64_t[]){1, 2, 3, 4, 5, 6};
static uint64_t step_launches, deep_launches, signal_launches, thread_launches, fiber_launches,
	jit_launches;

FUNCTION void launch(uint64_t *count);
FUNCTION int64_t back(void);
FUNCTION void step(void);
FUNCTION int64_t deep(int64_t left);
FUNCTION void interrupted(void);
FUNCTION void on_thread(void);
FUNCTION void on_fiber(void);
FUNCTION void from_jit(void);

void launch(uint64_t *count)
{
	static const struct shape shape = {{1, 1, 1}, {1, 1, 1}, 0};
	uint64_t ns = 10000;
	void *parameters[] = {&ns};

	program__check(counted__launch(program__kernel(&program, "spin"), &shape, NULL, parameters),
		       "cuLaunchKernel");
	++*count;
}

int64_t back(void)
{
	launch(&step_launches);
	return *values;
}

void step(void)
{
	int64_t sum = library_outer(back, values);

	if (sum == INT64_MIN)
		program__fail("a sum that cannot be");
}

int64_t deep(int64_t left)
{
	int64_t a = values[0], b = values[1], c = values[2], sum = 0;

	if (left)
		sum = deep(left - 1);
	else
		launch(&deep_launches);
	return sum + a * b * c + left;
}

static void on_signal(int number)
{
	launch(&signal_launches);
}

void interrupted(void)
{
	raise(SIGUSR1);
	values = values + (*values == INT64_MIN);
}

void on_thread(void)
{
	launch(&thread_launches);
	values = values + (*values == INT64_MIN);
}

static void *run_thread(void *unused)
{
	program__check(cuCtxSetCurrent(program.context), "cuCtxSetCurrent");
	on_thread();
	return NULL;
}

void on_fiber(void)
{
	launch(&fiber_launches);
	values = values + (*values == INT64_MIN);
}

static void run_fiber(void)
{
	static ucontext_t fiber, caller;
	static char stack[256 << 10];

	getcontext(&fiber);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = sizeof(stack);
	fiber.uc_link = &caller;
	makecontext(&fiber, on_fiber, 0);
	swapcontext(&caller, &fiber);
}

void from_jit(void)
{
	launch(&jit_launches);
	values = values + (*values == INT64_MIN);
}

/* void code(void (*call)(void)): no frame pointer. */
static void run_jit(void)
{
#ifdef __x86_64__
	static const uint8_t code[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7,
				       0x48, 0x83, 0xc4, 0x18, 0xc3};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*function)(void (*)(void));

	if (page == MAP_FAILED)
		program__fail("no memory");
	memcpy(page, code, sizeof(code));
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	memcpy(&function, &page, sizeof(function));
	function(from_jit);
#else
	from_jit();
#endif
	values = values + (*values == INT64_MIN);
}

static void open_library(const char *path)
{
	char beside[PATH_MAX] = "", *slash;
	void *library;

	if (readlink("/proc/self/exe", beside, sizeof(beside) - 32) < 0)
		program__fail("cannot find the program's own file");
	slash = strrchr(beside, '/');
	strcpy(slash ? slash + 1 : beside, "libframeless.so");
	library = dlopen(path ? path : beside, RTLD_NOW);
	if (!library)
		program__fail("%s", dlerror());
	*(void **)&library_outer = dlsym(library, "library_outer");
	if (!library_outer)
		program__fail("%s", dlerror());
}

enum { DEEP = 1, SIGNAL, THREAD, FIBER, JIT, LIBRARY, EXIT, LINGER, WAYS };

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"deep", 1, NULL, DEEP},     {"signal", 0, NULL, SIGNAL},
		{"thread", 0, NULL, THREAD}, {"fiber", 0, NULL, FIBER},
		{"jit", 0, NULL, JIT},	     {"library", 1, NULL, LIBRARY},
		{"exit", 0, NULL, EXIT},     {"linger", 0, NULL, LINGER},
		{"help", 0, NULL, 'h'},	     {0}};
	bool on[WAYS] = {0};
	const char *library = NULL;
	uint64_t steps = 10, depth = 0;
	pthread_t thread;
	int option;

	while ((option = getopt_long(argc, argv, "n:h", options, NULL)) != -1) {
		if (option == 'n')
			steps = program__number(optarg, "-n");
		else if (option == DEEP)
			depth = program__number(optarg, "--deep");
		else if (option == LIBRARY)
			library = optarg;
		else if (option > 0 && option < WAYS)
			on[option] = true;
		else
			return fputs(help, option == 'h' ? stdout : stderr), option == 'h' ? 0 : 2;
	}
	open_library(library);
	program__start(&program);
	signal(SIGUSR1, on_signal);
	for (uint64_t i = 0; i < steps; i++)
		step();
	if (depth && deep(depth - 1) == INT64_MIN)
		program__fail("a sum that cannot be");
	if (on[SIGNAL])
		interrupted();
	if (on[THREAD] && !pthread_create(&thread, NULL, run_thread, NULL))
		pthread_join(thread, NULL);
	if (on[FIBER])
		run_fiber();
	if (on[JIT])
		run_jit();
	if (!on[EXIT])
		program__check(counted__context_synchronize(), "cuCtxSynchronize");
	program__also("steps", step_launches);
	program__also("deep", deep_launches);
	program__also("signal", signal_launches);
	program__also("thread", thread_launches);
	program__also("fiber", fiber_launches);
	program__also("jit", jit_launches);
	program__expect();
	fflush(stdout);
	if (on[EXIT])
		_exit(0);
	while (on[LINGER] && getchar() != EOF)
		;
	return 0;
}
