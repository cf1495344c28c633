// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asks dpkg-query and rpm which packages of a tree brought a libcupti, in one go: a libcupti comes
 * in packages of few names, and to ask for one file after the other would take seconds. Called by
 * cmd_doctor; one thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/inventory/packages.h"
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/inventory/package_query.h"
#include "cuda-trace/base/clock.h"

#define DPKG_QUERY   "/usr/bin/dpkg-query"
#define RPM	     "/usr/bin/rpm"
#define FILES_MAX    4096
#define VERSIONS_MAX 256
#define NAMES	     "*cupti*", "cuda*", "nvhpc*", "nsight*", "nvidia*"

/* Both print "installed NAME VERSION", then a line for each file, which begins with a space. */
#define DPKG_FORMAT "${db:Status-Status} ${Package} ${Version}\n${db-fsys:Files}\n"
#define RPM_FORMAT  "installed %{NAME} %{VERSION}-%{RELEASE}\n[ %{FILENAMES}\n]"

struct version {
	const char *package, *version;
};

struct packages {
	char *texts[2]; /* what dpkg-query and rpm said; all else points into it */
	struct package_file *files;
	size_t count;
	struct version versions[VERSIONS_MAX];
	size_t version_count;
	const char *untold;
};

static void append(struct packages *packages, const char *path, const struct version *of)
{
	if (packages->count < FILES_MAX && array_grow__counted(packages->files, packages->count))
		packages->files[packages->count++] =
			(struct package_file){path, of->package, of->version};
}

/* "installed NAME VERSION": false for packages of which only settings are left. */
static bool parse_header(char *line, struct version *out)
{
	char *rest = line, *status = strsep(&rest, " ");

	out->package = strsep(&rest, " ");
	out->version = rest;
	return !strcmp(status, "installed") && out->version && *out->version;
}

static void parse(struct packages *packages, char *text)
{
	struct version current = {};
	bool installed = false;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (*line == ' ') {
			if (installed && strstr(line, "/libcupti"))
				append(packages, line + 1, &current);
		} else if (*line) {
			installed = parse_header(line, &current);
			if (installed && strstr(current.package, "cupti") &&
			    packages->version_count < VERSIONS_MAX)
				packages->versions[packages->version_count++] = current;
		}
	}
}

static void note_failure(struct packages *packages, int err, const char *missing)
{
	if (err == -ENOENT)
		packages->untold = missing;
	else if (err == -EPERM)
		packages->untold = "only root can safely let dpkg-query and rpm read this tree";
	else if (err == -ETIMEDOUT)
		packages->untold = "the package manager did not answer in time";
	else if (err)
		packages->untold = "the package manager could not read its database there";
}

static void ask_dpkg(struct packages *packages, struct filetree *tree, uint64_t ns)
{
	char *argv[] = {DPKG_QUERY, "--root=" QUERY_ROOT,
			"--show",   "--showformat=" DPKG_FORMAT,
			"--",	    NAMES,
			NULL};
	int err = -ENOENT;

	if (tree->own)
		argv[1] = "--root=/";
	if (!access(DPKG_QUERY, X_OK))
		packages->texts[0] = query__output(tree, argv, ns, &err);
	if (packages->texts[0])
		parse(packages, packages->texts[0]);
	/* 1 is the status when one of several patterns had no match. */
	if (err != 1 && filetree__exists(tree, "/etc/dpkg"))
		note_failure(packages, err,
			     "its packages are those of dpkg, and this machine has no dpkg-query");
}

/* Where it lies without links, which the program would not be let follow. */
static bool find_rpm_database(const struct filetree *tree, char *out, size_t size)
{
	static const char *const dirs[] = {"/usr/lib/sysimage/rpm", "/var/lib/rpm"};
	static const char *const files[] = {"rpmdb.sqlite", "Packages.db", "Packages"};
	char path[64];
	size_t i, k;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		for (k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
			snprintf(path, sizeof(path), "%s/%s", dirs[i], files[k]);
			if (filetree__exists(tree, path))
				return !filetree__resolve(tree, dirs[i], out, size);
		}
	}
	return false;
}

static void ask_rpm(struct packages *packages, struct filetree *tree, uint64_t ns)
{
	char dir[FILETREE_PATH_MAX], path[FILETREE_PATH_MAX + sizeof(QUERY_ROOT)];
	char *argv[] = {RPM,	    "--dbpath", path, "--query", "--all", "--queryformat",
			RPM_FORMAT, NAMES,	NULL};
	int err = -ENOENT;

	if (!find_rpm_database(tree, dir, sizeof(dir)))
		return;
	snprintf(path, sizeof(path), "%s%s", tree->own ? "" : QUERY_ROOT, dir);
	if (!access(RPM, X_OK))
		packages->texts[1] = query__output(tree, argv, ns, &err);
	if (packages->texts[1])
		parse(packages, packages->texts[1]);
	note_failure(packages, err, "its packages are those of rpm, and this machine has no rpm");
}

struct packages *packages__read(struct filetree *tree, uint64_t ns)
{
	struct packages *packages = calloc(1, sizeof(*packages));
	uint64_t deadline = monotonic__ns() + ns, now;

	if (!packages)
		return NULL;
	ask_dpkg(packages, tree, ns);
	now = monotonic__ns();
	ask_rpm(packages, tree, deadline > now ? deadline - now : 0);
	return packages;
}

void packages__free(struct packages *packages)
{
	if (!packages)
		return;
	free(packages->texts[0]);
	free(packages->texts[1]);
	free(packages->files);
	free(packages);
}

const struct package_file *packages__file(const struct packages *packages, size_t i)
{
	return packages && i < packages->count ? &packages->files[i] : NULL;
}

bool packages__version(const struct packages *packages, const char *package, char *out, size_t size)
{
	size_t i;

	for (i = 0; packages && i < packages->version_count; i++) {
		if (strcmp(packages->versions[i].package, package))
			continue;
		snprintf(out, size, "%s", packages->versions[i].version);
		return true;
	}
	return false;
}

const char *packages__untold(const struct packages *packages)
{
	return packages->untold;
}
