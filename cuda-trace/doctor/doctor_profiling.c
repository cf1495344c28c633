// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who may read hardware counters and program counters, and what keeps them shut: the driver's
 * restriction, containers, MIG, vGPU, MPS, WSL, others who hold them, missing libraries. From /proc
 * and files; nothing is opened on a GPU. Called by cmd_doctor; one thread.
 *
 * Failure mode: advising sudo to root in a container without the capability. The driver requires
 * CAP_SYS_ADMIN of the machine, not of a user namespace, and no sudo gives that.
 */
#include "cuda-trace/doctor/doctor_profiling.h"
#include <ctype.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/inventory/libcupti_choice.h"
#include "cuda-trace/doctor/doctor_findings.h"
#include "cuda-trace/inventory/ldcache.h"
#include "cuda-trace/inventory/libcupti_list.h"

#define OPTION	 "NVreg_RestrictProfilingToAdminUsers"
#define NVPERF	 "libnvperf_host.so"
#define API_13_0 130000
#define API_12_6 24 /* cuptiGetVersion() of CUDA 12.6, the first that is used for samples */
#define ALLOW	 "echo options nvidia " OPTION "=0 | sudo tee /etc/modprobe.d/nvidia-profiling.conf"

/* What a process is allowed, as the driver asks. */
struct rights {
	bool known;
	bool admin;   /* CAP_SYS_ADMIN is effective */
	bool never;   /* and no sudo gives it: a container was not given it */
	bool machine; /* in the machine's own user namespace */
};

/* "\nCapEff:" and what follows */
static bool has_admin(const char *line)
{
	return strtoull(line + strlen("\nCapEff:"), NULL, 16) >> CAP_SYS_ADMIN & 1;
}

static struct rights rights_of(const struct filetree *tree, const char *process)
{
	struct rights rights = {.known = false};
	char path[64], text[8192];
	unsigned long first, to, count;
	const char *line;

	snprintf(path, sizeof(path), "/proc/%s/status", process);
	if (filetree__read(tree, path, text, sizeof(text)) <= 0)
		return rights;
	line = strstr(text, "\nCapEff:");
	if (!line)
		return rights;
	rights.known = true;
	rights.admin = has_admin(line);
	line = strstr(text, "\nCapBnd:");
	rights.never = line && !has_admin(line);
	snprintf(path, sizeof(path), "/proc/%s/uid_map", process);
	rights.machine = filetree__read(tree, path, text, sizeof(text)) <= 0 ||
			 (sscanf(text, "%lu %lu %lu", &first, &to, &count) == 3 && !first && !to &&
			  count == UINT32_MAX);
	return rights;
}

/* 1, 0, or -1: the driver does not say. */
static int restricted(const struct filetree *tree)
{
	char text[16384];
	const char *line;

	if (filetree__read(tree, "/proc/driver/nvidia/params", text, sizeof(text)) <= 0)
		return -1;
	line = strstr(text, "RmProfilingAdminOnly:");
	return line ? !!strtol(line + strlen("RmProfilingAdminOnly:"), NULL, 10) : -1;
}

struct setting {
	const struct filetree *tree;
	char file[FILETREE_PATH_MAX];
};

static int find_setting(void *context, const char *path)
{
	struct setting *setting = context;
	FILE *file = filetree__stream(setting->tree, path);
	char line[1024];

	while (file && !*setting->file && filetree__line(file, line, sizeof(line)))
		if (line[strspn(line, " \t")] != '#' && strstr(line, OPTION "=0"))
			snprintf(setting->file, sizeof(setting->file), "%s", path);
	if (file)
		fclose(file);
	return *setting->file != '\0';
}

/* The driver is loaded from the initial RAM disk on many systems: a file alone changes nothing. */
static const char *renew(const struct filetree *tree)
{
	if (filetree__exists(tree, "/usr/sbin/update-initramfs"))
		return "sudo update-initramfs -u && sudo reboot";
	if (filetree__exists(tree, "/usr/bin/dracut") || filetree__exists(tree, "/usr/sbin/dracut"))
		return "sudo dracut -f && sudo reboot";
	return "sudo reboot";
}

