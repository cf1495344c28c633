// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owners of libcupti files: packages of dpkg and rpm, a wheel's dist-info, conda's records. Called
 * by libcupti_list.c; one thread.
 */
#include <stdio.h>
#include <string.h>
#include "cuda-trace/inventory/libcupti_list.h"
#include "cuda-trace/inventory/libcupti_owner.h"
#include "cuda-trace/inventory/packages.h"

struct search {
	char found[256]; /* of a file name: package, NAME-VERSION, … */
};

static bool names_file(const struct library *library, const char *path)
{
	size_t i;

	if (!strcmp(path, library->path) || (library->real && !strcmp(path, library->real)))
		return true;
	for (i = 0; i < library->name_count; i++)
		if (!strcmp(path, library->names[i]))
			return true;
	/* A merged /usr: dpkg may know the file by its old place. */
	return !strncmp(library->path, "/usr/lib", 8) && !strcmp(path, library->path + 4);
}

static void find_package(const struct packages *packages, struct library *library)
{
	const struct package_file *file;
	size_t i;

	for (i = 0; (file = packages__file(packages, i)); i++) {
		if (!names_file(library, file->path))
			continue;
		snprintf(library->owner, sizeof(library->owner), "%.60s %.80s", file->package,
			 file->version);
		return;
	}
}

static int note_name(void *context, const char *path)
{
	struct search *search = context;

	snprintf(search->found, sizeof(search->found), "%s", strrchr(path, '/') + 1);
	return 1;
}

/* site-packages/nvidia/ has its records beside it: nvidia_cuda_cupti_cu12-12.4.127.dist-info */
static void find_wheel(struct filetree *tree, struct library *library)
{
	const char *const names[] = {"nvidia_cuda_cupti*", library->source == LIBRARY_SOURCE_TRITON
								   ? "*triton-*"
								   : "torch-*"};
	const char *within = library->source == LIBRARY_SOURCE_TRITON ? "/triton/"
			     : strstr(library->path, "/torch/lib/")   ? "/torch/lib/"
								      : "/nvidia/";
	struct search search = {.found = ""};
	const char *end = strstr(library->path, within);
	char pattern[FILETREE_PATH_MAX], *at, *dash;

	if (!end)
		return;
	snprintf(pattern, sizeof(pattern), "%.*s/%s.dist-info", (int)(end - library->path),
		 library->path, names[strcmp(within, "/nvidia/") != 0]);
	filetree__glob(tree, pattern, note_name, &search);
	/* NAME-VERSION.dist-info */
	at = strstr(search.found, ".dist-info");
	dash = strchr(search.found, '-');
	if (!at || !dash || dash > at)
		return;
	*at = '\0';
	*dash = ' ';
	snprintf(library->owner, sizeof(library->owner), "%.140s (pip)", search.found);
}

static void find_conda(struct filetree *tree, struct library *library)
{
	struct search search = {.found = ""};
	const char *end = strstr(library->path, "/targets/");
	char pattern[FILETREE_PATH_MAX], *version, *build;

	if (!end)
		end = strstr(library->path, "/lib/");
	if (!end)
		return;
	snprintf(pattern, sizeof(pattern), "%.*s/conda-meta/cuda-cupti-[0-9]*.json",
		 (int)(end - library->path), library->path);
	filetree__glob(tree, pattern, note_name, &search);
	version = strstr(search.found, "cuda-cupti-");
	if (!version)
		return;
	version += strlen("cuda-cupti-");
	build = strchr(version, '-');
	snprintf(library->owner, sizeof(library->owner), "cuda-cupti %.*s (conda)",
		 build ? (int)(build - version) % 64 : 16, version);
}

void owner__find(struct filetree *tree, const struct packages *packages, struct library *library)
{
	if (strstr(library->path, "-packages/")) {
		find_wheel(tree, library);
		return;
	}
	if (library->source == LIBRARY_SOURCE_CONDA) {
		find_conda(tree, library);
		return;
	}
	find_package(packages, library);
}
