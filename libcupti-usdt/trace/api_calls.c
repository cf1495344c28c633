// SPDX-License-Identifier: BSD-2-Clause
/*
 * API calls by family. A tool cannot send a pattern into a process, but it can raise a semaphore:
 * each family has one, so that `--api 'cudaMalloc*'` costs the program its memory calls only. The
 * call's name decides its family, in this order, so that calls of future versions find theirs.
 */
#include "libcupti-usdt/trace/api_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/api_families.h"
#include "libcupti-usdt/trace/call_arguments.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/base/timestamps.h"

struct family {
	const char *part;
	unsigned int group;
};

static const struct family families[] = {
#define RULE(part, name, beginnings) {part, CUDA_GROUP_##name},
	CUDA_FAMILY_RULES(RULE)
#undef RULE
};

static uint8_t groups[2][API_CBIDS];  /* 0: no such call (no family is group 0) */
static uint8_t sorts[API_CBIDS];      /* of the driver API */
static uint32_t profiler_calls[2][2]; /* by domain: cbids of ...ProfilerStart, -Stop; 0 = none */
static bool learned;

uint32_t api_calls__groups(void)
{
	uint32_t mask = API_CALLS_FAILED;

#define FAMILY_BIT(NAME, probe, text) mask |= 1U << CUDA_GROUP_##NAME;
	CUDA_API_FAMILIES(FAMILY_BIT)
#undef FAMILY_BIT
	return mask;
}

static unsigned int group_of_name(const char *name)
{
	if (!strncmp(name, "cuda", 4))
		name += 4;
	else if (!strncmp(name, "cu", 2))
		name += 2;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const char *part = families[i].part;

		if (part[0] == '^' ? !strncmp(name, part + 1, strlen(part + 1))
				   : strstr(name, part) != NULL)
			return families[i].group;
	}
	return CUDA_GROUP_API_OTHER;
}

/* Those that the driver carries out by kernels of its own. */
static enum api_calls_sort sort_of(const char *name)
{
	if (!strncmp(name, "cuMemset", 8) || !strncmp(name, "cuMemcpyDtoD", 12))
		return API_CALLS_FILL;
	if (!strncmp(name, "cuStreamBeginCapture", 20))
		return API_CALLS_CAPTURE_BEGINS;
	return strncmp(name, "cuStreamEndCapture", 18) ? API_CALLS_ANY : API_CALLS_CAPTURE_ENDS;
}

/* CUPTI's names of runtime calls end in a version. */
static void note_profiler_call(int domain, uint32_t cbid, const char *name)
{
	const char *part = strstr(name, "ProfilerSt");

	if (part)
		profiler_calls[domain - 1][!strncmp(part, "ProfilerStop", 12)] = cbid;
}

/* A tool may collect between the two: what begins after such a call must arrive after it. */
static bool is_profiler_call(const struct cuda_api *call)
{
	const uint32_t *calls = profiler_calls[call->domain - 1];

	return call->cbid && (call->cbid == calls[0] || call->cbid == calls[1]);
}

void api_calls__learn(void)
{
	const struct cupti *cupti = cupti_api__get();

	if (learned || !cupti->GetCallbackName)
		return;
	for (int domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_RUNTIME; domain++)
		for (uint32_t cbid = 1; cbid < API_CBIDS; cbid++) {
			const char *name = NULL;

			if (!cupti->GetCallbackName(domain, cbid, &name) && name)
				groups[domain - 1][cbid] = group_of_name(name);
			if (domain == CUPTI_DOMAIN_DRIVER && name)
				sorts[cbid] = sort_of(name);
			if (name)
				note_profiler_call(domain, cbid, name);
		}
	learned = true;
}

unsigned int api_calls__group(int domain, uint32_t cbid)
{
	return cbid < API_CBIDS ? groups[domain - 1][cbid] : CUDA_GROUP_API_OTHER;
}

enum api_calls_sort api_calls__sort(uint32_t cbid)
{
	return cbid < API_CBIDS ? sorts[cbid] : API_CALLS_ANY;
}

static void send(struct ring *ring, unsigned int group, const struct cuda_api *call)
{
	struct cuda_api timed = *call;

	if (probe_sites__batch_wanted(group)) {
		if (group == CUDA_GROUP_API_CONTEXT && is_profiler_call(call))
			rings__send_now(group, &call->head);
		else
			ring__append(ring, group, &call->head);
	}
	if (!probe_sites__readable_wanted(group))
		return;
	timed.start = timestamps__to_ns(call->start);
	timed.end = timestamps__to_ns(call->end);
	if (group == CUDA_GROUP_API_ERROR)
		probe_sites__api_error(&timed, interned_names__text(call->name),
				       call_arguments__first(call), call_arguments__second(call),
				       call_arguments__kernel(call));
	else
		probe_sites__api(group, &timed, interned_names__text(call->name));
}

struct cuda_api api_calls__describe(struct ring *ring, int domain, uint32_t cbid,
				    const struct cupti_callback_data *data, uint64_t start,
				    uint64_t end)
{
	return (struct cuda_api){
		.head = {.size = sizeof(struct cuda_api), .correlation = data->correlation},
		.start = start,
		.end = end,
		.tid = ring__tid(ring),
		.name = interned_names__intern(data->function_name),
		.context = data->context_id,
		.result = data->return_value ? *(const int *)data->return_value : 0,
		.cbid = cbid,
		.domain = domain,
	};
}

uint32_t api_calls__failures(unsigned int family)
{
	uint32_t memory = 1U << CUDA_GROUP_API_MEMORY | 1U << CUDA_GROUP_API_COPY;

	return memory >> family & 1 ? API_CALLS_FAILED : 1U << CUDA_GROUP_API_ERROR;
}

void api_calls__record(struct ring *ring, uint32_t on, int domain, uint32_t cbid,
		       const struct cupti_callback_data *data, uint64_t start, uint64_t end)
{
	unsigned int group = api_calls__group(domain, cbid);
	int result = data->return_value ? *(const int *)data->return_value : 0;
	uint32_t failed = 0;
	struct cuda_api call;

	if (!group)
		group = CUDA_GROUP_API_OTHER;
	if (result)
		failed = on & api_calls__failures(group);
	if (domain == CUPTI_DOMAIN_RUNTIME)
		ring__set_runtime_call(ring, 0);
	if (!(failed | (on & 1U << group)))
		return;
	call = api_calls__describe(ring, domain, cbid, data, start, end);
	call.head.kind = CUDA_RECORD_API;
	call.flags = ring__runtime_call(ring) == data->correlation ? CUDA_API_NESTED : 0;
	call.group = group;
	call_arguments__read(&call, domain, cbid, data);
	if (on & 1U << group)
		send(ring, group, &call);
	if (failed & 1U << CUDA_GROUP_API_ERROR)
		send(ring, CUDA_GROUP_API_ERROR, &call);
	if (failed & 1U << CUDA_GROUP_MEMORY_ERROR)
		send(ring, CUDA_GROUP_MEMORY_ERROR, &call);
}