static void remedy(struct filetree *tree, const struct rights *rights, char *out, size_t size)
{
	struct setting setting = {.tree = tree};

	filetree__glob(tree, "/etc/modprobe.d/*.conf", find_setting, &setting);
	if (rights->never)
		snprintf(out, size,
			 "start the container with --cap-add SYS_ADMIN (Kubernetes: add SYS_ADMIN "
			 "to its "
			 "capabilities)");
	else if (*setting.file)
		snprintf(out, size, "%s", renew(tree));
	else
		snprintf(out, size, ALLOW " && %s", renew(tree));
}

static void say_restricted(struct filetree *tree, const struct rights *rights, const char *who,
			   const char *as_root, struct findings *findings)
{
	char fix[512];

	if (rights->admin && rights->machine) {
		findings__add(findings, FINDING_OK, "counters_restricted", NULL,
			      OPTION " is on: only CAP_SYS_ADMIN may profile; %s has it", who);
		return;
	}
	remedy(tree, rights, fix, sizeof(fix));
	if (rights->admin)
		findings__add(findings, FINDING_NOTE, "counters_restricted", ALLOW,
			      OPTION
			      " is on, and %s has CAP_SYS_ADMIN in a user namespace only (rootless "
			      "container), which the driver does not accept: `profile` fails "
			      "(ERR_NVGPUCTRPERM); apply the fix on the host",
			      who);
	else
		findings__add(findings, FINDING_NOTE, "counters_restricted", fix,
			      OPTION " is on and %s lacks CAP_SYS_ADMIN: `profile` fails "
				     "(ERR_NVGPUCTRPERM)%s; tracing does not need it",
			      who, as_root);
}

static void say_pending(struct filetree *tree, struct findings *findings)
{
	struct setting setting = {.tree = tree};

	filetree__glob(tree, "/etc/modprobe.d/*.conf", find_setting, &setting);
	if (*setting.file)
		findings__add(findings, FINDING_NOTE, "counters_pending", renew(tree),
			      "%s allows profiling for all users, but the driver was loaded before "
			      "that was set",
			      setting.file);
}

static void report_restriction(struct filetree *tree, struct findings *findings)
{
	struct rights rights = rights_of(tree, "self");
	int is_on = restricted(tree);

	if (is_on < 0)
		return;
	if (!is_on) {
		findings__add(findings, FINDING_OK, "counters_restricted", NULL,
			      OPTION " is off: every user may read hardware counters");
		return;
	}
	say_restricted(tree, &rights, "this user",
		       rights.never ? " here" : ", but works for programs run as root", findings);
	say_pending(tree, findings);
}

static int stop(void *context, const char *path)
{
	*(bool *)context = true;
	return 1;
}

static bool any(struct filetree *tree, const char *pattern)
{
	bool found = false;

	filetree__glob(tree, pattern, stop, &found);
	return found;
}

struct others {
	const struct filetree *tree;
	bool mps, dcgm;
};

static int look_at_comm(void *context, const char *path)
{
	struct others *others = context;
	char comm[32];

	if (filetree__read(others->tree, path, comm, sizeof(comm)) <= 0)
		return 0;
	/* The kernel keeps 15 characters: nvidia-cuda-mps-control and -server. */
	others->mps |= !strncmp(comm, "nvidia-cuda-mps", 15);
	others->dcgm |= !strncmp(comm, "nv-hostengine", 13) || !strncmp(comm, "dcgm-exporter", 13);
	return 0;
}

/* "NVIDIA A100-4-20C", "GRID T4-2Q": a virtual GPU's model ends in its profile. */
static bool is_virtual(const char *model, size_t length)
{
	const char *end = model + length, *dash;

	while (end > model && isspace((unsigned char)end[-1]))
		end--;
	if (end == model || !strchr("ABCQ", end[-1]))
		return false;
	for (dash = end - 1; dash > model && isdigit((unsigned char)dash[-1]); dash--)
		;
	return dash < end - 1 && dash > model && dash[-1] == '-';
}

static int look_at_model(void *context, const char *path)
{
	struct setting *gpu = context;
	char text[4096];
	const char *model;

	if (filetree__read(gpu->tree, path, text, sizeof(text)) <= 0)
		return 0;
	model = strstr(text, "Model:");
	if (!model)
		return 0;
	model += strlen("Model:");
	model += strspn(model, " \t");
	if (!is_virtual(model, strcspn(model, "\n")))
		return 0;
	snprintf(gpu->file, sizeof(gpu->file), "%.*s", (int)strcspn(model, "\n"), model);
	return 1;
}

