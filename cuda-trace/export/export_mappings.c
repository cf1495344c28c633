// SPDX-License-Identifier: BSD-2-Clause
/*
 * The path comes from the recording and may name anything: only a regular file is looked into, and
 * only one of the same build counts.
 */
#include "cuda-trace/export/export_mappings.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/symbols/symbols.h"

#define MAX_FILES 4096
#define APART	  (1ull << 32) /* from one file's base to the next */
#define PAGE	  4096ull

static bool same_build(const struct elf_outline *outline, const char *build_id)
{
	char text[2 * BUILD_ID_MAX + 1] = "";

	for (uint32_t i = 0; i < outline->build_id_size && i < BUILD_ID_MAX; i++)
		snprintf(text + 2 * i, 3, "%02x", outline->build_id[i]);
	return *text && !strcmp(text, build_id);
}

static bool read_outline(struct elf_outline *outline, const char *path, const char *build_id)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool found = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		     !elf_outline__read(outline, fd) && same_build(outline, build_id);

	if (fd >= 0)
		close(fd);
	return found;
}

/* Without the file: as one whose offsets are its addresses, which most libraries' are. */
static void place(struct mapped_file *file, uint64_t address)
{
	struct elf_outline outline;

	file->start = file->base;
	file->limit = file->base + APART;
	if (!read_outline(&outline, file->module, file->build_id))
		return;
	for (uint32_t i = 0; i < outline.loads && i < ELF_LOADS; i++) {
		uint64_t begin = outline.load[i].address, size = outline.load[i].size;

		if (address < begin || address - begin >= size || begin >= APART ||
		    size > APART - begin)
			continue;
		file->start = file->base + begin / PAGE * PAGE;
		file->limit = file->base + (begin + size + PAGE - 1) / PAGE * PAGE;
		file->offset = outline.load[i].offset / PAGE * PAGE;
		return;
	}
}

int export_mappings__find(struct mapped_files *files, const char *module, const char *build_id,
			  uint64_t address)
{
	if (address >= APART)
		return -1;
	for (size_t i = 0; i < files->count; i++)
		if (!strcmp(files->list[i].build_id, build_id) &&
		    !strcmp(files->list[i].module, module))
			return i;
	if (files->count == MAX_FILES || !array_grow__counted(files->list, files->count))
		return -1;
	files->list[files->count] = (struct mapped_file){
		.module = module,
		.build_id = build_id,
		.base = (files->count + 1) * APART,
	};
	place(&files->list[files->count], address);
	return files->count++;
}

void export_mappings__free(struct mapped_files *files)
{
	free(files->list);
}
