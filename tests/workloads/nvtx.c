// SPDX-License-Identifier: BSD-2-Clause
// NVTX ranges and marks around kernel launches. The last line also has nvtx_ranges and nvtx_marks;
// in the mode `deep` nvtx_ranges are those that pushing 16 deep has space for, nvtx_lost the
// others, and before it each range that is kept says when it was: "range NAME", the times before
// and after its push, and before and after its pop. The mode `apart` says the same.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include "tests/workloads/nvtx_client.h"

static const char help[] =
	"usage: nvtx [ROUNDS]\n"
	"       nvtx deep | apart FILE | wide\n"
	"ROUNDS (10) of nested ranges with a launch in each, and marks; or ranges\n"
	"pushed 20 deep, of one domain and of two; or such that end in another order\n"
	"than their domains', until FILE is there; or with texts of wide characters.\n";

static void launch(CUfunction kernel)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};

	program__check(counted__launch(kernel, &shape, NULL, NULL), "cuLaunchKernel");
}

static void one_round(CUfunction kernel, void *domain, void *registered)
{
	uint64_t across = start("across");

	push("outer");
	launch(kernel);
	push("inner");
	launch(kernel);
	mark("a mark");
	pop();
	pop();
	end(across);
	domain_event(DOMAIN_PUSH_EX, domain, NULL, "in a domain");
	launch(kernel);
	domain_pop(domain);
	domain_event(DOMAIN_PUSH_EX, domain, registered, NULL);
	launch(kernel);
	domain_pop(domain);
	domain_event(DOMAIN_MARK_EX, domain, NULL, "a mark in a domain");
}

#define MAX 64

static struct {
	char name[16];
	void *domain;
	uint64_t pushing, pushed;
	bool lost;
} open_ranges[MAX];
static int depth;
static uint64_t ended, lost;

static void enter(const char *name, int number, void *domain, bool no_space)
{
	snprintf(open_ranges[depth].name, sizeof(open_ranges[depth].name), "%s-%d", name, number);
	open_ranges[depth].domain = domain;
	open_ranges[depth].lost = no_space;
	open_ranges[depth].pushing = program__now();
	if (domain)
		domain_event(DOMAIN_PUSH_EX, domain, NULL, open_ranges[depth].name);
	else
		push(open_ranges[depth].name);
	open_ranges[depth++].pushed = program__now();
}

/* The innermost one of that domain. */
static void leave(void *domain)
{
	uint64_t popping = program__now();
	int i = depth - 1;

	while (open_ranges[i].domain != domain)
		i--;
	if (domain)
		domain_pop(domain);
	else
		pop();
	if (open_ranges[i].lost)
		lost++;
	else
		printf("range %s %llu %llu %llu %llu\n", open_ranges[i].name,
		       (unsigned long long)open_ranges[i].pushing,
		       (unsigned long long)open_ranges[i].pushed, (unsigned long long)popping,
		       (unsigned long long)program__now());
	ended += !open_ranges[i].lost;
	memmove(&open_ranges[i], &open_ranges[i + 1], (depth - i - 1) * sizeof(open_ranges[0]));
	depth--;
}

static void leave_all(void)
{
	while (depth)
		leave(open_ranges[depth - 1].domain);
}

/* One domain, then two: the other one has a range around all, one that finds no space, and one
 * inside of that which does, as some of the first were left before it came. Then, all over, one
 * of a domain that has none to be taken for it. */
static void deep(void *domain)
{
	void *third = domain_create("third");

	for (int i = 1; i <= 20; i++)
		enter("alone", i, NULL, i > 16);
	leave_all();
	enter("around", 1, domain, false);
	for (int i = 1; i <= 20; i++)
		enter("among", i, NULL, i > 15);
	enter("around", 2, domain, true);
	enter("third", 1, third, true);
	for (int i = 0; i < 6; i++)
		leave(NULL);
	enter("around", 3, domain, false);
	enter("third", 2, third, true);
	leave_all();
	enter("after", 1, NULL, false);
	leave_all();
	domain_destroy(third);
	program__also("nvtx_ranges", ended);
	program__also("nvtx_lost", lost);
}

/* At any moment somebody may come or go. */
static void apart(void *domain, const char *file)
{
	puts("ready");
	fflush(stdout);
	for (int i = 0; access(file, F_OK); i++) {
		enter("whole", i, NULL, false);
		usleep(3000);
		enter("ours", i, domain, false);
		usleep(3000);
		enter("plain", i, NULL, false);
		usleep(3000);
		leave(domain);
		usleep(3000);
		leave(NULL);
		usleep(3000);
		leave(NULL);
		usleep(3000);
	}
}

/* One of each call that takes wide characters, as good as any other, and three bad ones. */
static void wide(void)
{
	static wchar_t lengthy[3000] = {0};
	static const wchar_t no_characters[] = {'a', 0xd800, 0x110000, -1, 'b', 0};
	struct attributes attributes = {
		.version = 3, .size = 48, .message_type = 2, .message.wide = L"attributes \u00e9"};
	void *domain = NULL;
	uint64_t range = 0;

	if (!core[MARK_W])
		return;
	domain = ((void *(*)(const wchar_t *))core2[DOMAIN_CREATE_W])(L"dom\u00e4ne");
	((void (*)(const wchar_t *))core[MARK_W])(L"\u20ac mark");
	((int (*)(const wchar_t *))core[RANGE_PUSH_W])(L"\U0001f600 push");
	pop();
	range = ((uint64_t(*)(const wchar_t *))core[RANGE_START_W])(L"start");
	end(range);
	((int (*)(void *, const struct attributes *))core2[DOMAIN_PUSH_EX])(domain, &attributes);
	domain_pop(domain);
	attributes.message_type = 3;
	attributes.message.registered =
		((void *(*)(void *, const wchar_t *))core2[REGISTER_STRING_W])(domain,
									       L"registered");
	((int (*)(void *, const struct attributes *))core2[DOMAIN_PUSH_EX])(domain, &attributes);
	domain_pop(domain);
	wmemset(lengthy, 0x20ac, 2999);
	((void (*)(const wchar_t *))core[MARK_W])(lengthy);
	((void (*)(const wchar_t *))core[MARK_W])(no_characters);
	((void (*)(const wchar_t *))core[MARK_W])(L"");
	domain_destroy(domain);
}

int main(int argc, char **argv)
{
	struct program program;
	void *domain, *registered;
	CUfunction kernel;
	uint64_t rounds;
	bool is_deep, is_apart, is_wide;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	is_deep = argc > 1 && !strcmp(argv[1], "deep");
	is_wide = argc > 1 && !strcmp(argv[1], "wide");
	is_apart = argc > 2 && !strcmp(argv[1], "apart");
	rounds = is_deep || is_apart || is_wide ? 0
		 : argc > 1			? program__number(argv[1], "ROUNDS")
						: 10;
	program__start(&program);
	kernel = program__kernel(&program, "empty");
	initialize();
	domain = domain_create("workload");
	registered = register_string(domain, "registered");
	for (uint64_t i = 0; i < rounds; i++)
		one_round(kernel, domain, registered);
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	if (is_deep) {
		deep(domain);
	} else if (is_apart) {
		apart(domain, argv[2]);
	} else if (is_wide) {
		wide();
	} else {
		program__also("nvtx_ranges", 5 * rounds);
		program__also("nvtx_marks", 2 * rounds);
	}
	domain_destroy(domain);
	program__expect();
	return 0;
}
