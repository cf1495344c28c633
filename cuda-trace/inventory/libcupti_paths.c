// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where libcupti files are: the places of every way to install CUDA, every Python environment,
 * the loader's cache; with --deep the whole tree. Called by cmd_doctor; one thread.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/inventory/ldcache.h"
#include "cuda-trace/inventory/libcupti_list.h"

#define WALK_DEPTH   6 /* /home/USER/src/PROJECT/.venv/pyvenv.cfg */
#define NSIGHT_DEPTH 6
#define DEEP_DEPTH   60

struct place {
	enum library_source source;
	const char *folder;
};

/* Folders, by the way that CUDA came in. The order matters: the first name of a file is shown. */
static const struct place places[] = {
	{LIBRARY_SOURCE_TOOLKIT, "/usr/local/cuda-*/extras/CUPTI/lib64"},
	{LIBRARY_SOURCE_TOOLKIT, "/usr/local/cuda-*/targets/*/lib"},
	{LIBRARY_SOURCE_TOOLKIT, "/usr/local/cuda-*/targets/*/lib/stubs"},
	{LIBRARY_SOURCE_TOOLKIT, "/usr/local/cuda-*/lib64"},
	{LIBRARY_SOURCE_TOOLKIT, "/usr/local/cuda*/extras/CUPTI/lib64"},
	{LIBRARY_SOURCE_TOOLKIT, "/usr/local/cuda*/targets/*/lib"},
	{LIBRARY_SOURCE_TOOLKIT, "/usr/local/cuda*/lib64"},
	{LIBRARY_SOURCE_TOOLKIT, "/opt/cuda*/extras/CUPTI/lib64"},
	{LIBRARY_SOURCE_TOOLKIT, "/opt/cuda*/targets/*/lib"},
	{LIBRARY_SOURCE_TOOLKIT, "/opt/cuda*/lib64"},
	{LIBRARY_SOURCE_TOOLKIT, "/usr/lib/cuda*/extras/CUPTI/lib64"},
	{LIBRARY_SOURCE_TOOLKIT, "/usr/lib/cuda*/lib64"},
	{LIBRARY_SOURCE_HPC_SDK, "/opt/nvidia/hpc_sdk/Linux_*/*/cuda/*/extras/CUPTI/lib64"},
	{LIBRARY_SOURCE_HPC_SDK, "/opt/nvidia/hpc_sdk/Linux_*/*/cuda/*/targets/*/lib"},
	{LIBRARY_SOURCE_HPC_SDK, "/opt/nvidia/hpc_sdk/Linux_*/*/cuda/*/lib64"},
	{LIBRARY_SOURCE_DISTRIBUTION, "/usr/lib/*-linux-gnu*"},
	{LIBRARY_SOURCE_DISTRIBUTION, "/usr/lib64"},
	{LIBRARY_SOURCE_DISTRIBUTION, "/usr/lib"},
	{LIBRARY_SOURCE_DISTRIBUTION, "/lib/*-linux-gnu*"},
	{LIBRARY_SOURCE_OTHER, "/usr/local/lib"},
	{LIBRARY_SOURCE_OTHER, "/usr/local/lib64"},
	{LIBRARY_SOURCE_ADMIN, "/usr/lib/cuda-trace/cupti/*"},
};

/* In a folder of Python packages. */
static const struct place wheels[] = {
	{LIBRARY_SOURCE_PIP, "nvidia/cuda_cupti/lib"},
	{LIBRARY_SOURCE_PIP, "nvidia/cu[0-9]*/lib"},
	{LIBRARY_SOURCE_PIP, "torch/lib"},
	{LIBRARY_SOURCE_TRITON, "triton/backends/nvidia/lib/cupti"},
};

static const char *const headers[] = {
	"/usr/local/cuda-*/extras/CUPTI/include",
	"/usr/local/cuda-*/targets/*/include",
	"/usr/local/cuda-*/include",
	"/usr/local/cuda*/include",
	"/opt/cuda*/include",
	"/opt/cuda*/extras/CUPTI/include",
	"/usr/include",
};

static const char *const package_folders[] = {
	"/usr/lib/python3*/dist-packages",	   "/usr/lib/python3*/site-packages",
	"/usr/lib64/python3*/site-packages",	   "/usr/local/lib/python3*/dist-packages",
	"/usr/local/lib/python3*/site-packages",   "/usr/local/lib64/python3*/site-packages",
	"/root/.local/lib/python3*/site-packages", "/home/*/.local/lib/python3*/site-packages",
};

