// SPDX-License-Identifier: BSD-2-Clause
/*
 * The CUDA driver. Its functions are looked up in the copy that has just loaded us. CUPTI's device
 * records have no PCI address, and none of the driver's functions may be called where they are
 * decoded, so the addresses are fetched before those records are asked for.
 */
#include "libcupti-usdt/driver.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#define DEVICES	  32
#define PCI_BYTES 16

static int (*get_version)(int *);
static int (*get_count)(int *);
static int (*get_pci)(char *, int, int);
static char pci[DEVICES][PCI_BYTES];
static atomic_bool learned;

uint32_t driver__open(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int version = 0;

	if (!driver)
		return 0;
	*(void **)&get_version = dlsym(driver, "cuDriverGetVersion");
	*(void **)&get_count = dlsym(driver, "cuDeviceGetCount");
	*(void **)&get_pci = dlsym(driver, "cuDeviceGetPCIBusId");
	if (get_version && get_version(&version))
		version = 0;
	dlclose(driver);
	return version;
}

bool driver__learn_devices(void)
{
	int count = 0;

	if (atomic_load(&learned) || !get_count || !get_pci)
		return true;
	if (get_count(&count))
		return false;
	for (int i = 0; i < count && i < DEVICES; i++)
		if (get_pci(pci[i], PCI_BYTES, i))
			pci[i][0] = '\0';
	atomic_store(&learned, true);
	return true;
}

void driver__pci(uint32_t device, char *text, size_t size)
{
	memset(text, 0, size);
	if (device < DEVICES && atomic_load(&learned))
		memcpy(text, pci[device], size < PCI_BYTES ? size : PCI_BYTES);
}
