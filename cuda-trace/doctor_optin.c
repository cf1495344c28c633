// SPDX-License-Identifier: BSD-2-Clause
/*
 * Follows the way by which a program comes to load the guest: library, ld cache, profile script,
 * opt-in, CUDA_INJECTION64_PATH; and the same for containers. Called by cmd_doctor; one thread.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/doctor_filetree.h"
#include "cuda-trace/doctor_findings.h"
#include "cuda-trace/doctor_ldcache.h"
#include "cuda-trace/doctor_optin.h"
#include "cuda-trace/targets.h"
#include "libcupti-usdt/probes.h"

#define VARIABLE "CUDA_INJECTION64_PATH"

static int take_path(void *context, const char *name, const char *path)
{
	if (strcmp(name, CUDA_GUEST_NAME))
		return 0;
	snprintf(context, PATH_MAX, "%s", path);
	return 1;
}

static void report_guest(const struct filetree *tree, struct findings *findings)
{
	char guest[PATH_MAX], cached[PATH_MAX] = "";

	if (targets__guest_path(guest, true)) {
		findings__add(
			findings, FINDING_PROBLEM, "guest", "install the package libcupti-usdt",
			"%s is not installed: programs have nothing to load", CUDA_GUEST_NAME);
		return;
	}
	ldcache__each(tree, CUDA_GUEST_NAME, take_path, cached);
	if (*cached && filetree__exists(tree, cached))
		findings__add(findings, FINDING_OK, "guest", NULL,
			      "the guest is %s, and the loader knows it", guest);
	else
		findings__add(findings, FINDING_NOTE, "guest", "sudo ldconfig",
			      "the guest is %s, but the loader's cache does not know it: " VARIABLE
			      " needs the whole path",
			      guest);
}

/* 1 = opted in, 0 = not, -1 = opted out */
static int opted_in(const struct filetree *tree, const char **how)
{
	const char *home = getenv("HOME"), *trace = getenv("CUDA_TRACE");
	char path[PATH_MAX];

	*how = "CUDA_TRACE=off is set";
	if (trace && (!strcmp(trace, "off") || !strcmp(trace, "0")))
		return -1;
	*how = "this user said `cuda-trace disable`";
	snprintf(path, sizeof(path), "%s/.config/cuda-trace/disabled", home ?: "");
	if (home && filetree__exists(tree, path))
		return -1;
	*how = "by this user";
	snprintf(path, sizeof(path), "%s/.config/cuda-trace/enabled", home ?: "");
	if (home && filetree__exists(tree, path))
		return 1;
	*how = "for the system";
	return filetree__exists(tree, "/etc/cuda-trace/enabled");
}

static void report_variable(const struct filetree *tree, struct findings *findings, int opted)
{
	const char *value = getenv(VARIABLE), *name;

	if (!value || !*value) {
		if (opted > 0)
			findings__add(findings, FINDING_NOTE, "injection", "log in again",
				      VARIABLE
				      " is not set in this shell: it began before the opt-in");
		return;
	}
	name = strrchr(value, '/');
	name = name ? name + 1 : value;
	if (strcmp(name, CUDA_GUEST_NAME))
		findings__add(findings, FINDING_NOTE, "injection", "unset " VARIABLE,
			      VARIABLE
			      " is %s: another tool's, which is left alone; programs started here "
			      "load that instead of the guest",
			      value);
	else if (*value == '/' && !filetree__exists(tree, value))
		findings__add(findings, FINDING_PROBLEM, "injection", "unset " VARIABLE,
			      VARIABLE " is %s, which is not there: CUDA ignores it in silence",
			      value);
	else
		findings__add(findings, FINDING_OK, "injection", NULL,
			      VARIABLE " is %s: programs started here load the guest", value);
}

static void report_optin(const struct filetree *tree, struct findings *findings)
{
	const char *how;
	int opted = opted_in(tree, &how);

	if (!filetree__exists(tree, "/etc/profile.d/cuda-trace.sh"))
		findings__add(findings, FINDING_NOTE, "profile", "install the package cuda-trace",
			      "/etc/profile.d/cuda-trace.sh is not there: opting in has no effect "
			      "on logins");
	if (opted > 0)
		findings__add(findings, FINDING_OK, "optin", NULL, "opted in %s", how);
	else if (opted < 0)
		findings__add(findings, FINDING_NOTE, "optin", "cuda-trace enable", "opted out: %s",
			      how);
	else
		findings__add(findings, FINDING_NOTE, "optin", "cuda-trace enable",
			      "not opted in: only programs started by `cuda-trace stat -- PROGRAM` "
			      "and the like "
			      "load the guest");
	report_variable(tree, findings, opted);
}

struct conflict {
	const struct filetree *tree;
	struct findings *findings;
};

/* Files in which somebody may have set the variable for everybody. */
static int search_setting(void *context, const char *path)
{
	struct conflict *conflict = context;
	FILE *file;
	char *line = NULL, *at;
	size_t room = 0;

	if (strstr(path, "/cuda-trace."))
		return 0;
	file = filetree__stream(conflict->tree, path);
	while (file && getline(&line, &room, file) > 0) {
		at = line + strspn(line, " \t");
		if (*at == '#' || !(at = strstr(at, VARIABLE)))
			continue;
		at[strcspn(at, "\n")] = '\0';
		if (strstr(at, CUDA_GUEST_NAME))
			continue;
		findings__add(conflict->findings, FINDING_NOTE, "injection_elsewhere", NULL,
			      "%s sets %s: the opt-in leaves it alone", path, at);
		break;
	}
	free(line);
	if (file)
		fclose(file);
	return 0;
}

static void report_conflicts(struct filetree *tree, struct findings *findings)
{
	static const char *const files[] = {"/etc/environment", "/etc/profile.d/*.sh",
					    "/etc/environment.d/*.conf", "/etc/bash.bashrc"};
	struct conflict conflict = {.tree = tree, .findings = findings};
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		filetree__glob(tree, files[i], search_setting, &conflict);
}

static void report_containers(const struct filetree *tree, struct findings *findings)
{
	static const char *const engines[] = {"/usr/bin/docker", "/usr/bin/podman",
					      "/usr/bin/containerd", "/usr/local/bin/containerd",
					      "/usr/bin/crio"};
	bool engine = false, toolkit, specification;
	size_t i;

	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		engine |= filetree__exists(tree, engines[i]);
	if (!engine)
		return;
	toolkit = filetree__exists(tree, "/usr/bin/nvidia-ctk") ||
		  filetree__exists(tree, "/usr/bin/nvidia-container-cli");
	specification = filetree__exists(tree, "/etc/cdi/cuda-trace.yaml");
	if (!toolkit)
		findings__add(findings, FINDING_NOTE, "container_toolkit",
			      "apt-get install nvidia-container-toolkit",
			      "a container engine without NVIDIA's container toolkit: its "
			      "containers have no GPU");
	if (specification)
		findings__add(findings, FINDING_OK, "cdi", NULL,
			      "containers get the guest by --device cuda-trace "
			      "(/etc/cdi/cuda-trace.yaml)");
	else
		findings__add(
			findings, FINDING_NOTE, "cdi", "sudo cuda-trace enable --cdi",
			"containers do not get the guest: there is no CDI specification of it");
}

void optin__report(struct filetree *tree, struct findings *findings)
{
	report_guest(tree, findings);
	report_optin(tree, findings);
	report_conflicts(tree, findings);
	report_containers(tree, findings);
}
