// SPDX-License-Identifier: BSD-2-Clause
// usage: unit_paths FOLDER: a child whose root that is; opens paths there, with and without
// openat2().
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/base/rooted_path.h"
#include "cuda-trace/foreign/foreign_file.h"

static int wrong;

static void expect(const char *what, int is, int wanted)
{
	if (is == wanted)
		return;
	printf("%s: %d, not %d\n", what, is, wanted);
	wrong = 1;
}

static int open_in(pid_t pid, const char *path, bool nofollow)
{
	struct foreign_file file;
	int err;

	alarm(5);
	err = foreign_file__open(&file, pid, path, nofollow);
	if (!err && fcntl(file.fd, F_GETFL) < 0)
		err = -EBADF;
	if (!err)
		foreign_file__close(&file);
	alarm(0);
	return err;
}

static int walk(int root, const char *path)
{
	int fd = rooted_path__walk(root, path, O_PATH);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

int main(int argc, char **argv)
{
	int root, fd;
	pid_t pid;

	if (argc != 2 || chdir(argv[1]))
		return 2;
	mkdir("d", 0755);
	fd = open("d/file", O_CREAT | O_WRONLY, 0644);
	if (fd < 0 || close(fd) || symlink("/d/file", "absolute") ||
	    symlink("/etc/passwd", "out") || symlink("../../../../../../etc/passwd", "up") ||
	    symlink("d", "link") || mkfifo("fifo", 0666) ||
	    mknod("device", S_IFCHR | 0666, makedev(1, 5)) ||
	    symlink("/proc/self/root/etc/passwd", "magic"))
		return 2;
	root = open(".", O_PATH | O_DIRECTORY);
	pid = fork();
	if (!pid) {
		if (!chroot("."))
			pause();
		_exit(1);
	}
	usleep(200000);
	expect("a file", open_in(pid, "/d/file", false), 0);
	expect("an absolute link inside", open_in(pid, "/absolute", false), 0);
	expect("a link that must not be followed", open_in(pid, "/absolute", true), -EINVAL);
	expect("an absolute link out", open_in(pid, "/out", false), -ENOENT);
	expect("a link up", open_in(pid, "/up", false), -ENOENT);
	expect("a magic link", open_in(pid, "/magic", false), -ENOENT);
	expect("a FIFO", open_in(pid, "/fifo", false), -EINVAL);
	expect("a device", open_in(pid, "/device", false), -EINVAL);
	expect("a folder", open_in(pid, "/d", false), -EINVAL);
	expect("a file, walked to", walk(root, "/d/file"), 0);
	expect("a folder's link, walked through", walk(root, "/link/file"), -ENOSYS);
	expect("up, walked", walk(root, "/d/../d/file"), -ENOSYS);
	expect("nothing, walked to", walk(root, "/d/none"), -ENOENT);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (!wrong)
		puts("all as expected");
	return wrong;
}
