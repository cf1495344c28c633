// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/yield/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct line {
	uint64_t from, to;
	const char *name;
};

/* False: no file is mapped there. */
static bool parse(char *text, struct line *line)
{
	int name = 0;

	if (sscanf(text, "%lx-%lx %*s %*s %*s %*s %n", &line->from, &line->to, &name) < 2 || !name)
		return false;
	text[strcspn(text, "\n")] = 0;
	line->name = text + name;
	return *line->name == '/';
}

/* The name may lead to a FIFO or a device: it is not opened before that is known. */
int mapped_files__path(uint32_t pid, const char *name, struct mapped_file *file)
{
	struct stat found;

	if (snprintf(file->name, sizeof(file->name), "%s", name) >= (int)sizeof(file->name) ||
	    snprintf(file->path, sizeof(file->path), "/proc/%u/root%s", pid, name) >=
		    (int)sizeof(file->path))
		return -ENAMETOOLONG;
	if (stat(file->path, &found))
		return -errno;
	if (!S_ISREG(found.st_mode))
		return -ENOENT;
	file->device = found.st_dev;
	file->inode = found.st_ino;
	return 0;
}

static bool is_same(const struct mapped_file *a, const struct mapped_file *b)
{
	return a->device == b->device && a->inode == b->inode;
}

static bool has_base_name(const char *name, const char *base)
{
	const char *slash = strrchr(name, '/');

	return !strncmp(slash + 1, base, strlen(base));
}

/* By address if `base` is NULL. */
static int find(uint32_t pid, uint64_t address, const char *base, const struct mapped_file *but,
		struct mapped_file *file)
{
	char text[PATH_MAX + 128];
	int err = -ENOENT;
	struct line line;
	FILE *maps;

	snprintf(text, sizeof(text), "/proc/%u/maps", pid);
	maps = fopen(text, "re");
	if (!maps)
		return -errno;
	while (err && fgets(text, sizeof(text), maps)) {
		if (!parse(text, &line))
			continue;
		if (base ? !has_base_name(line.name, base)
			 : address < line.from || address >= line.to)
			continue;
		err = mapped_files__path(pid, line.name, file);
		if (!err && but && is_same(but, file))
			err = -ENOENT;
	}
	fclose(maps);
	return err;
}

int mapped_files__at(uint32_t pid, uint64_t address, struct mapped_file *file)
{
	return find(pid, address, NULL, NULL, file);
}

int mapped_files__named(uint32_t pid, const char *name, const struct mapped_file *but,
			struct mapped_file *file)
{
	return find(pid, 0, name, but, file);
}

int mapped_files__range(uint32_t pid, const char *name, uint64_t *from, uint64_t *to)
{
	char text[PATH_MAX + 128];
	struct line line;
	FILE *maps;

	snprintf(text, sizeof(text), "/proc/%u/maps", pid);
	maps = fopen(text, "re");
	if (!maps)
		return -errno;
	*from = *to = 0;
	while (fgets(text, sizeof(text), maps)) {
		if (!parse(text, &line) || !has_base_name(line.name, name))
			continue;
		*from = *from ? *from : line.from;
		*to = line.to;
	}
	fclose(maps);
	return *from ? 0 : -ENOENT;
}

int mapped_file__open(const struct mapped_file *file)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat found;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &found) && S_ISREG(found.st_mode) && found.st_dev == file->device &&
	    found.st_ino == file->inode)
		return fd;
	close(fd);
	return -ENOENT;
}
