// SPDX-License-Identifier: BSD-2-Clause
/*
 * The agent's search order, foretold. A test compares it with the agent's own status in a running
 * process; whoever changes one order changes the other. Called by the doctor's reports; one thread.
 */
#include <dirent.h>
#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/inventory/libcupti_choice.h"
#include "cuda-trace/inventory/ldcache.h"
#include "cuda-trace/inventory/libcupti_list.h"

#define OLDEST_MAJOR 11
#define NEWEST_MAJOR 13 /* looked for when neither libcudart nor the driver shows a version */

struct chooser {
	struct libraries *libraries;
	const struct choice_inputs *inputs;
	struct choice *choice;
	char cudart_folder[FILETREE_PATH_MAX];
	unsigned int cudart_major;
	unsigned int major; /* looked for now */
	const char *place;  /* for `why` */
	long below, best;   /* minors of versioned toolkits */
	char cached[FILETREE_PATH_MAX];
};

unsigned int choice__major(const char *path, const char *stem)
{
	const char *base = strrchr(path, '/');
	size_t n = strlen(stem);

	base = base ? base + 1 : path;
	if (strncmp(base, stem, n))
		return 0;
	base += n;
	/* Wheels have names with a hash: libcupti-1a2b3c4d.so.12 */
	if (*base == '-')
		base += 1 + strspn(base + 1, "0123456789abcdef");
	return strncmp(base, ".so.", 4) ? 0 : strtoul(base + 4, NULL, 10);
}

const char *choice__file(const struct choice *choice)
{
	return strstr(choice->path, "/../") ? choice->found->real ?: choice->path : choice->path;
}

static const char *triplet(const struct chooser *chooser)
{
	return chooser->libraries->machine == EM_AARCH64 ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
}

static const char *target(const struct chooser *chooser)
{
	return chooser->libraries->machine == EM_AARCH64 ? "sbsa-linux" : "x86_64-linux";
}

static const char *file_name(const struct chooser *chooser, char out[32])
{
	snprintf(out, 32, "libcupti.so.%u%s", chooser->major % 1000,
		 chooser->major == 11 ? ".8" : "");
	return out;
}

static bool try_path(struct chooser *chooser, const char *path)
{
	struct choice *choice = chooser->choice;
	struct library *library;

	if (choice->found)
		return true;
	library = libraries__at(chooser->libraries, path);
	if (!library)
		return false;
	/* The agent does not look in Nsight's folders; found by another way its copy would be
	 * taken. */
	if (library->verdict != LIBRARY_USABLE && library->verdict != LIBRARY_PRIVATE) {
		choice->refused = choice->refused ?: library;
		return false;
	}
	choice->found = library;
	snprintf(choice->path, sizeof(choice->path), "%s", path);
	snprintf(choice->why, sizeof(choice->why), "%s", chooser->place);
	return true;
}

static bool try_in(struct chooser *chooser, const char *folder, const char *below)
{
	char path[FILETREE_PATH_MAX], name[32];

	if (snprintf(path, sizeof(path), "%s/%s%s", folder, below, file_name(chooser, name)) >=
	    (int)sizeof(path))
		return false;
	return try_path(chooser, path);
}

static bool try_toolkit(struct chooser *chooser, const char *root)
{
	char below[64];

	if (try_in(chooser, root, "extras/CUPTI/lib64/"))
		return true;
	snprintf(below, sizeof(below), "targets/%s/lib/", target(chooser));
	return try_in(chooser, root, below) || try_in(chooser, root, "lib64/");
}

/* What the loader does not pass over: a file of this machine, whether the agent likes it or not. */
static bool loader_takes(struct chooser *chooser, const char *path)
{
	const struct library *library = libraries__at(chooser->libraries, path);

	return library && library->verdict != LIBRARY_WRONG_MACHINE;
}

static int try_cached(void *context, const char *name, const char *path)
{
	struct chooser *chooser = context;
	char wanted[32];

	if (strcmp(name, file_name(chooser, wanted)) || !loader_takes(chooser, path))
		return 0;
	snprintf(chooser->cached, sizeof(chooser->cached), "%s", path);
	return 1;
}

static bool loader_finds_in(struct chooser *chooser, const char *folder,
			    char path[FILETREE_PATH_MAX])
{
	char name[32];

	return *folder == '/' &&
	       snprintf(path, FILETREE_PATH_MAX, "%s/%s", folder, file_name(chooser, name)) <
		       FILETREE_PATH_MAX &&
	       loader_takes(chooser, path);
}

/* LD_LIBRARY_PATH, the cache, the default folders: what dlopen() of a bare name does. It ends at
 * the first file, also when the agent then refuses that one. */
