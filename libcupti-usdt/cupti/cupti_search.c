// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which libcupti. Several stand on most machines (toolkits, Python wheels, private copies of other
 * tools), and two in one process collide. So, in this order:
 *   1. one that the process has mapped already, and no other;
 *   2. the one named by CUDA_TRACE_LIBCUPTI, and no other;
 *   3. for the major version of the mapped libcudart (else of the driver), then lower ones, then
 *      those up to the driver's: beside libcudart; in the program's Python environment
 *      (python_prefixes.c), activated or not; $CUDA_HOME or $CUDA_PATH; where the loader finds
 *      it; /usr/local/cuda-MAJOR.*, newest first; /usr/local/cuda; /opt/cuda; the multiarch folder;
 *      /usr/lib/cuda-trace/cupti/MAJOR, for the administrator;
 *   4. if there is none at all, the one that a tool passes as an open file (cupti_offer.c).
 * Never one whose major version is above the driver's. A copy that is refused is closed again
 * before it was used: once initialised, libcupti must never be closed.
 */
#include "libcupti-usdt/cupti/cupti_search.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_offer.h"
#include "libcupti-usdt/cupti/cuda_driver.h"
#include "libcupti-usdt/cupti/python_prefixes.h"
#include "libcupti-usdt/base/settings.h"
#include "libcupti-usdt/emit/status.h"

#define OLDEST_MAJOR 11

#ifdef __aarch64__
#define TRIPLET "aarch64-linux-gnu"
#define TARGET	"sbsa-linux"
#else
#define TRIPLET "x86_64-linux-gnu"
#define TARGET	"x86_64-linux"
#endif

/* A folder without the `up` last parts of its path as it is written, which matters where it leads
 * over symbolic links, and something below that. */
struct beside {
	unsigned int up;
	const char *below;
};

static const struct beside beside_cudart[] = {
	{0, ""},
	{2, "cuda_cupti/lib/"},
	{1, "extras/CUPTI/lib64/"},
	{3, "extras/CUPTI/lib64/"},
};

/* In a folder of Python packages; %u is the major version. */
static const char *const wheels[] = {"nvidia/cuda_cupti/lib/", "nvidia/cu%u/lib/", "torch/lib/"};

struct search {
	char cupti[PATH_MAX];	   /* mapped already, or "" */
	char cudart_dir[PATH_MAX]; /* folder of the mapped libcudart, or "" */
	char packages[PATH_MAX];   /* folder of Python packages that something is mapped from, or ""
				    */
	uint32_t cudart_major;	   /* 0 = not mapped: linked statically, or not used */
	uint32_t driver_major;	   /* 0 = unknown */
	uint32_t major;		   /* looked for now */
	bool quiet;		   /* places are not logged one by one */
	bool refused;		   /* found, but not to be used */
	bool bound;
};

/* What follows ".so" in "libcupti.so.12" or, as wheels have it, "libcupti-1a2b3c4d.so.12"; NULL:
 * another library. */
static const char *version_of(const char *file, const char *stem)
{
	const char *base = strrchr(file, '/');

	base = base ? base + 1 : file;
	if (strncmp(base, stem, strlen(stem)))
		return NULL;
	base += strlen(stem);
	if (*base == '-')
		base += 1 + strspn(base + 1, "0123456789abcdef");
	return strncmp(base, ".so", 3) || (base[3] && base[3] != '.') ? NULL : base + 3;
}

/* "libcupti.so.12" → 12; 0 for "libcupti.so" */
static uint32_t major_of(const char *file, const char *stem)
{
	const char *version = version_of(file, stem);

	return version && *version ? strtoul(version + 1, NULL, 10) : 0;
}

static const char *soname_of(const struct link_map *map)
{
	const char *strings = NULL;
	size_t soname = 0;

	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
		else if (d->d_tag == DT_SONAME)
			soname = d->d_un.d_val;
	}
	return strings && soname ? strings + soname : "";
}

/* Runs under the loader's lock: copies, nothing else. */
static int look_at_mapped(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const char *path = info->dlpi_name, *base = path ? strrchr(path, '/') : NULL, *packages;

	if (!base || strlen(path) >= PATH_MAX)
		return 0;
	base++;
	if (version_of(base, "libcupti") && !search->cupti[0])
		strcpy(search->cupti, path);
	packages = strstr(path, "-packages/");
	if (packages && !search->packages[0]) {
		memcpy(search->packages, path, packages - path);
		strcpy(search->packages + (packages - path), "-packages");
	}
	if (version_of(base, "libcudart") && !search->cudart_dir[0]) {
		search->cudart_major = major_of(path, "libcudart");
		memcpy(search->cudart_dir, path, base - 1 - path);
		search->cudart_dir[base - 1 - path] = '\0';
	}
	return 0;
}

