// SPDX-License-Identifier: BSD-2-Clause
// usage: covered FOLDER FILE TARGET: in a mount namespace of its own, maps a copy of FILE at
// FOLDER/a/libcuda.so.1, and covers it by a mount in which that name is a link to TARGET.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd, from;

	if (argc != 4 || mount("none", argv[1], "tmpfs", 0, NULL) || chdir(argv[1]) ||
	    mkdir("a", 0755))
		return 1;
	from = open(argv[2], O_RDONLY);
	fd = open("a/libcuda.so.1", O_RDWR | O_CREAT, 0755);
	if (sendfile(fd, from, NULL, 1 << 24) <= 0 ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 2;
	close(fd);
	if (mount("none", "a", "tmpfs", 0, NULL) || symlink(argv[3], "a/libcuda.so.1"))
		return 3;
	printf("mapped\n");
	fflush(stdout);
	pause();
	return 0;
}
