// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. code that is made to take over the program which reads it: that one has no
 * rights, no file open but its own, cannot start another one, and sees nothing of the
 * environment. 2. it hangs, crashes, or prints for ever: there is an end to time, memory and text,
 * and it is killed whatever came. 3. `sudo cuda-trace` in a folder of somebody else's: PATH counts
 * where it is absolute.
 */
#include "cuda-trace/profile/code/nvdisasm.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"

#define NAME	    "nvdisasm"
#define NOBODY	    65534
#define MAX_TEXT    (32ul << 20)
#define MAX_MEMORY  (4ul << 30)
#define MAX_SECONDS 20 /* of a CPU */
#define NOT_STARTED 127
#define PROGRAM_FD  4

static int try_file(struct nvdisasm *program, const char *folder, size_t length)
{
	const char *below = length ? "/" NAME : "";

	if (length && *folder != '/')
		return -ENOENT;
	if ((size_t)snprintf(program->path, sizeof(program->path), "%.*s%s",
			     (int)(length ? length : strlen(folder)), folder,
			     below) >= sizeof(program->path))
		return -ENAMETOOLONG;
	if (access(program->path, X_OK))
		return -errno;
	program->fd = open(program->path, O_PATH | O_CLOEXEC);
	return program->fd < 0 ? -errno : 0;
}

static int try_path(struct nvdisasm *program)
{
	const char *path = getenv("PATH");
	int err = -ENOENT;

	while (err && path && *path) {
		size_t length = strcspn(path, ":");

		if (length)
			err = try_file(program, path, length);
		path += length + (path[length] == ':');
	}
	return err;
}

static int try_toolkit(struct nvdisasm *program)
{
	const char *home = getenv("CUDA_HOME");
	char folder[PATH_MAX];

	if (home && snprintf(folder, sizeof(folder), "%s/bin", home) < (int)sizeof(folder) &&
	    !try_file(program, folder, strlen(folder)))
		return 0;
	return try_file(program, "/usr/local/cuda/bin", strlen("/usr/local/cuda/bin"));
}

int nvdisasm__open(struct nvdisasm *program)
{
	const char *named = getenv("CUDA_TRACE_NVDISASM");
	int err;

	program->fd = -1;
	if (named && *named)
		return strcmp(named, "off") ? try_file(program, named, 0) : -ECANCELED;
	err = try_path(program);
	return err ? try_toolkit(program) : 0;
}

void nvdisasm__close(struct nvdisasm *program)
{
	if (program->fd >= 0)
		close(program->fd);
	program->fd = -1;
}

/* ---- the child ---- */

/* To fixed numbers, whatever those were. */
static void leave_open(int image, int program, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int from[] = {fcntl(null, F_DUPFD, 16), fcntl(out, F_DUPFD, 16),
			    fcntl(out, F_DUPFD, 16), fcntl(image, F_DUPFD, 16),
			    fcntl(program, F_DUPFD, 16)};

	for (int to = 0; to <= PROGRAM_FD; to++)
		if (from[to] < 0 || dup2(from[to], to) < 0)
			_exit(NOT_STARTED);
	close_range(PROGRAM_FD + 1, ~0u, 0);
}

static void limit(int what, rlim_t most)
{
	setrlimit(what, &(struct rlimit){most, most});
}

static void drop_rights(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_CPU, MAX_SECONDS);
	limit(RLIMIT_NOFILE, 64);
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(NOT_STARTED);
	/* After the change: nobody may have processes, this one can have none. */
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_AS, MAX_MEMORY);
}

static _Noreturn void be_the_child(const struct nvdisasm *program, int image, int out, pid_t parent)
{
	/* What there is no need to analyse is not analysed: it may fail there. */
	static char *const arguments[] = {NAME, "-c", "-ndf", "/proc/self/fd/3", NULL};
	static char *const environment[] = {"LC_ALL=C", NULL};
	sigset_t none;

	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	leave_open(image, program->fd, out);
	/* Without the terminal, which anybody may open who is on it. */
	if (setsid() < 0 || chdir("/"))
		_exit(NOT_STARTED);
	drop_rights();
	/* Another user's process would have lost it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NOT_STARTED);
	syscall(SYS_execveat, PROGRAM_FD, "", arguments, environment, AT_EMPTY_PATH);
	_exit(NOT_STARTED);
}

/* ---- the tool ---- */

static int memory_file(const void *bytes, size_t size)
{
	int fd = memfd_create(NAME, MFD_CLOEXEC);

	for (size_t done = 0; fd >= 0 && done < size;) {
		ssize_t n = write(fd, (const uint8_t *)bytes + done, size - done);

		if (n <= 0) {
			close(fd);
			return -1;
		}
		done += n;
	}
	return fd;
}

static enum nvdisasm_end receive(int in, uint64_t until_ms, char **text, size_t *length)
{
	size_t capacity = 0;

	for (*length = 0; *length < MAX_TEXT;) {
		struct pollfd ready = {.fd = in, .events = POLLIN};
		uint64_t now = monotonic__ms();
		int came = now < until_ms ? poll(&ready, 1, until_ms - now) : 0;
		ssize_t n;

		if (came <= 0)
			return came ? NVDISASM_STOPPED : NVDISASM_LATE;
		if (!array_grow__to(*text, capacity, *length + 65536))
			return NVDISASM_ENDLESS;
		n = read(in, *text + *length, capacity - *length - 1);
		if (n <= 0)
			return NVDISASM_ENDED;
		*length += n;
		(*text)[*length] = '\0';
	}
	return NVDISASM_ENDLESS;
}

/* It has closed its output, but that may not be its end. */
static bool was_started(pid_t child)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	int status = 0;

	for (int turn = 0; turn < 50; turn++) {
		if (waitpid(child, &status, WNOHANG))
			return !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED);
		nanosleep(&pause, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return true;
}

enum nvdisasm_end nvdisasm__run(const struct nvdisasm *program, const void *cubin, size_t size,
				uint64_t until_ms, char **text, size_t *length)
{
	int image = memory_file(cubin, size), ends[2];
	pid_t child, parent = getpid();
	enum nvdisasm_end end;

	*text = NULL;
	*length = 0;
	if (image < 0 || pipe2(ends, O_CLOEXEC)) {
		if (image >= 0)
			close(image);
		return NVDISASM_FAILED;
	}
	fflush(NULL);
	child = fork();
	if (!child)
		be_the_child(program, image, ends[1], parent);
	close(ends[1]);
	close(image);
	end = child < 0 ? NVDISASM_FAILED : receive(ends[0], until_ms, text, length);
	close(ends[0]);
	if (child < 0)
		return end;
	if (end == NVDISASM_ENDED)
		return was_started(child) ? end : NVDISASM_FAILED;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return end;
}