/* Why a bound libcupti is not to be used, or NULL. */
static const char *refusal(const struct search *search)
{
	const struct cupti *cupti = cupti_api__get();

	if (settings__get()->force)
		return NULL;
	if (cupti->version == CUPTI_VERSION_13_0)
		return "CUDA 13.0 GA's deadlocks when tracing stops: take 13.0 Update 1 or later";
	if (cupti->version < CUPTI_VERSION_11_8)
		return "older than CUDA 11.8";
	if (search->driver_major && cupti->major > search->driver_major)
		return "newer than the driver";
	return NULL;
}

static void check_library(struct search *search, void *library, const char *path)
{
	const char *trouble, *soname = "";
	struct link_map *map = NULL;
	char text[96];

	if (!dlinfo(library, RTLD_DI_LINKMAP, &map) && map) {
		soname = soname_of(map);
		path = map->l_name[0] ? map->l_name : path;
	}
	trouble = cupti_api__bind(library, major_of(soname, "libcupti"));
	if (trouble) {
		snprintf(text, sizeof(text), "refused: lacks %s", trouble);
	} else {
		trouble = refusal(search);
		if (trouble)
			snprintf(text, sizeof(text), "refused: %s", trouble);
	}
	if (trouble) {
		search->refused = true;
		status__searched(path, text);
		status__trouble(CUDA_AGENT_REFUSED, "libcupti", "%s %s", path, text);
		dlclose(library);
		return;
	}
	/* From here on it stays for ever. */
	dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
	search->bound = true;
	status__searched(path, "used");
	status__set_cupti(cupti_api__get()->version, path);
}

static void try_file(struct search *search, const char *path, int flags)
{
	void *library;

	if (search->bound)
		return;
	if (path[0] == '/' && access(path, F_OK)) {
		if (!search->quiet)
			status__searched(path, "not there");
		return;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	if (library)
		check_library(search, library, path);
	else if (path[0] == '/' || !search->quiet)
		status__searched(path,
				 path[0] == '/' ? "does not load" : "not known to the loader");
}

static void try_in(struct search *search, const char *folder, const char *below)
{
	char path[PATH_MAX];
	int length;

	length = snprintf(path, sizeof(path), "%s/%slibcupti.so.%u%s", folder, below, search->major,
			  search->major == 11 ? ".8" : "");
	if (length > 0 && (size_t)length < sizeof(path))
		try_file(search, path, 0);
}

/* Names with a hash, of this major version. */
static void try_hashed(struct search *search, const char *folder)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *files = search->bound ? NULL : opendir(folder);

	while (files && !search->bound && (entry = readdir(files))) {
		int length = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);

		if (!strncmp(entry->d_name, "libcupti-", 9) && length > 0 &&
		    (size_t)length < sizeof(path) && major_of(path, "libcupti") == search->major)
			try_file(search, path, 0);
	}
	if (files)
		closedir(files);
}

static void try_beside_cudart(struct search *search)
{
	char folder[PATH_MAX];

	for (size_t i = 0; i < sizeof(beside_cudart) / sizeof(beside_cudart[0]); i++) {
		unsigned int up = beside_cudart[i].up;
		char *slash = NULL;

		strcpy(folder, search->cudart_dir);
		while (up && (slash = strrchr(folder, '/'))) {
			*slash = '\0';
			up--;
		}
		if (!up)
			try_in(search, folder, beside_cudart[i].below);
	}
	try_hashed(search, search->cudart_dir);
	/* The same behind symbolic links. */
	try_in(search, search->cudart_dir, "../../cuda_cupti/lib/");
	try_in(search, search->cudart_dir, "../extras/CUPTI/lib64/");
}

static void try_packages(struct search *search, const char *folder)
{
	char path[PATH_MAX], below[64];

	for (size_t i = 0; i < sizeof(wheels) / sizeof(wheels[0]); i++) {
		snprintf(below, sizeof(below), wheels[i], search->major);
		try_in(search, folder, below);
		below[strlen(below) - 1] = '\0';
		if (snprintf(path, sizeof(path), "%s/%s", folder, below) < PATH_MAX)
			try_hashed(search, path);
	}
}

