// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the CDI specification. Version 0.3.0 is what env and mounts need, and the lower the
 * version, the more container engines read it. The format:
 * https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md
 * Called by enable and disable; one thread.
 */
#include "cuda-trace/optin/cdi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/inventory/libcupti_choice.h"
#include "cuda-trace/inventory/driver_inventory.h"
#include "cuda-trace/inventory/elf_reader.h"
#include "cuda-trace/inventory/filetree.h"
#include "cuda-trace/inventory/libcupti_list.h"
#include "cuda-trace/optin/optin.h"
#include "cuda-trace/base/managed_file.h"
#include "cuda-trace/base/text.h"
#include "libcupti-usdt/probes.h"

/* The same in every image, whatever its distribution's folders: the ld cache of an image does not
 * know the agent, so it is named by its whole path; and the last place where the agent looks for
 * a libcupti is beside it. */
#define INSIDE	     "/usr/lib/cuda-trace/"

#define OLDEST_MAJOR 11
#define NEWEST_MAJOR 13

static void write_mount(FILE *file, const char *host, const char *inside)
{
	fprintf(file, "        - hostPath: ");
	text__write_json(file, host);
	fprintf(file, "\n          containerPath: ");
	text__write_json(file, inside);
	fprintf(file, "\n          options: [\"ro\", \"nosuid\", \"nodev\", \"bind\"]\n");
}

static void write_agent(FILE *file, const char *agent)
{
	fprintf(file,
		"  - name: \"guest\"\n    containerEdits:\n      env:\n"
		"        - \"" OPTIN_VARIABLE "=" INSIDE CUDA_AGENT_NAME "\"\n      mounts:\n");
	write_mount(file, agent, INSIDE CUDA_AGENT_NAME);
}

/* The best libcupti of each major that the driver can serve; how many were written. */
static unsigned int write_cupti(FILE *file, struct libraries *libraries)
{
	unsigned int major = libraries->driver_major ?: NEWEST_MAJOR, written = 0;
	char inside[64];

	for (; major >= OLDEST_MAJOR; major--) {
		struct choice_inputs inputs = {.driver_major = major};
		struct choice choice = {};

		choice__make(libraries, &inputs, &choice);
		if (!choice.found || !choice.found->real || choice.found->cuda_major != major)
			continue;
		if (!written++)
			fprintf(file, "  - name: \"cupti\"\n    containerEdits:\n      mounts:\n");
		snprintf(inside, sizeof(inside), INSIDE "cupti/%u/libcupti.so.%u%s", major, major,
			 major == 11 ? ".8" : "");
		write_mount(file, choice.found->real, inside);
	}
	return written;
}

static unsigned int write_devices(FILE *file, struct filetree *tree, const char *root,
				  const char *agent)
{
	struct libraries libraries = {.tree = tree, .machine = elf__own_machine(), .ask = !root};
	struct driver driver;
	unsigned int written;

	driver__read(tree, &driver);
	libraries.driver_major = driver.cuda / 1000;
	libraries__search(&libraries, false, NULL);
	libraries__check(&libraries);
	fprintf(file, " --cdi; cuda-trace disable --cdi removes it.\n"
		      "cdiVersion: \"0.3.0\"\nkind: \"cuda-trace/load\"\ndevices:\n");
	write_agent(file, agent);
	written = write_cupti(file, &libraries);
	libraries__free(&libraries);
	return written;
}

static int explain(int err)
{
	if (err == -EEXIST)
		fprintf(stderr, "cuda-trace: " CDI_PATH
				" was not written by cuda-trace: it is not changed\n");
	else if (err)
		fprintf(stderr, "cuda-trace: " CDI_PATH ": %s%s\n", managed_file__reason(err),
			err == -EACCES || err == -EPERM ? " (root can: sudo cuda-trace ...)" : "");
	return err;
}

int cdi__enable(const char *root)
{
	char agent[PATH_MAX], *text = NULL;
	struct filetree tree;
	size_t size;
	unsigned int cupti;
	FILE *file;
	int err;

	optin__agent(root, agent);
	if (!*agent) {
		fprintf(stderr, "cuda-trace: the library is not installed: install the package "
				"libcupti-usdt\n");
		return -ENOENT;
	}
	err = filetree__open(&tree, root);
	if (err)
		return explain(err);
	file = open_memstream(&text, &size);
	if (!file) {
		filetree__close(&tree);
		return explain(-ENOMEM);
	}
	cupti = write_devices(file, &tree, root, agent);
	filetree__close(&tree);
	err = fclose(file) ? -ENOMEM : managed_file__write(root, CDI_PATH, text);
	free(text);
	if (explain(err))
		return err;
	printf("Containers get the library by --device cuda-trace/load=guest%s.\n",
	       cupti ? ",\nand this machine's libcupti, where their image has none, by a second "
		       "--device cuda-trace/load=cupti"
		     : ";\nthis machine has no libcupti for them");
	return 0;
}

int cdi__disable(const char *root)
{
	int err = explain(managed_file__remove(root, CDI_PATH));

	if (!err)
		printf("Removed " CDI_PATH ".\n");
	return err;
}
