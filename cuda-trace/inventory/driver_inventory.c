// SPDX-License-Identifier: BSD-2-Clause
/*
 * The driver, from /sys and libcuda itself: nvidia-smi takes a second.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/inventory/driver_inventory.h"
#include "cuda-trace/inventory/ldcache.h"
#include "cuda-trace/inventory/libcupti_version.h"

/* The newest CUDA that a branch of the driver runs. */
static const struct {
	unsigned int branch, cuda;
} branches[] = {
	{450, 11000}, {455, 11010}, {460, 11020}, {465, 11030}, {470, 11040}, {495, 11050},
	{510, 11060}, {515, 11070}, {520, 11080}, {525, 12000}, {530, 12010}, {535, 12020},
	{545, 12030}, {550, 12040}, {555, 12050}, {560, 12060}, {565, 12070}, {570, 12080},
	{575, 12090}, {580, 13000}, {590, 13010},
};

static int note_libcuda(void *context, const char *name, const char *path)
{
	struct driver *driver = context;

	if (strcmp(name, "libcuda.so.1"))
		return 0;
	snprintf(driver->libcuda, sizeof(driver->libcuda), "%s", path);
	return 1;
}

static void find_libcuda(const struct filetree *tree, struct driver *driver)
{
	static const char *const folders[] = {
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
		"/usr/local/nvidia/lib64",   "/usr/lib/wsl/lib",	   "/usr/lib",
	};
	const char *list = getenv("LD_LIBRARY_PATH");
	size_t i, n;

	for (; list && *list; list += n + (list[n] == ':')) {
		n = strcspn(list, ":");
		snprintf(driver->libcuda, sizeof(driver->libcuda), "%.*s/libcuda.so.1", (int)n,
			 list);
		if (*driver->libcuda == '/' && filetree__exists(tree, driver->libcuda))
			return;
	}
	driver->libcuda[0] = '\0';
	ldcache__each(tree, "libcuda.so.1", note_libcuda, driver);
	if (*driver->libcuda && filetree__exists(tree, driver->libcuda))
		return;
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(driver->libcuda, sizeof(driver->libcuda), "%s/libcuda.so.1", folders[i]);
		if (filetree__exists(tree, driver->libcuda))
			return;
	}
	driver->libcuda[0] = '\0';
}

static void guess_cuda(struct driver *driver)
{
	unsigned int branch = strtoul(driver->module, NULL, 10);
	size_t i;

	for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if (branch >= branches[i].branch)
			driver->cuda = branches[i].cuda;
	driver->guessed = driver->cuda != 0;
}

void driver__read(const struct filetree *tree, struct driver *driver)
{
	int fd;

	memset(driver, 0, sizeof(*driver));
	filetree__read(tree, "/sys/module/nvidia/version", driver->module, sizeof(driver->module));
	driver->module[strcspn(driver->module, "\n")] = '\0';
	find_libcuda(tree, driver);
	if (*driver->libcuda) {
		fd = filetree__file(tree, driver->libcuda, NULL);
		if (fd >= 0) {
			if (version__ask(fd, "cuDriverGetVersion", &driver->cuda))
				driver->cuda = 0;
			close(fd);
		}
	}
	if (!driver->cuda)
		guess_cuda(driver);
}
