// SPDX-License-Identifier: BSD-2-Clause
/*
 * libstdc++'s demangler, fenced in: a hostile name of 300 bytes can describe a type whose text has
 * gigabytes, because each back reference may double it. Names with few references cannot grow
 * beyond some megabytes and are done here; the others in a child with a limit on memory and time.
 */
#include "cuda-trace/demangle.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST_PRETTY 4096
#define FEW_REFERENCES 24
#define CHILD_BYTES    (256ul << 20)
#define CHILD_SECONDS  1

/* Declared here because <cxxabi.h> is C++. */
extern char *__cxa_demangle(const char *name, char *out, size_t *length, int *status);

static int count_references(const char *mangled)
{
	int n = 0;

	/* S_, S0_, T_, T0_ …; letters of identifiers are counted too, which does no harm. */
	for (; *mangled; mangled++)
		n += *mangled == 'S' || *mangled == 'T';
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
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	pretty[used] = 0;
	return child > 0 && !status && used ? strdup(pretty) : NULL;
}

char *demangle(const char *mangled)
{
	int status;

	if (strncmp(mangled, "_Z", 2))
		return NULL;
	if (count_references(mangled) > FEW_REFERENCES)
		return demangle_apart(mangled);
	return shorten(__cxa_demangle(mangled, NULL, NULL, &status));
}
