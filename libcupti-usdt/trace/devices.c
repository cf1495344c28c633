// SPDX-License-Identifier: BSD-2-Clause
/*
 * Devices are sent as names are: when a consumer attaches, and again each second or so, because the
 * semaphore does not rise for a second one. Consumers know them by ordinal and keep the first.
 */
#include "libcupti-usdt/trace/devices.h"

#include <string.h>

#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/cupti/cuda_driver.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"

static bool reported; /* since somebody listens */

bool devices__are_due(void)
{
	if (!probe_sites__batch_wanted(CUDA_GROUP_DEVICE) || site_wanted(sandboxed))
		reported = false;
	else if (!reported)
		return true;
	return false;
}

void devices__tell(void)
{
	struct cuda_device device;
	const char *name;

	/* A call of the driver may be a system call. */
	if (!probe_sites__batch_wanted(CUDA_GROUP_DEVICE) || site_wanted(sandboxed) ||
	    !cuda_driver__learn_devices() || interned_names__open())
		return;
	for (uint32_t i = 0; (name = cuda_driver__device(i, &device)); i++) {
		device.head =
			(struct cuda_record){.kind = CUDA_RECORD_DEVICE, .size = sizeof(device)};
		device.name = interned_names__intern_text(name);
		/* Before it, always: this consumer may have come after the name was first sent. */
		if (device.name && site_wanted(name))
			probe_sites__name(status__instance(), device.name, name, strlen(name));
		batch__send_in_place(CUDA_GROUP_DEVICE, &device, sizeof(device), 1);
	}
	reported = true;
}
