// SPDX-License-Identifier: BSD-2-Clause
// usage: mapper FILE...: maps the beginning of each, as code, says so, and waits for its end.
// mapper -n FOLDER COUNT NAME [FROM]: makes so many files of that name first, copies of FROM, or of
// zeros.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static void map(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void copy(const char *from, const char *to)
{
	static const char zeros[4096];
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0755),
	    in = from ? open(from, O_RDONLY) : -1;
	struct stat st;

	if (out < 0 || (from && (in < 0 || fstat(in, &st)))) {
		perror(to);
		exit(1);
	}
	if (from ? sendfile(out, in, NULL, st.st_size) != st.st_size
		 : write(out, zeros, sizeof(zeros)) != sizeof(zeros))
		exit(1);
	close(out);
	if (in >= 0)
		close(in);
}

int main(int argc, char **argv)
{
	char path[4096];

	if (argc > 4 && !strcmp(argv[1], "-n")) {
		for (int i = 0; i < atoi(argv[3]); i++) {
			snprintf(path, sizeof(path), "%s/%d", argv[2], i);
			mkdir(path, 0755);
			snprintf(path, sizeof(path), "%s/%d/%s", argv[2], i, argv[4]);
			copy(argc > 5 ? argv[5] : NULL, path);
			map(path);
		}
	} else {
		for (int i = 1; i < argc; i++)
			map(argv[i]);
	}
	printf("mapped\n");
	fflush(stdout);
	pause();
	return 0;
}