static void report_modes(struct filetree *tree, struct findings *findings)
{
	struct others others = {.tree = tree};
	struct setting gpu = {.tree = tree};

	if (any(tree, "/proc/driver/nvidia/capabilities/gpu*/mig/gi*"))
		findings__add(findings, FINDING_NOTE, "mig", NULL,
			      "MIG instances are set up: tracing works in them, counters only in a "
			      "program's own instance");
	filetree__glob(tree, "/proc/driver/nvidia/gpus/*/information", look_at_model, &gpu);
	if (*gpu.file)
		findings__add(findings, FINDING_NOTE, "vgpu",
			      "on its host: enable_profiling=1 among the virtual GPU's plugin "
			      "parameters",
			      "%s is a virtual GPU: tracing works, `profile` only where its host "
			      "allows it",
			      gpu.file);
	filetree__glob(tree, "/proc/[0-9]*/comm", look_at_comm, &others);
	if (others.mps)
		findings__add(findings, FINDING_NOTE, "mps", "echo quit | nvidia-cuda-mps-control",
			      "MPS is running: tracing works through it, counters do not");
	if (others.dcgm)
		findings__add(findings, FINDING_NOTE, "dcgm", "dcgmi profile --pause",
			      "DCGM is running: while it watches profiling fields, it holds the "
			      "counters that `profile` needs");
	if (filetree__exists(tree, "/dev/dxg"))
		findings__add(
			findings, FINDING_NOTE, "wsl_counters",
			"in Windows: NVIDIA Control Panel, Desktop, Enable Developer Settings; "
			"Manage GPU Performance Counters: allow all users",
			"this is WSL: Windows settings decide who may `profile`");
}

void profiling__report(struct filetree *tree, struct findings *findings)
{
	report_restriction(tree, findings);
	report_modes(tree, findings);
}

void profiling__report_process(struct filetree *tree, uint32_t pid, struct findings *findings)
{
	struct rights rights;
	char name[16];

	snprintf(name, sizeof(name), "%u", pid);
	rights = rights_of(tree, name);
	if (rights.known && restricted(tree) == 1)
		say_restricted(tree, &rights, "the process", "", findings);
}

static bool is_beside(const struct filetree *tree, const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');
	char path[2 * FILETREE_PATH_MAX];

	snprintf(path, sizeof(path), "%.*s/%s", slash ? (int)(slash - file) : 0, file, name);
	return filetree__exists(tree, path);
}

static int found(void *context, const char *name, const char *path)
{
	*(bool *)context = true;
	return 1;
}

/* libcupti opens it by its plain name, beside itself or as the loader finds it. */
static bool has_nvperf(const struct filetree *tree, const struct library *library, const char *file)
{
	bool cached = false;

	ldcache__each(tree, NVPERF, found, &cached);
	return cached || is_beside(tree, file, NVPERF) ||
	       (library->real && is_beside(tree, library->real, NVPERF));
}

void profiling__report_library(const struct libraries *libraries, const struct choice *choice,
			       struct findings *findings)
{
	const struct library *library = choice->found;
	const char *file = library ? choice__file(choice) : NULL;
	char cuda[16];

	if (!library)
		return;
	if (library->api && library->api < API_12_6)
		findings__add(findings, FINDING_NOTE, "profile_version", NULL,
			      "`profile` needs CUPTI of CUDA 12.6 or newer; the injection library "
			      "uses that of %s, which is enough for tracing",
			      library__cuda(library, cuda));
	else if (!has_nvperf(libraries->tree, library, file))
		findings__add(findings, FINDING_NOTE, "nvperf",
			      "copy " NVPERF
			      " from the package of this libcupti into the same folder",
			      "no " NVPERF
			      " beside %s: `profile --counters` does not work with this libcupti",
			      file);
	if (library->api >= API_12_6 && library->api < API_13_0 && libraries->driver_major >= 13)
		findings__add(findings, FINDING_NOTE, "counters_version",
			      "install libcupti of CUDA 13.0 or later (pip: nvidia-cuda-cupti)",
			      "`profile --counters` may return no values: with a CUDA 13 driver, "
			      "CUPTI of 12.8 and 12.9 returned none and reported no error; the "
			      "injection library uses that of %s",
			      library__cuda(library, cuda));
}