static bool try_loader(struct chooser *chooser)
{
	static const char *const defaults[] = {"/lib/%s",    "/usr/lib/%s", "/lib64",
					       "/usr/lib64", "/lib",	    "/usr/lib"};
	const char *list = chooser->inputs->loader_path;
	char folder[FILETREE_PATH_MAX], path[FILETREE_PATH_MAX];
	size_t i, n;

	chooser->place = "the loader finds it by LD_LIBRARY_PATH";
	for (; list && *list; list += n + (list[n] == ':')) {
		n = strcspn(list, ":");
		snprintf(folder, sizeof(folder), "%.*s", (int)n, list);
		if (loader_finds_in(chooser, folder, path))
			return try_path(chooser, path);
	}
	chooser->place = "the loader finds it by its cache";
	*chooser->cached = '\0';
	ldcache__each(chooser->libraries->tree, "libcupti.so.", try_cached, chooser);
	if (*chooser->cached)
		return try_path(chooser, chooser->cached);
	chooser->place = "it is in a default folder of the loader";
	for (i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		snprintf(folder, sizeof(folder), defaults[i], triplet(chooser));
		if (loader_finds_in(chooser, folder, path))
			return try_path(chooser, path);
	}
	return false;
}

static int note_minor(void *context, const char *path)
{
	struct chooser *chooser = context;
	long minor = strtol(strrchr(path, '.') + 1, NULL, 10);

	if (minor < chooser->below && minor > chooser->best)
		chooser->best = minor;
	return 0;
}

static bool try_versioned(struct chooser *chooser)
{
	char pattern[64];

	chooser->place = "it is in the newest toolkit of its major version below /usr/local";
	chooser->below = LONG_MAX;
	for (;;) {
		chooser->best = -1;
		snprintf(pattern, sizeof(pattern), "/usr/local/cuda-%u.[0-9]*", chooser->major);
		filetree__glob(chooser->libraries->tree, pattern, note_minor, chooser);
		if (chooser->best < 0)
			return false;
		chooser->below = chooser->best;
		snprintf(pattern, sizeof(pattern), "/usr/local/cuda-%u.%ld", chooser->major,
			 chooser->best);
		if (try_toolkit(chooser, pattern))
			return true;
	}
}

static int try_hashed_name(void *context, const char *path)
{
	struct chooser *chooser = context;

	return choice__major(path, "libcupti") == chooser->major && try_path(chooser, path);
}

static bool try_hashed(struct chooser *chooser, const char *folder)
{
	char pattern[FILETREE_PATH_MAX];

	if (snprintf(pattern, sizeof(pattern), "%s/libcupti-*.so.*", folder) < FILETREE_PATH_MAX)
		filetree__glob(chooser->libraries->tree, pattern, try_hashed_name, chooser);
	return chooser->choice->found;
}

/* A folder without the `up` last parts of its path, as it is written. */
static bool try_above(struct chooser *chooser, const char *folder, unsigned int up,
		      const char *below)
{
	char above[FILETREE_PATH_MAX];
	char *slash;

	snprintf(above, sizeof(above), "%s", folder);
	for (; up && (slash = strrchr(above, '/')); up--)
		*slash = '\0';
	return !up && try_in(chooser, above, below);
}

static bool try_beside_cudart(struct chooser *chooser)
{
	const char *folder = chooser->cudart_folder;

	chooser->place = "it is beside the program's libcudart";
	if (!*folder || chooser->cudart_major != chooser->major)
		return false;
	return try_in(chooser, folder, "") || try_above(chooser, folder, 2, "cuda_cupti/lib/") ||
	       try_above(chooser, folder, 1, "extras/CUPTI/lib64/") ||
	       try_above(chooser, folder, 3, "extras/CUPTI/lib64/") ||
	       try_hashed(chooser, folder) || try_in(chooser, folder, "../../cuda_cupti/lib/") ||
	       try_in(chooser, folder, "../extras/CUPTI/lib64/");
}

static int try_packages(void *context, const char *packages)
{
	static const char *const wheels[] = {"nvidia/cuda_cupti/lib/", "nvidia/cu%u/lib/",
					     "torch/lib/"};
	struct chooser *chooser = context;
	char folder[FILETREE_PATH_MAX], below[64];

	for (size_t i = 0; i < sizeof(wheels) / sizeof(wheels[0]); i++) {
		snprintf(below, sizeof(below), wheels[i], chooser->major);
		if (try_in(chooser, packages, below))
			return 1;
		if (snprintf(folder, sizeof(folder), "%s/%s", packages, below) <
			    FILETREE_PATH_MAX &&
		    try_hashed(chooser, folder))
			return 1;
	}
	return 0;
}

