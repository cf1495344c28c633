// SPDX-License-Identifier: BSD-2-Clause
/*
 * Databases of packages are read by the programs that they belong to, in a child. Such a program
 * could do harm in a hostile tree: opening a device acts (a watchdog's reboots the
 * machine), links lead out, SQLite writes beside a database. So it gets the tree as a mount of its
 * own, where the kernel forbids all that. Called by packages.c; one thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/inventory/package_query.h"

#define NOBODY	   65534
#define NO_VIEW	   126
#define NO_PROGRAM 127
#define OUTPUT_MAX (16ul << 20)
#define DYING_NS   1000000000ull

static const unsigned long VIEW_ATTRIBUTES = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					     MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
					     MOUNT_ATTR_NOSYMFOLLOW;

/* A mount can be copied in its own namespace only: there and back, also out of a chroot. */
static int clone_of_process(const struct filetree *tree)
{
	int own = open("/proc/self/ns/mnt", O_RDONLY), root = open("/", O_PATH | O_DIRECTORY);
	char path[64];
	int theirs, fd;

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", tree->pid);
	theirs = open(path, O_RDONLY);
	if (own < 0 || root < 0 || theirs < 0 || setns(theirs, CLONE_NEWNS))
		return -1;
	fd = open_tree(tree->root, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE);
	if (setns(own, CLONE_NEWNS) || fchdir(root) || chroot("."))
		return -1;
	return fd;
}

/* False if this user, or a chroot, does not let us: then nobody looks at the tree. */
static bool mount_view(const struct filetree *tree)
{
	struct mount_attr attributes = {.attr_set = VIEW_ATTRIBUTES};
	int fd = -1;

	if (tree->pid && (fd = clone_of_process(tree)) < 0)
		return false;
	/* The working directory goes along into the namespace; whoever is not root is so there. */
	if (!tree->pid && fchdir(tree->root))
		return false;
	if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return false;
	if (!tree->pid && (fd = open_tree(AT_FDCWD, ".", AT_RECURSIVE | OPEN_TREE_CLONE)) < 0)
		return false;
	return !mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
			      sizeof(attributes)) &&
	       !move_mount(fd, "", AT_FDCWD, QUERY_ROOT, MOVE_MOUNT_F_EMPTY_PATH);
}

static void limit(int what, rlim_t most)
{
	struct rlimit limit = {most, most};

	setrlimit(what, &limit);
}

static bool become_harmless(void)
{
	setsid(); /* no terminal to type into */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (chdir("/"))
		return false;
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		return false;
	/* After the change of user, which forgets the signal and counts that user's processes. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_CPU, 10);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_AS, 1ul << 30);
	return true;
}

static _Noreturn void child(const struct filetree *tree, char *const argv[], int out)
{
	static char *const environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", "HOME=/nonexistent",
					    NULL};
	int null;

	if (!tree->own && !mount_view(tree))
		_exit(NO_VIEW);
	null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0 || close_range(3, ~0u, 0) || !become_harmless())
		_exit(NO_VIEW);
	execve(argv[0], argv, environment);
	_exit(NO_PROGRAM);
}

/* Everything up to its end, with a NUL; NULL if that does not come in time. */
static char *receive(int in, uint64_t deadline)
{
	struct pollfd poll_in = {.fd = in, .events = POLLIN};
	size_t have = 0, size = 0;
	char *text = NULL;
	uint64_t now;
	ssize_t n;

	while (have < OUTPUT_MAX && (now = monotonic__ns()) < deadline) {
		if (poll(&poll_in, 1, (deadline - now) / 1000000 + 1) <= 0)
			continue;
		if (!array_grow__to(text, size, have + 4096))
			break;
		n = read(in, text + have, size - have - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			text[have] = '\0';
			return text;
		}
		have += n;
	}
	free(text);
	return NULL;
}

/* True: it has ended, with that status. It may close its output and stay. */
static bool wait_for(pid_t pid, uint64_t deadline, int *status)
{
	pid_t ended;

	while (!(ended = waitpid(pid, status, WNOHANG)) || (ended < 0 && errno == EINTR)) {
		if (monotonic__ns() >= deadline)
			return false;
		poll(NULL, 0, 1);
	}
	return ended == pid;
}

char *query__output(const struct filetree *tree, char *const argv[], uint64_t ns, int *err)
{
	uint64_t deadline = monotonic__ns() + ns;
	int ends[2], status = 0;
	char *text;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC)) {
		*err = -errno;
		return NULL;
	}
	pid = fork();
	if (!pid)
		child(tree, argv, ends[1]);
	close(ends[1]);
	text = pid < 0 ? NULL : receive(ends[0], deadline);
	close(ends[0]);
	if (pid > 0 && (!text || !wait_for(pid, deadline, &status))) {
		free(text);
		text = NULL;
		kill(pid, SIGKILL);
		/* Where its file system hangs it does not die: then it is left behind. */
		wait_for(pid, monotonic__ns() + DYING_NS, &status);
	}
	if (text && WIFEXITED(status) && WEXITSTATUS(status) < NO_VIEW) {
		*err = WEXITSTATUS(status);
		return text;
	}
	*err = !text				   ? -ETIMEDOUT
	       : !WIFEXITED(status)		   ? -EPROTO
	       : WEXITSTATUS(status) == NO_PROGRAM ? -ENOENT
						   : -EPERM;
	free(text);
	return NULL;
}
