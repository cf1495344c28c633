// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: mute_server FOLDER NAME USER: mounts a file system (FUSE) there whose only file has that
 * name, as that user's, under a name that looks like root's; maps the file, and answers nothing
 * from then on. Prints "mapped".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_SIZE (16 << 20)

static volatile sig_atomic_t mute;

static void reply(int fuse, uint64_t unique, int error, const void *body, size_t size)
{
	struct fuse_out_header head = {
		.len = sizeof(head) + size, .error = error, .unique = unique};
	struct iovec parts[] = {{&head, sizeof(head)}, {(void *)body, size}};

	if (writev(fuse, parts, size ? 2 : 1) < 0)
		perror("fuse");
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){.ino = node,
				  .size = node == 1 ? 0 : FILE_SIZE,
				  .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644,
				  .nlink = 1};
}

/* Nothing stays valid: each look at a file is a request. */
static void answer(int fuse, const struct fuse_in_header *in)
{
	const struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
					   .minor = FUSE_KERNEL_MINOR_VERSION,
					   .max_write = 1 << 16};
	const struct fuse_entry_out entry = {.nodeid = 2, .attr = attributes(2)};
	const struct fuse_attr_out attr = {.attr = attributes(in->nodeid)};
	const struct fuse_open_out opened = {};

	switch (in->opcode) {
	case FUSE_INIT:
		return reply(fuse, in->unique, 0, &init, sizeof(init));
	case FUSE_LOOKUP:
		return reply(fuse, in->unique, 0, &entry, sizeof(entry));
	case FUSE_GETATTR:
		return reply(fuse, in->unique, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
		return reply(fuse, in->unique, 0, &opened, sizeof(opened));
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		reply(fuse, in->unique, -ENOSYS, NULL, 0);
	}
}

static void be_mute(int number)
{
	mute = number;
}

static void serve(int fuse)
{
	static char buffer[1 << 17];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, be_mute);
	while (read(fuse, buffer, sizeof(buffer)) > 0 || errno == EINTR)
		if (!mute)
			answer(fuse, (const struct fuse_in_header *)buffer);
	_exit(0);
}

int main(int argc, char **argv)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC), fd;
	char options[96], path[512];
	pid_t server;

	if (argc != 4)
		return 2;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%s,group_id=0,allow_other",
		 fuse, argv[3]);
	if (fuse < 0 ||
	    mount("rw,user_id=0,group_id=0", argv[1], "fuse", MS_NOSUID | MS_NODEV, options)) {
		perror("mount");
		return 1;
	}
	server = fork();
	if (!server)
		serve(fuse);
	close(fuse);
	snprintf(path, sizeof(path), "%s/%s", argv[1], argv[2]);
	fd = open(path, O_RDONLY);
	if (fd < 0 ||
	    mmap(NULL, FILE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		perror(path);
		return 1;
	}
	close(fd);
	kill(server, SIGUSR1);
	puts("mapped");
	fflush(stdout);
	pause();
	return 0;
}
