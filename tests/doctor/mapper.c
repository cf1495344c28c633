/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that maps files and waits, for the doctor's tests: `mapper [-r ROOT] FILE...`. Static,
 * so that it runs in a root with nothing else in it. Prints "ready" when everything is mapped.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int i = 1, fd;

	if (argc > 2 && !strcmp(argv[1], "-r")) {
		if (chroot(argv[2]) || chdir("/"))
			return 1;
		i = 3;
	}
	for (; i < argc; i++) {
		fd = open(argv[i], O_RDONLY);
		if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			return 1;
		close(fd);
	}
	puts("ready");
	fflush(stdout);
	alarm(60);
	pause();
	return 0;
}
