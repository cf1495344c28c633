// SPDX-License-Identifier: BSD-2-Clause
/*
 * The CUDA driver. Its functions are looked up in the copy that has just loaded us. The properties
 * of devices come from it and not from CUPTI, which emits them only while an activity kind is on,
 * never again for a later consumer, and without the PCI address. None of the driver's functions may
 * be called where records are decoded, so all of it is fetched before.
 */
#include "libcupti-usdt/cupti/cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/probes.h"

#define DEVICES 32

enum attribute { CLOCK_RATE = 13, MULTIPROCESSORS = 16, MAJOR = 75, MINOR = 76 };

static struct {
	int (*version)(int *);
	int (*count)(int *);
	int (*get)(int *, int);
	int (*pci)(char *, int, int);
	int (*name)(char *, int, int);
	int (*memory)(size_t *, int);
	int (*attribute)(int *, int, int);
	int (*uuid)(uint8_t[16], int);	  /* of the GPU */
	int (*uuid_v2)(uint8_t[16], int); /* of the MIG instance where there is one */
	int (*function_name)(const char **, void *);
	int (*kernel_name)(const char **, void *);
	int (*node_params)(void *, struct graph_kernel *);
} driver;

static struct {
	struct cuda_device facts;
	char name[128];
} devices[DEVICES];
static int device_count;
static atomic_bool learned;

static _Atomic(pthread_t) asking;

bool cuda_driver__asks_itself(void)
{
	return pthread_equal(atomic_load_explicit(&asking, memory_order_relaxed), pthread_self());
}

uint32_t cuda_driver__open(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int version = 0;

	if (!library)
		return 0;
	*(void **)&driver.version = dlsym(library, "cuDriverGetVersion");
	*(void **)&driver.count = dlsym(library, "cuDeviceGetCount");
	*(void **)&driver.get = dlsym(library, "cuDeviceGet");
	*(void **)&driver.pci = dlsym(library, "cuDeviceGetPCIBusId");
	*(void **)&driver.name = dlsym(library, "cuDeviceGetName");
	*(void **)&driver.memory = dlsym(library, "cuDeviceTotalMem_v2");
	*(void **)&driver.attribute = dlsym(library, "cuDeviceGetAttribute");
	*(void **)&driver.uuid = dlsym(library, "cuDeviceGetUuid");
	*(void **)&driver.uuid_v2 = dlsym(library, "cuDeviceGetUuid_v2");
	*(void **)&driver.function_name = dlsym(library, "cuFuncGetName");
	*(void **)&driver.kernel_name = dlsym(library, "cuKernelGetName");
	*(void **)&driver.node_params = dlsym(library, "cuGraphKernelNodeGetParams_v2");
	if (driver.version && driver.version(&version))
		version = 0;
	dlclose(library);
	return version;
}

const char *cuda_driver__kernel_name(void *function, void *kernel)
{
	const char *name = NULL;

	if (function && driver.function_name && !driver.function_name(&name, function))
		return name;
	if (!function && kernel && driver.kernel_name && !driver.kernel_name(&name, kernel))
		return name;
	return NULL;
}

const char *cuda_driver__node_kernel_name(void *node)
{
	struct graph_kernel kernel = {0};

	if (!node || !driver.node_params || driver.node_params(node, &kernel))
		return NULL;
	return cuda_driver__kernel_name(kernel.function, kernel.kernel);
}

static uint32_t attribute(enum attribute which, int handle)
{
	int value = 0;

	return driver.attribute && !driver.attribute(&value, which, handle) && value > 0 ? value
											 : 0;
}

/* What a function does not tell, or is too old to be there for, stays empty. */
static void learn_device(int ordinal)
{
	struct cuda_device *to = &devices[ordinal].facts;
	char *name = devices[ordinal].name;
	size_t memory = 0;
	int handle = ordinal;

	to->device = ordinal;
	if (driver.get && driver.get(&handle, ordinal))
		handle = ordinal;
	if (!driver.pci || driver.pci(to->pci, sizeof(to->pci), handle))
		to->pci[0] = '\0';
	if (!driver.name || driver.name(name, sizeof(devices[0].name), handle))
		name[0] = '\0';
	if (driver.memory && !driver.memory(&memory, handle))
		to->memory = memory;
	to->major = attribute(MAJOR, handle);
	to->minor = attribute(MINOR, handle);
	to->multiprocessors = attribute(MULTIPROCESSORS, handle);
	to->core_clock = attribute(CLOCK_RATE, handle);
	if (driver.uuid && driver.uuid(to->uuid, handle))
		memset(to->uuid, 0, sizeof(to->uuid));
	/* A MIG instance has a UUID of its own; which instance it is the driver does not say. */
	if (driver.uuid && driver.uuid_v2 && !driver.uuid_v2(to->mig_uuid, handle) &&
	    memcmp(to->uuid, to->mig_uuid, sizeof(to->uuid)))
		to->mig = 1;
	else
		memset(to->mig_uuid, 0, sizeof(to->mig_uuid));
}

bool cuda_driver__learn_devices(void)
{
	int count = 0;
	bool ready;

	if (atomic_load(&learned) || !driver.count)
		return true;
	atomic_store(&asking, pthread_self());
	launch_state__detour(DETOUR_DRIVER, true);
	ready = !driver.count(&count);
	device_count = count < DEVICES ? count : DEVICES;
	for (int i = 0; ready && i < device_count; i++)
		learn_device(i);
	launch_state__detour(DETOUR_DRIVER, false);
	if (ready)
		atomic_store(&learned, true);
	return ready;
}

bool cuda_driver__knows_devices(void)
{
	return atomic_load(&learned);
}

const char *cuda_driver__device(uint32_t device, struct cuda_device *to)
{
	if (!atomic_load(&learned) || device >= (uint32_t)device_count)
		return NULL;
	*to = devices[device].facts;
	return devices[device].name;
}

void cuda_driver__pci(uint32_t device, char *text, size_t size)
{
	struct cuda_device facts = {};

	memset(text, 0, size);
	if (cuda_driver__device(device, &facts))
		memcpy(text, facts.pci, size < sizeof(facts.pci) ? size : sizeof(facts.pci));
}
