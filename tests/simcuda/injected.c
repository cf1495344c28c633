// SPDX-License-Identifier: BSD-2-Clause
// An injection library that writes down what happens to it, in the file that INJECTED_LOG names:
// loaded, called, unloaded. INJECTED_RETURN is what it returns to the driver (1).
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int InitializeInjection(void);

static void tell(const char *what)
{
	const char *path = getenv("INJECTED_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

	if (fd < 0)
		return;
	if (write(fd, what, strlen(what)) < 0)
		abort();
	close(fd);
}

static void __attribute__((constructor)) load(void)
{
	tell("loaded\n");
}

static void __attribute__((destructor)) unload(void)
{
	tell("unloaded\n");
}

static void at_exit(void)
{
	tell("atexit\n");
}

int InitializeInjection(void)
{
	const char *answer = getenv("INJECTED_RETURN");

	tell("called\n");
	atexit(at_exit);
	return answer ? atoi(answer) : 1;
}