/* A virtual environment, or conda's, which has the toolkit's libraries as well. */
static void try_prefix(void *context, const char *prefix, const char *packages)
{
	struct search *search = context;

	if (packages) {
		try_packages(search, packages);
		return;
	}
	try_in(search, prefix, "lib/");
	try_in(search, prefix, "targets/" TARGET "/lib/");
}

static void try_toolkit(struct search *search, const char *root)
{
	try_in(search, root, "extras/CUPTI/lib64/");
	try_in(search, root, "targets/" TARGET "/lib/");
	try_in(search, root, "lib64/");
}

/* /usr/local/cuda-MAJOR.*, the highest minor version first. */
static void try_versioned(struct search *search)
{
	unsigned long below = ULONG_MAX;
	char prefix[32], root[64];

	snprintf(prefix, sizeof(prefix), "cuda-%u.", search->major);
	while (!search->bound) {
		DIR *folder = opendir("/usr/local");
		struct dirent *entry;
		long best = -1;

		while (folder && (entry = readdir(folder))) {
			unsigned long minor = 0;

			if (strncmp(entry->d_name, prefix, strlen(prefix)))
				continue;
			minor = strtoul(entry->d_name + strlen(prefix), NULL, 10);
			if (minor < below && (long)minor > best)
				best = minor;
		}
		if (folder)
			closedir(folder);
		if (best < 0)
			return;
		below = best;
		snprintf(root, sizeof(root), "/usr/local/%s%lu", prefix, below);
		try_toolkit(search, root);
	}
}

static void try_major(struct search *search, uint32_t major)
{
	char text[32];

	if (search->bound || major < OLDEST_MAJOR)
		return;
	search->major = major;
	if (search->cudart_dir[0] && search->cudart_major == major)
		try_beside_cudart(search);
	if (search->packages[0])
		try_packages(search, search->packages);
	if (!search->bound)
		python_prefixes__each(try_prefix, search);
	if (settings__get()->cuda_home)
		try_toolkit(search, settings__get()->cuda_home);
	snprintf(text, sizeof(text), "libcupti.so.%u%s", major, major == 11 ? ".8" : "");
	try_file(search, text, 0);
	try_versioned(search);
	try_toolkit(search, "/usr/local/cuda");
	try_toolkit(search, "/opt/cuda");
	try_in(search, "/usr/lib/" TRIPLET, "");
	snprintf(text, sizeof(text), "cupti/%u/", major);
	try_in(search, "/usr/lib/cuda-trace", text);
	if (search->quiet && !search->bound) {
		snprintf(text, sizeof(text), "libcupti.so.%u", major);
		status__searched(text, "in none of these places");
	}
	search->quiet = true;
}

static void try_majors(struct search *search)
{
	uint32_t first = search->cudart_major ? search->cudart_major : search->driver_major;

	if (search->driver_major && first > search->driver_major)
		first = search->driver_major;
	if (!first)
		first = 13;
	for (uint32_t major = first; major >= OLDEST_MAJOR && !search->bound; major--)
		try_major(search, major);
	for (uint32_t major = first + 1; major <= search->driver_major && !search->bound; major++)
		try_major(search, major);
}

static void try_offered(struct search *search, uint32_t driver)
{
	int file = search->bound || search->refused ? -1 : cupti_offer__receive(driver);
	char path[32], name[PATH_MAX] = "";

	if (file < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	try_file(search, path, 0);
	/* Where it is on the machine that it came from. */
	if (search->bound && readlink(path, name, sizeof(name) - 1) > 0)
		status__set_cupti(cupti_api__get()->version, name);
	close(file);
}

enum cuda_inert_reason cupti_search__run(void)
{
	static struct search search; /* two paths: too much for a small stack */
	const char *named = settings__get()->libcupti;

	uint32_t driver = cuda_driver__open();

	status__set_driver(driver);
	search.driver_major = driver / 1000;
	dl_iterate_phdr(look_at_mapped, &search);
	if (named && search.cupti[0] && strcmp(named, search.cupti))
		status__searched(named, "not used: the process has another copy");
	if (search.cupti[0])
		try_file(&search, search.cupti, RTLD_NOLOAD);
	else if (named)
		try_file(&search, named, 0);
	else
		try_majors(&search);
	if (!named)
		try_offered(&search, driver);
	if (search.bound)
		return CUDA_INERT_NONE;
	return search.refused ? CUDA_INERT_UNSUITABLE : CUDA_INERT_NO_CUPTI;
}
