// SPDX-License-Identifier: BSD-2-Clause
/* The set of recordings: opened one after the other, so that their number costs nothing. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/merge/merge.h"

static int add_file(struct merge *merge, const char *path)
{
	if (merge->file_count == MERGE_FILES) {
		fprintf(stderr, "cuda-trace report: more than %d files\n", MERGE_FILES);
		return -E2BIG;
	}
	if (!array_grow__for_one(merge->files, merge->file_capacity, merge->file_count))
		return -ENOMEM;
	merge->files[merge->file_count] = (struct merge_file){.path = strdup(path)};
	if (!merge->files[merge->file_count].path)
		return -ENOMEM;
	merge->file_count++;
	return 0;
}

static bool ends_with(const char *name, const char *with)
{
	size_t length = strlen(name), part = strlen(with);

	return length >= part && !strcmp(name + length - part, with);
}

/* Neither what is still recorded, nor what a newer recording has replaced. */
static int is_wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && !ends_with(entry->d_name, ".part") &&
	       !ends_with(entry->d_name, ".old") && !ends_with(entry->d_name, ".unfinished");
}

static int add_folder(struct merge *merge, const char *folder)
{
	uint32_t before = merge->file_count;
	struct dirent **entries;
	int count = scandir(folder, &entries, is_wanted, alphasort), err = 0;
	char shown[512];

	if (count < 0)
		err = -errno;
	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (!err && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0) {
			err = -ENOMEM;
			path = NULL;
		}
		if (!err && output_file__is_recording(path))
			err = add_file(merge, path);
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	text__show(shown, sizeof(shown), folder, 120);
	if (count < 0)
		fprintf(stderr, "cuda-trace report: cannot read %s: %s\n", shown, strerror(-err));
	else if (!err && merge->file_count == before)
		fprintf(stderr, "cuda-trace report: %s has no recordings\n", shown);
	return err ? err : merge->file_count == before ? -ENOENT : 0;
}

int merge_files__add(struct merge *merge, const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode) ? add_folder(merge, path)
						       : add_file(merge, path);
}

void merge__free(struct merge *merge)
{
	for (uint32_t i = 0; i < merge->file_count; i++)
		free(merge->files[i].path);
	free(merge->files);
	free(merge->clocks);
	free(merge->ranks);
	free(merge->arrivals);
	free(merge->parts);
	free(merge->members);
	free(merge->steps);
	free(merge->iterations.list);
	nccl_comms__free(&merge->comms);
	merge_kernels__free(&merge->kernels);
	*merge = (struct merge){};
}
