// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads /proc and /sys: nvidia-smi takes a second.
 */
#include "cuda-trace/doctor/doctor_driver.h"

#include <json-c/json.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/doctor/doctor_findings.h"
#include "cuda-trace/driver/driver_functions.h"
#include "cuda-trace/inventory/driver_inventory.h"
#include "cuda-trace/inventory/filetree.h"

#define NVIDIA_VENDOR "0x10de"

static bool is_wsl(const struct filetree *tree)
{
	return filetree__exists(tree, "/dev/dxg") || filetree__is_dir(tree, "/usr/lib/wsl/lib");
}

struct gpus {
	const struct filetree *tree;
	unsigned int pci;      /* NVIDIA display controllers on the bus */
	unsigned int known;    /* to the driver */
	unsigned int excluded; /* by the administrator */
	char models[256];
};

static int count_pci(void *context, const char *path)
{
	struct gpus *gpus = context;
	char file[FILETREE_PATH_MAX], value[32];

	snprintf(file, sizeof(file), "%s/vendor", path);
	if (filetree__read(gpus->tree, file, value, sizeof(value)) <= 0 ||
	    strncmp(value, NVIDIA_VENDOR, strlen(NVIDIA_VENDOR)))
		return 0;
	snprintf(file, sizeof(file), "%s/class", path);
	if (filetree__read(gpus->tree, file, value, sizeof(value)) > 0 &&
	    !strncmp(value, "0x03", 4))
		gpus->pci++;
	return 0;
}

static int count_known(void *context, const char *path)
{
	struct gpus *gpus = context;
	char text[4096], *model;
	size_t n = strlen(gpus->models);

	gpus->known++;
	if (filetree__read(gpus->tree, path, text, sizeof(text)) <= 0)
		return 0;
	model = strstr(text, "GPU Excluded:");
	gpus->excluded += model && !strncmp(model + 13 + strspn(model + 13, " \t"), "Yes", 3);
	model = strstr(text, "Model:");
	if (model) {
		model += strlen("Model:") + strspn(model + strlen("Model:"), " \t");
		snprintf(gpus->models + n, sizeof(gpus->models) - n, "%s%.*s", n ? ", " : "",
			 (int)strcspn(model, "\n"), model);
	}
	return 0;
}

static void report_gpus(struct filetree *tree, struct findings *findings)
{
	struct gpus gpus = {.tree = tree};

	filetree__glob(tree, "/sys/bus/pci/devices/*", count_pci, &gpus);
	filetree__glob(tree, "/proc/driver/nvidia/gpus/*/information", count_known, &gpus);
	if (gpus.known)
		findings__add(findings, FINDING_OK, "gpus", NULL, "%u GPU%s: %s", gpus.known,
			      gpus.known == 1 ? "" : "s",
			      *gpus.models ? gpus.models : "model unknown");
	else if (is_wsl(tree))
		findings__add(
			findings, FINDING_NOTE, "wsl", NULL,
			"this is WSL: CUPTI traces there with driver 525 or newer on Windows 11");
	else if (gpus.pci)
		findings__add(findings, FINDING_PROBLEM, "gpus", "modprobe nvidia",
			      "%u NVIDIA GPU%s on the bus that the driver does not manage",
			      gpus.pci, gpus.pci == 1 ? "" : "s");
	else
		findings__add(findings, FINDING_PROBLEM, "gpus", NULL,
			      "no NVIDIA GPU in this machine");
	if (gpus.excluded)
		findings__add(findings, FINDING_NOTE, "gpus_excluded", NULL,
			      "%u of them excluded from use by the driver's settings",
			      gpus.excluded);
	if (gpus.known && gpus.pci > gpus.known)
		findings__add(findings, FINDING_NOTE, "gpus_missing", "dmesg | grep -i nvrm",
			      "%u NVIDIA GPUs on the bus, but the driver manages only %u", gpus.pci,
			      gpus.known);
	if (gpus.known && access("/dev/nvidiactl", R_OK | W_OK))
		findings__add(findings, FINDING_PROBLEM, "gpu_devices",
			      "nvidia-modprobe, or usermod -aG video \"$USER\"",
			      "/dev/nvidiactl cannot be opened by this user: CUDA programs of this "
			      "user fail");
}

/* As source driver would take them. */
static void report_launches(const struct driver *driver, struct findings *findings)
{
	struct driver_probes probes;
	struct json_object *facts;

	if (driver_functions__find(driver->libcuda, true, &probes) || !probes.launches)
		return;
	facts = json_object_new_object();
	json_object_object_add(facts, "functions", json_object_new_int64(probes.launches));
	json_object_object_add(facts, "at_entry", json_object_new_int64(probes.reported_at_entry));
	if (probes.reported_at_entry == probes.launches)
		findings__add_facts(
			findings, FINDING_OK, "driver_launches", NULL, facts,
			"stat sees launches of programs without the injection library at their "
			"entry, and those that fail inside the function (%u functions)",
			probes.launches);
	else
		findings__add_facts(findings, FINDING_OK, "driver_launches", NULL, facts,
				    "stat sees launches of programs without the injection library "
				    "when they return, which costs more, for %u of %u functions: "
				    "the tool does not know the form of their code",
				    probes.launches - probes.reported_at_entry, probes.launches);
}

void driver__report(struct filetree *tree, const struct driver *driver, struct findings *findings)
{
	if (!*driver->module && !*driver->libcuda)
		findings__add(findings, FINDING_PROBLEM, "driver", NULL,
			      "no NVIDIA driver: neither its kernel module nor libcuda.so.1; no "
			      "CUDA program can run here");
	else if (!*driver->libcuda)
		findings__add(
			findings, FINDING_PROBLEM, "driver", NULL,
			"the kernel module %s is loaded, but there is no libcuda.so.1 for programs",
			driver->module);
	else if (!driver->cuda)
		findings__add(findings, FINDING_NOTE, "driver", NULL,
			      "the version of %s cannot be read", driver->libcuda);
	else
		findings__add(findings, FINDING_OK, "driver", NULL, "driver %s, CUDA %u.%u%s (%s)",
			      *driver->module ? driver->module : "without a kernel module",
			      driver->cuda / 1000, driver->cuda % 1000 / 10,
			      driver->guessed ? " by its version" : "", driver->libcuda);
	if (tree->own && *driver->libcuda)
		report_launches(driver, findings);
	report_gpus(tree, findings);
}