static const char *const nsight_folders[] = {
	"/opt/nvidia/nsight-*",
	"/usr/local/cuda*/nsight-*",
	"/usr/lib/nsight-*",
	"/usr/lib/*/nsight-*",
};

/* No folder has so many names of libcupti, except one made to hide others. */
#define FOLDER_LIBRARIES_MAX 64

struct search {
	struct libraries *libraries;
	char folder[FILETREE_PATH_MAX]; /* of the last one */
	unsigned int in_folder;
	enum library_source source;
	void (*progress)(const char *path);
	bool deep;
};

static bool is_libcupti(const char *name)
{
	return !fnmatch("libcupti.so*", name, 0) || !fnmatch("libcupti-[0-9a-f]*.so*", name, 0);
}

static bool folder_is_full(struct search *search, const char *path, size_t n)
{
	if (strncmp(search->folder, path, n) || search->folder[n]) {
		snprintf(search->folder, sizeof(search->folder), "%.*s", (int)n, path);
		search->in_folder = 0;
	}
	if (++search->in_folder <= FOLDER_LIBRARIES_MAX)
		return false;
	search->libraries->tree->partial = true;
	return true;
}

static int check_library(void *context, const char *path)
{
	struct search *search = context;
	const char *name = strrchr(path, '/') + 1;

	if (is_libcupti(name) && !folder_is_full(search, path, name - path))
		libraries__add(search->libraries, path, search->source);
	return filetree__exhausted(search->libraries->tree);
}

static int check_header(void *context, const char *path)
{
	libraries__add_header(((struct search *)context)->libraries, path);
	return 0;
}

static void look_in(struct search *search, enum library_source source, const char *folder)
{
	char pattern[FILETREE_PATH_MAX];

	search->source = source;
	if (snprintf(pattern, sizeof(pattern), "%s/libcupti*.so*", folder) < (int)sizeof(pattern))
		filetree__glob(search->libraries->tree, pattern, check_library, search);
}

/* A folder of Python packages, its own name taken literally. */
static int check_packages(void *context, const char *path)
{
	struct search *search = context;
	char folder[FILETREE_PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(wheels) / sizeof(wheels[0]); i++) {
		if (snprintf(folder, sizeof(folder), "%s/%s", path, wheels[i].folder) <
		    (int)sizeof(folder))
			look_in(search, wheels[i].source, folder);
	}
	if (snprintf(folder, sizeof(folder), "%s/nvidia/*/include/cupti.h", path) <
	    (int)sizeof(folder))
		filetree__glob(search->libraries->tree, folder, check_header, search);
	return filetree__exhausted(search->libraries->tree);
}

/* A virtual environment, or a conda one. */
static void look_in_environment(struct search *search, const char *prefix, bool conda)
{
	static const char *const below[] = {"lib/python3*/site-packages",
					    "lib64/python3*/site-packages"};
	char path[FILETREE_PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		if (snprintf(path, sizeof(path), "%s/%s", prefix, below[i]) < (int)sizeof(path))
			filetree__glob(search->libraries->tree, path, check_packages, search);
	}
	if (!conda)
		return;
	if (snprintf(path, sizeof(path), "%s/lib", prefix) < (int)sizeof(path))
		look_in(search, LIBRARY_SOURCE_CONDA, path);
	if (snprintf(path, sizeof(path), "%s/targets/*/lib", prefix) < (int)sizeof(path))
		look_in(search, LIBRARY_SOURCE_CONDA, path);
}

static void look_in_parent(struct search *search, const char *path, bool conda)
{
	char parent[FILETREE_PATH_MAX];

	snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(path, '/') - path), path);
	look_in_environment(search, parent, conda);
}

/* Big folders in which no environment is ever made. */
static bool uninteresting(const char *path, const char *name)
{
	static const char *const names[] = {
		"node_modules", "__pycache__", ".git", ".cache", ".npm",   ".cargo",  ".rustup",
		"blobs",	"snapshots",   "doc",  "man",	 "locale", "include",
	};
	static const char *const paths[] = {
		"/proc", "/sys",  "/dev",  "/run",   "/var",   "/boot",	   "/etc",	 "/lib",
		"/bin",	 "/sbin", "/snap", "/lib64", "/lib32", "/usr/lib", "/usr/share", "/usr/src",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strcmp(path, paths[i]))
			return true;
	return false;
}

