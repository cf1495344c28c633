// SPDX-License-Identifier: BSD-2-Clause
/*
 * Users make control groups of any name below their own: a name counts only where the service that
 * gives it makes its groups, and of several containers inside each other only the outermost.
 */
#include "cuda-trace/origin/origin_path.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define SLURM_SCOPE "slurmstepd.scope"

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool ends_with(const char *text, size_t length, const char *suffix)
{
	size_t n = strlen(suffix);

	return length > n && !strncmp(text + length - n, suffix, n);
}

/* The folder behind the next "/", and its length; NULL: there is none. */
static const char *next_folder(const char *at, size_t *length)
{
	at += strcspn(at, "/");
	at += strspn(at, "/");
	*length = strcspn(at, "/");
	return *length ? at : NULL;
}

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* "job_12/step_0/user/task_0", "job_12/step_batch": whatever follows is a part of the step. */
static bool parse_job(const char *at, struct origin *origin)
{
	size_t length = strcspn(at, "/");

	if (!starts_with(at, "job_") || digits(at + 4) + 4 != length ||
	    !origin__set(origin, ORIGIN_slurm_job, at + 4, length - 4))
		return false;
	at = next_folder(at + length, &length);
	if (at && length > 5 && starts_with(at, "step_"))
		origin__set(origin, ORIGIN_slurm_step, at + 5, length - 5);
	return true;
}

/* Version 2: /system.slice/slurmstepd.scope/job_…, or NODE_slurmstepd.scope with several slurmd. */
static bool parse_slurm(const char *path, struct origin *origin)
{
	size_t length;
	const char *at = next_folder(path, &length);

	if (!at || strncmp(at, "system.slice/", 13))
		return false;
	at = next_folder(at, &length);
	if (!at || !(ends_with(at, length, "_" SLURM_SCOPE) ||
		     (length == strlen(SLURM_SCOPE) && starts_with(at, SLURM_SCOPE))))
		return false;
	at = next_folder(at, &length);
	return at && parse_job(at, origin);
}

/* As sd_pid_get_unit(3): the first folder that is no slice. */
static void parse_unit(const char *path, struct origin *origin)
{
	size_t length;
	const char *at = next_folder(path, &length);

	while (at && ends_with(at, length, ".slice"))
		at = next_folder(at, &length);
	if (!at)
		return;
	/* systemd's escape of names that the kernel uses. */
	if (*at == '_') {
		at++;
		length--;
	}
	if (ends_with(at, length, ".service") || ends_with(at, length, ".scope"))
		origin__set(origin, ORIGIN_unit, at, length);
}

void origin_path__parse(const char *path, struct origin *origin)
{
	struct origin_container container;

	if (parse_slurm(path, origin) || origin_path__container(path, &container))
		return;
	parse_unit(path, origin);
}

/* "/slurm/uid_1000/job_12/step_0/task_0", or /slurm_NODE/… */
static bool parse_slurm_v1(const char *path, struct origin *origin)
{
	size_t length;
	const char *at = next_folder(path, &length);

	if (!at || !(starts_with(at, "slurm_") || (length == 5 && starts_with(at, "slurm"))))
		return false;
	at = next_folder(at, &length);
	if (!at || !starts_with(at, "uid_") || digits(at + 4) + 4 != length)
		return false;
	at = next_folder(at, &length);
	return at && parse_job(at, origin);
}

void origin_path__read_slurm(uint32_t pid, const char *path, struct origin *origin)
{
	char name[64], line[PATH_MAX];
	struct origin found = *origin;
	bool slurm = false, same = !*path;
	FILE *groups;

	snprintf(name, sizeof(name), "/proc/%u/cgroup", pid);
	groups = fopen(name, "re");
	while (groups && fgets(line, sizeof(line), groups)) {
		const char *controllers = strchr(line, ':');
		const char *group = controllers ? strchr(controllers + 1, ':') : NULL;

		line[strcspn(line, "\n")] = 0;
		if (!group)
			continue;
		/* Else the pid may be another process's by now. */
		if (starts_with(line, "0::"))
			same |= !strcmp(group + 1, path);
		else if (!slurm)
			slurm = parse_slurm_v1(group + 1, &found);
	}
	if (groups)
		fclose(groups);
	if (!slurm || !same)
		return;
	*origin = found;
	origin->unit[0] = 0; /* slurmd's */
}

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* The id is all of the folder's name, or all between a prefix and ".scope". */
static bool parse_id(const char *folder, size_t length, struct origin_container *container)
{
	static const struct {
		const char *prefix;
		unsigned int engines;
	} forms[] = {
		{"cri-containerd-", ENGINE_CRI},
		{"crio-", ENGINE_CRI},
		{"docker-", ENGINE_DOCKER},
		{"libpod-", ENGINE_PODMAN},
		{"", ENGINE_CRI | ENGINE_DOCKER | ENGINE_PODMAN},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t before = strlen(forms[i].prefix);
		const char *id = folder + before;

		if (length < before + CONTAINER_ID_LENGTH ||
		    strncmp(folder, forms[i].prefix, before) ||
		    hex_digits(id) != CONTAINER_ID_LENGTH)
			continue;
		if (id + CONTAINER_ID_LENGTH != folder + length &&
		    !(length == before + CONTAINER_ID_LENGTH + 6 &&
		      ends_with(folder, length, ".scope")))
			continue;
		memcpy(container->id, id, CONTAINER_ID_LENGTH);
		container->engines = forms[i].engines;
		return true;
	}
	return false;
}

bool origin_path__container(const char *path, struct origin_container *container)
{
	bool kubernetes = false, docker = false, users = false;
	size_t length;

	memset(container, 0, sizeof(*container));
	for (const char *at = next_folder(path, &length); at; at = next_folder(at, &length)) {
		/* Below a user's own manager no name is an engine's of this machine. */
		users |= starts_with(at, "user@") && ends_with(at, length, ".service");
		if (users)
			return false;
		if (parse_id(at, length, container))
			break;
		kubernetes |= starts_with(at, "kubepods");
		docker |= length == 6 && starts_with(at, "docker");
	}
	if (!*container->id)
		return false;
	if (kubernetes)
		container->engines = (container->engines | ENGINE_CRI) & ~ENGINE_PODMAN;
	else if (docker)
		container->engines &= ENGINE_DOCKER;
	return true;
}
