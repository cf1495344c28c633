// SPDX-License-Identifier: BSD-2-Clause
/*
 * libstdc++'s demangler, fenced in: a hostile name of 300 bytes can describe a type whose text has
 * gigabytes, because each back reference may double it. Names with few references cannot grow
 * beyond some megabytes and are done here; the others in a child with a limit on memory and
 * time. Thousands of such names would still keep the tool's one thread busy for an hour: what names
 * with references may cost altogether is bounded, too, as a share of the time.
 */
#include "cuda-trace/base/demangle.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_PRETTY 4096
#define FEW_REFERENCES 12
#define CHILD_BYTES    (256ul << 20)
#define CHILD_SECONDS  1
#define NS_PER_S       1000000000ull
#define CHEAP_NS       (NS_PER_S / 100) /* what an honest name may take */
#define MAX_DEBT_NS    (2 * NS_PER_S)
#define DEBT_SHARE     20 /* is paid back in so many times its length */

/* Declared here because <cxxabi.h> is C++. */
extern char *__cxa_demangle(const char *name, char *out, size_t *length, int *status);

static uint64_t debt, debt_time; /* ns; one thread */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static bool is_affordable(void)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), paid = (now - debt_time) / DEBT_SHARE;

	debt = debt > paid ? debt - paid : 0;
	debt_time = now;
	return debt < MAX_DEBT_NS;
}

static void pay(uint64_t ns)
{
	if (ns > CHEAP_NS)
		debt += ns;
}

/* S_, S0_, SZ_, T_, T0_ …: what was there before, once more. */
static int count_references(const char *mangled)
{
	int n = 0;

	for (; *mangled; mangled++) {
		const char *at = mangled + 1;

		if (*mangled != 'S' && *mangled != 'T')
			continue;
		at += strspn(at, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		n += *at == '_';
	}
	return n;
}

static char *shorten(char *pretty)
{
	if (pretty && strlen(pretty) >= LONGEST_PRETTY)
		strcpy(pretty + LONGEST_PRETTY - 4, "...");
	return pretty;
}

static void demangle_in_child(const char *mangled, int to)
{
	struct rlimit memory = {CHILD_BYTES, CHILD_BYTES};
	struct rlimit seconds = {CHILD_SECONDS, CHILD_SECONDS};
	struct rlimit none = {0, 0};
	char *pretty;
	int status;

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &seconds);
	setrlimit(RLIMIT_AS, &memory);
	signal(SIGXCPU, SIG_DFL);
	pretty = shorten(__cxa_demangle(mangled, NULL, NULL, &status));
	if (!pretty || write(to, pretty, strlen(pretty)) < 0)
		_exit(1);
	_exit(0);
}

static char *demangle_apart(const char *mangled)
{
	char pretty[LONGEST_PRETTY];
	size_t used = 0;
	struct rusage usage = {};
	ssize_t n;
	pid_t child;
	int ends[2], status = 1;

	if (pipe(ends))
		return NULL;
	child = fork();
	if (!child)
		demangle_in_child(mangled, ends[1]);
	close(ends[1]);
	while (child > 0 && used < sizeof(pretty) - 1) {
		n = read(ends[0], pretty + used, sizeof(pretty) - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += n;
	}
	close(ends[0]);
	while (child > 0 && wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
		;
	pay((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
	    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull);
	pretty[used] = 0;
	return child > 0 && !status && used ? strdup(pretty) : NULL;
}

char *demangle(const char *mangled)
{
	int references, status;
	uint64_t before;
	char *pretty;

	if (strncmp(mangled, "_Z", 2))
		return NULL;
	references = count_references(mangled);
	if (references && !is_affordable())
		return NULL;
	if (references > FEW_REFERENCES)
		return demangle_apart(mangled);
	before = now_ns(CLOCK_THREAD_CPUTIME_ID);
	pretty = shorten(__cxa_demangle(mangled, NULL, NULL, &status));
	pay(now_ns(CLOCK_THREAD_CPUTIME_ID) - before);
	return pretty;
}