static bool has(struct chooser *chooser, const char *prefix, const char *name)
{
	char path[FILETREE_PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", prefix, name) < FILETREE_PATH_MAX &&
	       filetree__exists(chooser->libraries->tree, path);
}

static bool try_prefix(struct chooser *chooser, const char *prefix)
{
	static const char *const lib[] = {"lib", "lib64"};
	bool conda = has(chooser, prefix, "conda-meta");
	char path[FILETREE_PATH_MAX];

	if (!conda && !has(chooser, prefix, "pyvenv.cfg"))
		return false;
	for (size_t i = 0; i < 2; i++)
		if (snprintf(path, sizeof(path), "%s/%s/python3*/site-packages", prefix, lib[i]) <
		    FILETREE_PATH_MAX)
			filetree__glob(chooser->libraries->tree, path, try_packages, chooser);
	if (!conda || chooser->choice->found)
		return chooser->choice->found;
	snprintf(path, sizeof(path), "targets/%s/lib/", target(chooser));
	return try_in(chooser, prefix, "lib/") || try_in(chooser, prefix, path);
}

/* The parent of the folder that the program lies in. */
static bool try_program(struct chooser *chooser, const char *program)
{
	char folder[FILETREE_PATH_MAX], real[FILETREE_PATH_MAX];
	const char *slash = program ? strrchr(program, '/') : NULL;
	char *end;

	if (!slash || *program != '/')
		return false;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - program), program);
	if (filetree__resolve(chooser->libraries->tree, folder, real, sizeof(real)))
		return false;
	end = strrchr(real, '/');
	if (!end || end == real)
		return false;
	*end = '\0';
	return try_prefix(chooser, real);
}

static bool try_python(struct chooser *chooser)
{
	const struct choice_inputs *inputs = chooser->inputs;

	chooser->place = "it is in the program's Python environment";
	if (inputs->packages && *inputs->packages && try_packages(chooser, inputs->packages))
		return true;
	for (size_t i = 0; i < 2; i++)
		if (try_program(chooser, inputs->programs[i]))
			return true;
	for (size_t i = 0; i < 2; i++)
		if (inputs->environments[i] && *inputs->environments[i] == '/' &&
		    try_prefix(chooser, inputs->environments[i]))
			return true;
	return false;
}

static bool try_major(struct chooser *chooser, unsigned int major)
{
	char folder[64];

	chooser->major = major;
	if (try_beside_cudart(chooser) || try_python(chooser))
		return true;
	chooser->place = "CUDA_HOME or CUDA_PATH names its toolkit";
	if (chooser->inputs->cuda_home && *chooser->inputs->cuda_home == '/' &&
	    try_toolkit(chooser, chooser->inputs->cuda_home))
		return true;
	if (try_loader(chooser) || try_versioned(chooser))
		return true;
	chooser->place = "it is in the toolkit that /usr/local/cuda leads to";
	if (try_toolkit(chooser, "/usr/local/cuda"))
		return true;
	chooser->place = "it is in the toolkit that /opt/cuda leads to";
	if (try_toolkit(chooser, "/opt/cuda"))
		return true;
	chooser->place = "it is the distribution's";
	snprintf(folder, sizeof(folder), "/usr/lib/%s", triplet(chooser));
	if (try_in(chooser, folder, ""))
		return true;
	chooser->place = "the administrator put it there";
	snprintf(folder, sizeof(folder), "/usr/lib/cuda-trace/cupti/%u", major);
	return try_in(chooser, folder, "");
}

static void try_majors(struct chooser *chooser)
{
	unsigned int driver = chooser->inputs->driver_major, major, first;

	first = chooser->cudart_major ?: driver;
	if (driver && first > driver)
		first = driver;
	if (!first)
		first = NEWEST_MAJOR;
	for (major = first; major >= OLDEST_MAJOR; major--)
		if (try_major(chooser, major))
			return;
	for (major = first + 1; major <= driver; major++)
		if (try_major(chooser, major))
			return;
}

void choice__make(struct libraries *libraries, const struct choice_inputs *inputs,
		  struct choice *choice)
{
	struct chooser chooser = {.libraries = libraries, .inputs = inputs, .choice = choice};
	const char *slash;

	memset(choice, 0, sizeof(*choice));
	if (inputs->named && *inputs->named) {
		chooser.place = "CUDA_TRACE_LIBCUPTI names it";
		try_path(&chooser, inputs->named);
		return;
	}
	if (inputs->mapped && *inputs->mapped) {
		chooser.place = "the process has loaded it, and two in one process conflict";
		try_path(&chooser, inputs->mapped);
		return;
	}
	slash = inputs->cudart ? strrchr(inputs->cudart, '/') : NULL;
	if (slash) {
		snprintf(chooser.cudart_folder, sizeof(chooser.cudart_folder), "%.*s",
			 (int)(slash - inputs->cudart), inputs->cudart);
		chooser.cudart_major = choice__major(inputs->cudart, "libcudart");
	}
	try_majors(&chooser);
}
