// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/yield/mapped_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cuda-trace/foreign/foreign_file.h"

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

static int identify(struct mapped_file *file, struct foreign_file *found, int err)
{
	if (err)
		return err;
	file->device = found->device;
	file->inode = found->inode;
	foreign_file__close(found);
	return 0;
}

static int prepare(struct mapped_file *file, uint32_t pid, const char *name)
{
	*file = (struct mapped_file){.pid = pid};
	return snprintf(file->name, sizeof(file->name), "%s", name) >= (int)sizeof(file->name)
		       ? -ENAMETOOLONG
		       : 0;
}

int mapped_files__path(uint32_t pid, const char *name, struct mapped_file *file)
{
	struct foreign_file found;
	int err = prepare(file, pid, name);

	return err ? err : identify(file, &found, foreign_file__open(&found, pid, name, false));
}

static int open_mapping(uint32_t pid, const struct line *line, struct mapped_file *file)
{
	struct foreign_file found;
	int err = prepare(file, pid, line->name);

	snprintf(file->range, sizeof(file->range), "%lx-%lx", line->from, line->to);
	return err ? err
		   : identify(file, &found,
			      foreign_file__open_mapped(&found, pid, file->range, line->name));
}

static bool is_same(const struct mapped_file *a, const struct mapped_file *b)
{
	return a->device == b->device && a->inode == b->inode;
}

static bool has_base_name(const char *name, const char *base)
{
	const char *last = strrchr(name, '/') + 1;

	/* A copy of the agent in memory. */
	if (!strncmp(last, "memfd:", 6))
		last += 6;
	return !strncmp(last, base, strlen(base));
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
		err = open_mapping(pid, &line, file);
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
	struct foreign_file found;
	int err = *file->range
			  ? foreign_file__open_mapped(&found, file->pid, file->range, file->name)
			  : foreign_file__open(&found, file->pid, file->name, false);

	if (err)
		return err;
	if (found.device == file->device && found.inode == file->inode)
		return found.fd;
	foreign_file__close(&found);
	return -ENOENT;
}
