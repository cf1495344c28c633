// SPDX-License-Identifier: BSD-2-Clause
/*
 * A library's constructors run when it is opened, and they may hang, crash or print. So it happens
 * in a child: no terminal, no descriptors, no privileges, little time and memory. One thread.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/inventory/libcupti_version.h"

#define NOBODY	   65534
#define TIMEOUT_MS 300

struct answer {
	int32_t err;
	uint32_t version;
};

static void limit(int what, rlim_t most)
{
	struct rlimit limit = {most, most};

	setrlimit(what, &limit);
}

/* Returns false if privileges could not be dropped: then nothing of the library may run. */
static bool become_harmless(void)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	setsid(); /* no terminal to type into */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit(RLIMIT_CPU, 2);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NPROC, 0);
#ifndef __SANITIZE_ADDRESS__
	limit(RLIMIT_AS, 2ul << 30);
#endif
	if (chdir("/"))
		return false;
	clearenv();
	if (geteuid())
		return true;
	return !setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	       !setresuid(NOBODY, NOBODY, NOBODY);
}

static _Noreturn void child(int fd, int out, const char *function)
{
	struct answer answer = {-ENOEXEC, 0};
	int (*ask)(uint32_t * version);
	char path[64];
	void *library;

	/* 3 and 4 are what is left. */
	if (dup2(fd, 10) != 10 || dup2(out, 11) != 11 || dup2(10, 3) != 3 || dup2(11, 4) != 4)
		_exit(1);
	close_range(5, ~0u, 0);
	if (become_harmless()) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", 3);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		ask = library ? (int (*)(uint32_t *))dlsym(library, function) : NULL;
		if (ask)
			answer.err = ask(&answer.version) ? -EPROTO : 0;
	}
	/* Not exit(): the library's destructors and the tool's own are nothing to us. */
	_exit(write(4, &answer, sizeof(answer)) != sizeof(answer));
}

static int receive(int in, uint32_t *version)
{
	struct pollfd poll_in = {.fd = in, .events = POLLIN};
	struct answer answer;
	int n;

	do
		n = poll(&poll_in, 1, TIMEOUT_MS);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return -ETIMEDOUT;
	if (read(in, &answer, sizeof(answer)) != sizeof(answer))
		return -EPROTO;
	if (!answer.err)
		*version = answer.version;
	return answer.err;
}

int version__ask(int fd, const char *function, uint32_t *version)
{
	int ends[2], err;
	struct stat st;
	pid_t pid;

	if (fstat(fd, &st) || (st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & 022))
		return -EACCES;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		child(fd, ends[1], function);
	close(ends[1]);
	if (pid < 0) {
		err = -errno;
		close(ends[0]);
		return err;
	}
	err = receive(ends[0], version);
	close(ends[0]);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return err;
}
