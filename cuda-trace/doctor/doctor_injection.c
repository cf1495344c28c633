// SPDX-License-Identifier: BSD-2-Clause
/*
 * Follows the way by which a program comes to load the agent: library, ld cache, profile script,
 * opt-in, CUDA_INJECTION64_PATH; and the same for containers. Called by cmd_doctor; one thread.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/optin/cdi.h"
#include "cuda-trace/inventory/filetree.h"
#include "cuda-trace/doctor/doctor_findings.h"
#include "cuda-trace/doctor/doctor_injection.h"
#include "cuda-trace/optin/optin.h"
#include "libcupti-usdt/probes.h"

static void report_agent(struct findings *findings)
{
	char agent[PATH_MAX];

	if (optin__agent(NULL, agent))
		findings__add(findings, FINDING_OK, "guest", NULL,
			      "the injection library is %s, and the loader finds it by its name",
			      agent);
	else if (*agent)
		findings__add(findings, FINDING_NOTE, "guest", "sudo ldconfig",
			      "the injection library is %s, but it is not in the loader's "
			      "cache: " OPTIN_VARIABLE " needs the full path",
			      agent);
	else
		findings__add(
			findings, FINDING_PROBLEM, "guest", "install the package libcupti-usdt",
			"%s is not installed: programs have nothing to load", CUDA_AGENT_NAME);
}

static bool report_state(struct findings *findings)
{
	enum optin_state user = optin__user();
	bool enabled = user == OPTIN_ENABLED || (user == OPTIN_UNSET && optin__system(NULL));

	if (optin__off())
		findings__add(findings, FINDING_NOTE, "optin", "unset CUDA_TRACE",
			      "opted out: CUDA_TRACE=off is set");
	else if (user == OPTIN_DISABLED)
		findings__add(findings, FINDING_NOTE, "optin", "cuda-trace enable",
			      "opted out: this user ran `cuda-trace disable`");
	else if (enabled)
		findings__add(findings, FINDING_OK, "optin", NULL, "opted in %s",
			      user == OPTIN_ENABLED ? "by this user" : "for the system");
	else
		findings__add(findings, FINDING_NOTE, "optin", "cuda-trace enable",
			      "not opted in: only programs started by `cuda-trace stat -- PROGRAM` "
			      "and the like load the injection library");
	return enabled;
}

static void report_variable(const struct filetree *tree, struct findings *findings, bool enabled)
{
	const char *value = getenv(OPTIN_VARIABLE);

	if (!value || !*value) {
		if (enabled)
			findings__add(findings, FINDING_NOTE, "injection", "log in again",
				      OPTIN_VARIABLE " is not set in this shell: the shell started "
						     "before the opt-in, or is not a login shell");
		return;
	}
	if (!optin__ours(value))
		findings__add(findings, FINDING_NOTE, "injection", "unset " OPTIN_VARIABLE,
			      OPTIN_VARIABLE
			      " is %s, which belongs to another tool and is not changed; programs "
			      "started here load that instead of the injection library",
			      value);
	else if (*value == '/' && !filetree__exists(tree, value))
		findings__add(findings, FINDING_PROBLEM, "injection", "unset " OPTIN_VARIABLE,
			      OPTIN_VARIABLE
			      " is %s, which does not exist: CUDA ignores that silently",
			      value);
	else
		findings__add(findings, FINDING_OK, "injection", NULL,
			      OPTIN_VARIABLE
			      " is %s: programs started here load the injection library",
			      value);
}

static void report_optin(const struct filetree *tree, struct findings *findings)
{
	if (!filetree__exists(tree, OPTIN_PROFILE))
		findings__add(findings, FINDING_NOTE, "profile", "install the package cuda-trace",
			      OPTIN_PROFILE " is missing: opting in has no effect on logins");
	report_variable(tree, findings, report_state(findings));
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
	char line[4096], *at;

	if (strstr(path, "/cuda-trace."))
		return 0;
	file = filetree__stream(conflict->tree, path);
	while (file && filetree__line(file, line, sizeof(line))) {
		at = line + strspn(line, " \t");
		if (*at == '#' || !(at = strstr(at, OPTIN_VARIABLE)))
			continue;
		if (strstr(at, CUDA_AGENT_NAME))
			continue;
		findings__add(conflict->findings, FINDING_NOTE, "injection_elsewhere", NULL,
			      "%s sets %s: the opt-in does not change that", path, at);
		break;
	}
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
	specification = filetree__exists(tree, CDI_PATH);
	if (!toolkit)
		findings__add(findings, FINDING_NOTE, "container_toolkit",
			      "apt-get install nvidia-container-toolkit",
			      "a container engine without NVIDIA's container toolkit: its "
			      "containers have no GPU");
	if (specification)
		findings__add(
			findings, FINDING_OK, "cdi", NULL,
			"containers get the injection library by --device cuda-trace/load=guest "
			"(/etc/cdi/cuda-trace.yaml)");
	else
		findings__add(findings, FINDING_NOTE, "cdi", "sudo cuda-trace enable --cdi",
			      "containers do not get the injection library: there is no CDI "
			      "specification of it");
}

/* A toolkit's stubs in front of the driver break programs in ways that look like CUPTI's fault. */
static void report_library_path(struct findings *findings)
{
	const char *list = getenv("LD_LIBRARY_PATH");
	size_t n;

	for (; list && *list; list += n + (list[n] == ':')) {
		n = strcspn(list, ":");
		if (n >= 5 && !strncmp(list + n - 5, "stubs", 5))
			findings__add(findings, FINDING_PROBLEM, "stubs",
				      "remove it from LD_LIBRARY_PATH",
				      "LD_LIBRARY_PATH contains %.*s: its libcuda is for linking "
				      "only, and programs that load it fail",
				      (int)n, list);
	}
}

void injection__report(struct filetree *tree, struct findings *findings)
{
	report_agent(findings);
	report_optin(tree, findings);
	report_conflicts(tree, findings);
	report_library_path(findings);
	report_containers(tree, findings);
}
