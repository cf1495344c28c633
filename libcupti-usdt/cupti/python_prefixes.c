// SPDX-License-Identifier: BSD-2-Clause
/*
 * A prefix is the parent of the folder in which the program lies: as it was called, as the
 * python of a virtual environment is a link to the system's, and as the kernel resolved it. Only
 * what has pyvenv.cfg or conda-meta is an environment: /usr is none.
 */
#include "libcupti-usdt/cupti/python_prefixes.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

struct visitor {
	void (*found)(void *context, const char *prefix, const char *packages);
	void *context;
	char prefix[PATH_MAX];
};

static bool has(const char *prefix, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", prefix, name) < PATH_MAX &&
	       !access(path, F_OK);
}

/* PREFIX/lib/python3.N/site-packages */
static void look_in_lib(const struct visitor *visitor, const char *lib)
{
	char folder[PATH_MAX], path[PATH_MAX + 300];
	struct dirent *entry;
	DIR *versions;

	if (snprintf(folder, sizeof(folder), "%s/%s", visitor->prefix, lib) >= PATH_MAX)
		return;
	versions = opendir(folder);
	while (versions && (entry = readdir(versions))) {
		if (strncmp(entry->d_name, "python3", 7))
			continue;
		snprintf(path, sizeof(path), "%s/%s/site-packages", folder, entry->d_name);
		if (!access(path, F_OK))
			visitor->found(visitor->context, visitor->prefix, path);
	}
	if (versions)
		closedir(versions);
}

static void look_at_prefix(const struct visitor *visitor)
{
	bool conda = has(visitor->prefix, "conda-meta");

	if (!conda && !has(visitor->prefix, "pyvenv.cfg"))
		return;
	look_in_lib(visitor, "lib");
	look_in_lib(visitor, "lib64");
	if (conda)
		visitor->found(visitor->context, visitor->prefix, NULL);
}

static void look_at_program(struct visitor *visitor, const char *program)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(program, '/');
	char *end;

	if (!slash || slash - program >= PATH_MAX)
		return;
	memcpy(folder, program, slash - program);
	folder[slash - program] = '\0';
	/* The name may be relative; what it is a link to must not matter, but its folder may be
	 * one.
	 */
	if (!realpath(*folder ? folder : "/", visitor->prefix))
		return;
	end = strrchr(visitor->prefix, '/');
	if (!end || end == visitor->prefix)
		return;
	*end = '\0';
	look_at_prefix(visitor);
}

static void look_at_variable(struct visitor *visitor, const char *name)
{
	const char *value = secure_getenv(name);

	if (!value || *value != '/' || strlen(value) >= PATH_MAX)
		return;
	strcpy(visitor->prefix, value);
	look_at_prefix(visitor);
}

void python_prefixes__each(void (*found)(void *context, const char *prefix, const char *packages),
			   void *context)
{
	static struct visitor visitor; /* too much for a small stack; one thread */
	const char *called = (const char *)getauxval(AT_EXECFN);
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	visitor = (struct visitor){.found = found, .context = context};
	if (called)
		look_at_program(&visitor, called);
	if (length > 0) {
		self[length] = '\0';
		look_at_program(&visitor, self);
	}
	look_at_variable(&visitor, "VIRTUAL_ENV");
	look_at_variable(&visitor, "CONDA_PREFIX");
}
