// SPDX-License-Identifier: BSD-2-Clause
/*
 * Drop-ins for systemd units. Called by enable, disable and status; one thread.
 */
#include "cuda-trace/optin/systemd_dropin.h"

#include <errno.h>
#include <glob.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/optin/optin.h"
#include "cuda-trace/base/managed_file.h"

#define FOLDER	 "/etc/systemd/system/"
#define FILE_END ".d/cuda-trace.conf"
#define UNIT_MAX 255

/* The unit's whole name; what systemd itself allows in one, and services only. */
static int complete(char name[UNIT_MAX + 1], const char *unit)
{
	const char *end = strrchr(unit, '.');
	bool bare = !end || strcmp(end, ".service");
	int n = snprintf(name, UNIT_MAX + 1, "%s%s", unit, bare ? ".service" : "");

	if (!*unit || *unit == '.' || n > UNIT_MAX ||
	    unit[strspn(unit,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.\\@-")]) {
		fprintf(stderr, "cuda-trace: this is not the name of a service\n");
		return -EINVAL;
	}
	if (bare && end &&
	    (!strcmp(end, ".socket") || !strcmp(end, ".timer") || !strcmp(end, ".target") ||
	     !strcmp(end, ".slice"))) {
		fprintf(stderr, "cuda-trace: %s: only services start programs\n", unit);
		return -EINVAL;
	}
	return 0;
}

/* Runs systemctl; its first bytes of output go to `answer` (NULL: to nobody). Its status. */
static int systemctl(char *const argv[], char *answer, size_t size)
{
	posix_spawn_file_actions_t actions;
	int ends[2], status = -1, err;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (pipe(ends))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	err = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (!err && size > n + 1 && (got = read(ends[0], answer + n, size - n - 1)) > 0)
		n += got;
	if (size)
		answer[n] = '\0';
	close(ends[0]);
	if (!err && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		return WEXITSTATUS(status);
	return -1;
}

static bool systemd_runs(const char *root)
{
	return !root && !access("/run/systemd/system", F_OK);
}

static int say_no_unit(const char *unit, const char *where)
{
	fprintf(stderr, "cuda-trace: there is no unit %s (%s)\n", unit, where);
	return -ENOENT;
}

/* Where systemd does not run (an image, a container) nobody else knows. */
static int check_unit_file(const char *root, const char *unit)
{
	static const char *const folders[] = {
		"/etc/systemd/system",		 "/run/systemd/system",
		"/run/systemd/generator",	 "/run/systemd/generator.late",
		"/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
		"/lib/systemd/system",
	};
	const char *at = strchr(unit, '@'), *end = strrchr(unit, '.');
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], unit);
		if (optin__exists(root, path))
			return 0;
		/* name@instance.service is made from name@.service. */
		snprintf(path, sizeof(path), "%s/%.*s@%s", folders[i], at ? (int)(at - unit) : 0,
			 unit, end);
		if (at && optin__exists(root, path))
			return 0;
	}
	/* Of a script in init.d systemd makes a unit when it starts. */
	snprintf(path, sizeof(path), "/etc/init.d/%.*s", (int)(end - unit), unit);
	if (optin__exists(root, path))
		return 0;
	return say_no_unit(unit,
			   "no unit file of that name in /etc, /run or /usr/lib/systemd/system");
}

/* Is there such a unit, and has nobody else set the variable for it? */
static int examine(char *unit)
{
	char *argv[] = {"systemctl", "show", "--property=LoadState,Environment", "--", unit, NULL};
	char answer[8192], *value;

	if (systemctl(argv, answer, sizeof(answer)))
		return check_unit_file(NULL, unit);
	if (strstr(answer, "LoadState=not-found"))
		return say_no_unit(unit, "see systemctl list-unit-files");
	value = strstr(answer, OPTIN_VARIABLE "=");
	if (!value)
		return 0;
	value += strlen(OPTIN_VARIABLE "=");
	value[strcspn(value, " \"\n")] = '\0';
	if (optin__ours(value))
		return 0;
	fprintf(stderr, "cuda-trace: %s has " OPTIN_VARIABLE "=%s already: it is not changed\n",
		unit, value);
	return -EEXIST;
}

static void reload(const char *root, const char *unit)
{
	char *argv[] = {"systemctl", "daemon-reload", NULL};

	if (!systemd_runs(root))
		return;
	if (systemctl(argv, NULL, 0))
		fprintf(stderr, "cuda-trace: systemctl daemon-reload failed: run it yourself\n");
	printf("It takes effect when the service restarts: systemctl restart %s\n", unit);
}

static int explain(const char *path, int err)
{
	if (err == -EEXIST)
		fprintf(stderr, "cuda-trace: %s was not written by cuda-trace: it is not changed\n",
			path);
	else if (err)
		fprintf(stderr, "cuda-trace: %s: %s%s\n", path, managed_file__reason(err),
			err == -EACCES || err == -EPERM ? " (root can: sudo cuda-trace ...)" : "");
	return err;
}

int service__enable(const char *root, const char *unit)
{
	char name[UNIT_MAX + 1], path[PATH_MAX], value[PATH_MAX], text[PATH_MAX + 512];
	int err = complete(name, unit);

	if (err)
		return err;
	err = systemd_runs(root) ? examine(name) : check_unit_file(root, name);
	if (err)
		return err;
	err = optin__value(root, value);
	if (err) {
		fprintf(stderr, "cuda-trace: the library is not installed: install the package "
				"libcupti-usdt\n");
		return err;
	}
	snprintf(path, sizeof(path), FOLDER "%s" FILE_END, name);
	snprintf(text, sizeof(text),
		 " --service; cuda-trace disable --service %s removes it.\n"
		 "[Service]\nEnvironment=" OPTIN_VARIABLE "=%s\n",
		 name, value);
	err = explain(path, managed_file__write(root, path, text));
	if (err)
		return err;
	printf("%s gets " OPTIN_VARIABLE "=%s by %s.\n", name, value, path);
	reload(root, name);
	return 0;
}

int service__disable(const char *root, const char *unit)
{
	char name[UNIT_MAX + 1], path[PATH_MAX];
	int err = complete(name, unit);

	if (err)
		return err;
	snprintf(path, sizeof(path), FOLDER "%s" FILE_END, name);
	err = explain(path, managed_file__remove(root, path));
	if (err)
		return err;
	printf("Removed %s.\n", path);
	reload(root, name);
	return 0;
}

void service__each(void (*each)(void *context, const char *unit), void *context)
{
	glob_t found;

	if (glob(FOLDER "*" FILE_END, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *path = found.gl_pathv[i];

		if (managed_file__check(NULL, path) != 1)
			continue;
		path[strlen(path) - strlen(FILE_END)] = '\0';
		each(context, path + strlen(FOLDER));
	}
	globfree(&found);
}
