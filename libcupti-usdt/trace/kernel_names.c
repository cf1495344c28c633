// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/trace/kernel_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/interned_names.h"

static _Atomic(uint64_t) *names; /* correlation id, and below it the name's id */
static atomic_bool kept;	 /* CUPTI has seen some */

int kernel_names__open(void)
{
	if (names || cupti_api__get()->version < CUPTI_VERSION_13_0)
		return 0;
	names = memory__map(KERNEL_NAMES * sizeof(*names));
	return names ? 0 : -ENOMEM;
}

void kernel_names__begin(void)
{
	atomic_store(&kept, true);
}

void kernel_names__moved(void)
{
	if (atomic_load(&kept))
		atomic_store(&hot.launched_names, names);
}

void kernel_names__launches(uint32_t correlation, const char *name)
{
	_Atomic(uint64_t) *launched =
		atomic_load_explicit(&hot.launched_names, memory_order_relaxed);
	uint32_t id = interned_names__at_hand(name, correlation);

	id = id ? id : interned_names__intern(name);
	if (id && launched)
		atomic_store_explicit(&launched[correlation % KERNEL_NAMES],
				      (uint64_t)correlation << 32 | id, memory_order_relaxed);
}

uint32_t kernel_names__of(uint32_t correlation)
{
	uint64_t found;

	if (!atomic_load_explicit(&hot.launched_names, memory_order_relaxed))
		return 0;
	found = atomic_load_explicit(&names[correlation % KERNEL_NAMES], memory_order_relaxed);
	return found >> 32 == correlation ? (uint32_t)found : 0;
}
