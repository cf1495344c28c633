// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/gpu_set.h"

#include <string.h>

static int add(struct gpu_set *set, uint32_t ordinal)
{
	if (set->count == GPU_SET_MAX || (set->add && !set->add(set->context, set->count)))
		return -1;
	set->list[set->count] = (struct gpu_identity){.ordinal = ordinal};
	return set->count++;
}

int gpu_set__find(struct gpu_set *set, gpu_ordinals of, uint32_t ordinal)
{
	int index = -1;

	if (ordinal >= GPU_ORDINALS)
		return -1;
	if (of[ordinal])
		return of[ordinal] - 1;
	for (uint32_t i = 0; i < set->count && index < 0; i++)
		if (set->list[i].ordinal == ordinal)
			index = i;
	if (index < 0)
		index = add(set, ordinal);
	if (index >= 0)
		of[ordinal] = index + 1;
	return index;
}

static int find_known(const struct gpu_set *set, const struct cuda_device *device)
{
	for (uint32_t i = 0; i < set->count; i++) {
		const struct gpu_identity *gpu = &set->list[i];

		if (gpu->known && !memcmp(gpu->uuid, device->uuid, sizeof(gpu->uuid)) &&
		    !memcmp(gpu->mig_uuid, device->mig_uuid, sizeof(gpu->mig_uuid)))
			return i;
	}
	return -1;
}

int gpu_set__identify(struct gpu_set *set, gpu_ordinals of, const struct cuda_device *device)
{
	static const uint8_t none[16];
	int index = find_known(set, device), before;

	if (device->device >= GPU_ORDINALS || !memcmp(device->uuid, none, sizeof(none)))
		return -1;
	before = of[device->device] - 1;
	if (index < 0)
		index = before >= 0 && !set->list[before].known ? before : add(set, device->device);
	if (index < 0)
		return -1;
	set->list[index].known = true;
	memcpy(set->list[index].uuid, device->uuid, sizeof(device->uuid));
	memcpy(set->list[index].mig_uuid, device->mig_uuid, sizeof(device->mig_uuid));
	of[device->device] = index + 1;
	return index;
}