static enum tree_step find_environments(void *context, const char *path, const char *name,
					bool is_dir)
{
	struct search *search = context;

	if (!is_dir) {
		if (!strcmp(name, "pyvenv.cfg"))
			look_in_parent(search, path, false);
		return TREE_DESCEND;
	}
	if (!strcmp(name, "conda-meta"))
		look_in_parent(search, path, true);
	if (!strcmp(name, "site-packages") || !strcmp(name, "dist-packages")) {
		check_packages(search, path);
		return TREE_SKIP;
	}
	return uninteresting(path, name) ? TREE_SKIP : TREE_DESCEND;
}

static enum library_source guess_source(const char *path)
{
	if (strstr(path, "nsight"))
		return LIBRARY_SOURCE_NSIGHT;
	if (strstr(path, "/triton/"))
		return LIBRARY_SOURCE_TRITON;
	if (strstr(path, "-packages/"))
		return LIBRARY_SOURCE_PIP;
	if (strstr(path, "/hpc_sdk/"))
		return LIBRARY_SOURCE_HPC_SDK;
	if (strstr(path, "/cuda"))
		return LIBRARY_SOURCE_TOOLKIT;
	return LIBRARY_SOURCE_OTHER;
}

static enum tree_step find_everywhere(void *context, const char *path, const char *name,
				      bool is_dir)
{
	struct search *search = context;

	if (is_dir && search->progress)
		search->progress(path);
	if (!is_dir && is_libcupti(name))
		libraries__add(search->libraries, path, guess_source(path));
	else if (!is_dir && !strcmp(name, "cupti.h"))
		libraries__add_header(search->libraries, path);
	return TREE_DESCEND;
}

static enum tree_step find_nsight(void *context, const char *path, const char *name, bool is_dir)
{
	struct search *search = context;

	if (!is_dir && is_libcupti(name))
		libraries__add(search->libraries, path, LIBRARY_SOURCE_NSIGHT);
	return TREE_DESCEND;
}

static int check_nsight(void *context, const char *path)
{
	struct search *search = context;

	return filetree__walk(search->libraries->tree, path, NSIGHT_DEPTH, find_nsight, search);
}

static int check_cached(void *context, const char *name, const char *path)
{
	struct search *search = context;

	if (*path == '/' && is_libcupti(name))
		libraries__add(search->libraries, path, LIBRARY_SOURCE_LD_CACHE);
	return filetree__exhausted(search->libraries->tree);
}

/* What the user's own variables point to; in another tree they mean nothing. */
static void look_by_environment(struct search *search)
{
	static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
	const char *value = getenv("LD_LIBRARY_PATH");
	char path[FILETREE_PATH_MAX];
	size_t i, n;

	for (i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
		if (!getenv(homes[i]) || *getenv(homes[i]) != '/')
			continue;
		snprintf(path, sizeof(path), "%.4000s/extras/CUPTI/lib64", getenv(homes[i]));
		look_in(search, LIBRARY_SOURCE_TOOLKIT, path);
		snprintf(path, sizeof(path), "%.4000s/lib64", getenv(homes[i]));
		look_in(search, LIBRARY_SOURCE_TOOLKIT, path);
	}
	for (; value && *value; value += n + (value[n] == ':')) {
		n = strcspn(value, ":");
		snprintf(path, sizeof(path), "%.*s", (int)n, value);
		if (*path == '/')
			look_in(search, guess_source(path), path);
	}
	value = getenv("VIRTUAL_ENV");
	if (value && *value == '/')
		look_in_environment(search, value, false);
	value = getenv("CONDA_PREFIX");
	if (value && *value == '/')
		look_in_environment(search, value, true);
}

void libraries__search(struct libraries *libraries, bool deep, void (*progress)(const char *path))
{
	struct search search = {.libraries = libraries, .progress = progress, .deep = deep};
	char pattern[FILETREE_PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		look_in(&search, places[i].source, places[i].folder);
	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		snprintf(pattern, sizeof(pattern), "%s/cupti.h", headers[i]);
		filetree__glob(libraries->tree, pattern, check_header, &search);
	}
	ldcache__each(libraries->tree, "libcupti", check_cached, &search);
	for (i = 0; i < sizeof(package_folders) / sizeof(package_folders[0]); i++)
		filetree__glob(libraries->tree, package_folders[i], check_packages, &search);
	if (libraries->tree->own)
		look_by_environment(&search);
	for (i = 0; i < sizeof(nsight_folders) / sizeof(nsight_folders[0]); i++)
		filetree__glob(libraries->tree, nsight_folders[i], check_nsight, &search);
	filetree__walk(libraries->tree, "/", WALK_DEPTH, find_environments, &search);
	if (deep)
		filetree__walk(libraries->tree, "/", DEEP_DEPTH, find_everywhere, &search);
}
