// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kernel-side id → id of a text of the process. A handle that gets another name gets another id:
 * sums go by ids, and texts of ids stay. One that gets a name back that it had gets that one's id
 * back: programs that load modules for days stay bounded. Events come in the order in which calls
 * returned, so that a launch has the name that was reported before it. The tool's one thread.
 */
#include "cuda-trace/capture/driver_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/driver/driver_functions.h"
#include "cuda-trace/base/names.h"

/* Behind what an agent that stopped working may have reported. */
#define FIRST_ID 65536
#define MAX_IDS	 32768
/* Of one handle's names so many are compared with one that comes back: in a program that gives a
 * handle ever new names, each must not cost more than the one before. */
#define MAX_OLDER 64

/* The functions by which kernels were launched of which nothing is known. */
#define LAUNCHED_BY (DRIVER_FUNCTION_NAME - 0x100000)

struct slot {
	uint32_t key; /* the kernel side's id; 0 = free */
	uint32_t now; /* what it means */
	uint32_t newest;
};

struct driver_names {
	struct slot slots[2 * MAX_IDS];
	uint32_t older[MAX_IDS]; /* of FIRST_ID + i: the handle's id before it; 0 = none */
	uint32_t count;
};

void driver_names__free(struct driver_names *names)
{
	free(names);
}

/* Half of the slots are free at least, so it ends. */
static struct slot *find(struct driver_names *names, uint32_t key)
{
	for (uint32_t i = key * 2654435761u;; i++) {
		struct slot *slot = &names->slots[i % (2 * MAX_IDS)];

		if (slot->key == key || !slot->key)
			return slot;
	}
}

/* False: there is no space. */
static bool renew(struct driver_names *names, struct slot *slot, uint32_t key)
{
	if (names->count == MAX_IDS)
		return false;
	names->older[names->count] = slot->newest;
	slot->key = key;
	slot->now = slot->newest = FIRST_ID + names->count++;
	return true;
}

static struct slot *claim(struct process *process, uint32_t key)
{
	struct slot *slot;

	if (!process->driver_names)
		process->driver_names = calloc(1, sizeof(*process->driver_names));
	if (!process->driver_names || !key)
		return NULL;
	slot = find(process->driver_names, key);
	return slot->key || renew(process->driver_names, slot, key) ? slot : NULL;
}

static bool is_text(const struct process *process, uint32_t id, const char *text, size_t length)
{
	const char *known = process__name(process, id);

	return known && strlen(known) == length && !memcmp(known, text, length);
}

void driver_names__put(struct process *process, uint32_t id, const char *text, size_t length)
{
	struct slot *slot = claim(process, id);
	struct driver_names *names = process->driver_names;
	uint32_t own;

	if (!slot)
		return;
	length = strnlen(text, length);
	own = slot->newest;
	for (int i = 0; own && i < MAX_OLDER; i++, own = names->older[own - FIRST_ID])
		if (is_text(process, own, text, length)) {
			slot->now = own;
			return;
		}
	/* Where there is no space for another name, the kernel must not go by an earlier one. */
	if (process__name(process, slot->newest) && !renew(names, slot, id)) {
		slot->now = id;
		return;
	}
	slot->now = slot->newest;
	names__put(process->names, slot->now, text, length);
}

void driver_names__alias(struct process *process, uint32_t id, uint32_t other)
{
	struct slot *slot = claim(process, other);
	const char *text = slot ? process__name(process, slot->now) : NULL;

	if (text)
		driver_names__put(process, id, text, strlen(text));
}

static uint32_t kernel_of(struct process *process, uint32_t id, uint64_t handle)
{
	struct slot *slot = claim(process, id);

	if (slot && handle)
		names__note_handle(process->names, slot->now, handle);
	return slot ? slot->now : id;
}

/* Not what was launched, but by what, is in brackets. */
static uint32_t function_of(struct process *process, uint32_t id, bool launched)
{
	const char *name = driver_functions__name(id - DRIVER_FUNCTION_NAME);
	struct slot *slot = claim(process, launched ? id - DRIVER_FUNCTION_NAME + LAUNCHED_BY : id);
	char text[160];

	if (!slot || !name)
		return id;
	snprintf(text, sizeof(text), launched ? "[%s]" : "%s", name);
	names__put(process->names, slot->now, text, strlen(text));
	return slot->now;
}

const struct cuda_record *driver_names__translate(struct process *process,
						  const struct cuda_record *record,
						  struct driver_names_capacity *capacity)
{
	struct driver_launch *launch = (void *)capacity;
	struct cuda_api *api = (void *)capacity;

	if ((record->kind == CUDA_RECORD_LAUNCH || record->kind == CUDA_RECORD_GRAPH_LAUNCH) &&
	    record->size == sizeof(*launch)) {
		memcpy(launch, record, sizeof(*launch));
		launch->launch.cbid = driver_functions__cbid(launch->launch.cbid);
		launch->launch.name =
			launch->launch.name >= DRIVER_FUNCTION_NAME
				? function_of(process, launch->launch.name, true)
				: kernel_of(process, launch->launch.name, launch->kernel);
		return &launch->launch.head;
	}
	if (record->kind == CUDA_RECORD_API && record->size == sizeof(*api)) {
		memcpy(api, record, sizeof(*api));
		api->name = function_of(process, api->name, false);
		if (api->flags & CUDA_API_LAUNCH && api->arguments.launch.kernel)
			api->arguments.launch.kernel =
				kernel_of(process, api->arguments.launch.kernel, 0);
		return &api->head;
	}
	return record;
}
