// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. it is read while it is written: number comes last, and a checksum covers what
 * is read. 2. it is made to harm: everything is copied first, and the copy is what is checked; an
 * invalid request is reported and counts nothing. 3. a tool that is gone left it behind: without a
 * listener there is no request.
 */
#include "libcupti-usdt/profile/counter_requests.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/counter_request.h"
#include "libcupti-usdt/base/settings.h"
#include "libcupti-usdt/emit/status.h"

#define FNV_BASIS 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL

/* Written from outside the process. Not zero: so it lies in the library's own file mapping, by
 * which the writer distinguishes it from other memory. */
static volatile struct cuda_request place = {
	.magic = CUDA_REQUEST_MAGIC,
	.size = sizeof(place),
};

static struct cuda_request copy;
static struct request request;
static bool by_environment, taken, listened_before;

void counter_requests__open(void)
{
	const struct settings *settings = settings__get();

	by_environment = settings->counters != NULL;
	if (by_environment) {
		request = (struct request){settings->counters, settings->counters_kernels,
					   settings->counters_skip, settings->counters_limit,
					   settings->counters_graphs};
		return;
	}
	place.instance = status__instance();
	status__set_request((uintptr_t)&place);
}

const struct request *counter_requests__get(void)
{
	return &request;
}

static uint64_t sum_up(uint64_t sum, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < count; i++)
		sum = (sum ^ at[i]) * FNV_PRIME;
	return sum;
}

static void copy_place(void)
{
	volatile const uint8_t *from = (volatile const uint8_t *)&place;

	for (size_t i = 0; i < sizeof(copy); i++)
		((uint8_t *)&copy)[i] = from[i];
}

static bool is_name(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return length != 0;
}

/* Two texts that end where they should, and nothing behind them. */
static bool makes_sense(void)
{
	size_t metrics, kernels;
	uint64_t sum = FNV_BASIS;

	if (copy.bytes < 2 || copy.bytes > sizeof(copy.text))
		return false;
	sum = sum_up(sum, &copy.skip, sizeof(copy.skip));
	sum = sum_up(sum, &copy.limit, sizeof(copy.limit));
	sum = sum_up(sum, copy.text, copy.bytes);
	if (copy.flags)
		sum = sum_up(sum, &copy.flags, sizeof(copy.flags));
	if (sum != copy.checksum || copy.flags & ~CUDA_REQUEST_GRAPHS)
		return false;
	metrics = strnlen(copy.text, copy.bytes);
	if (metrics + 1 >= copy.bytes || !is_name(copy.text, metrics))
		return false;
	kernels = strnlen(copy.text + metrics + 1, copy.bytes - metrics - 1);
	return metrics + 1 + kernels + 1 == copy.bytes;
}

static bool take(void)
{
	const char *kernels;

	copy_place();
	place.taken = copy.number;
	/* An older tool that comes next does not write them. */
	place.flags = 0;
	if (!makes_sense()) {
		status__trouble(CUDA_AGENT_REQUEST, "request",
				"what is to be counted came damaged: nothing is");
		return false;
	}
	kernels = copy.text + strlen(copy.text) + 1;
	request = (struct request){copy.text, *kernels ? kernels : NULL, copy.skip, copy.limit,
				   copy.flags & CUDA_REQUEST_GRAPHS};
	return true;
}

bool counter_requests__look(bool listened, bool in_use)
{
	uint32_t number;

	if (by_environment)
		return true;
	if (!listened) {
		if (listened_before)
			place.number = place.taken = 0;
		listened_before = taken = false;
		return false;
	}
	listened_before = true;
	number = place.number;
	if (!number || number == place.taken)
		return taken;
	atomic_thread_fence(memory_order_acquire);
	taken = !in_use && take();
	return taken;
}
