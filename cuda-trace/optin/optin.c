// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the opt-in: files, environment, what the loader knows. Called by enable, disable and
 * status; one thread.
 */
#include "cuda-trace/optin/optin.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/inventory/filetree.h"
#include "cuda-trace/base/managed_file.h"
#include "cuda-trace/inventory/ldcache.h"
#include "cuda-trace/attach/agent_files.h"
#include "libcupti-usdt/probes.h"

/* $HOME, as the profile scripts see it; not that of the caller which sudo may have left there,
 * where we would make files that belong to root. */
int optin__user_path(const char *name, char path[PATH_MAX])
{
	const char *home = getenv("HOME");
	struct passwd *user;
	struct stat st;

	if (!home || *home != '/' || stat(home, &st) || st.st_uid != geteuid()) {
		user = getpwuid(geteuid());
		home = user ? user->pw_dir : home;
	}
	if (!home || *home != '/')
		return -ENOENT;
	if (snprintf(path, PATH_MAX, "%s/.config/cuda-trace/%s", home, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

static bool user_has(const char *name)
{
	char path[PATH_MAX];
	int found = optin__user_path(name, path) ? 0 : managed_file__check(NULL, path);

	return found == 1 || found == -EEXIST;
}

enum optin_state optin__user(void)
{
	if (user_has("disabled"))
		return OPTIN_DISABLED;
	return user_has("enabled") ? OPTIN_ENABLED : OPTIN_UNSET;
}

bool optin__exists(const char *root, const char *path)
{
	struct filetree tree;
	bool exists;

	if (filetree__open(&tree, root))
		return false;
	exists = filetree__exists(&tree, path);
	filetree__close(&tree);
	return exists;
}

bool optin__system(const char *root)
{
	return optin__exists(root, OPTIN_SYSTEM);
}

bool optin__off(void)
{
	const char *value = getenv("CUDA_TRACE");

	return value && (!strcmp(value, "off") || !strcmp(value, "0"));
}

static int keep_path(void *context, const char *name, const char *path)
{
	if (strcmp(name, CUDA_AGENT_NAME))
		return 0;
	snprintf(context, PATH_MAX, "%s", path);
	return 1;
}

bool optin__agent(const char *root, char path[PATH_MAX])
{
	char cached[PATH_MAX] = "";
	struct filetree tree;
	bool known = false;

	*path = '\0';
	if (!filetree__open(&tree, root)) {
		ldcache__each(&tree, CUDA_AGENT_NAME, keep_path, cached);
		known = *cached && filetree__exists(&tree, cached);
		filetree__close(&tree);
	}
	if (known)
		strcpy(path, cached);
	else if (root && optin__exists(root, AGENTDIR "/" CUDA_AGENT_NAME))
		strcpy(path, AGENTDIR "/" CUDA_AGENT_NAME);
	else if (!root && agent_files__agent_path(path, true))
		*path = '\0';
	return known;
}

/* A path that needs quoting in a unit file is none that a package would have. */
static bool is_plain(const char *path)
{
	for (; *path; path++)
		if (!isalnum((unsigned char)*path) && !strchr("/._+-", *path))
			return false;
	return true;
}

int optin__value(const char *root, char value[PATH_MAX])
{
	if (optin__agent(root, value))
		strcpy(value, CUDA_AGENT_NAME);
	return *value && is_plain(value) ? 0 : -ENOENT;
}

bool optin__ours(const char *value)
{
	const char *slash = strrchr(value, '/');

	return !strcmp(slash ? slash + 1 : value, CUDA_AGENT_NAME);
}
