// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which range or mark a call of NVTX means: callbacks of CUPTI, and what comes from the library of
 * the payload extension.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/base/timestamps.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/trace/nvtx.h"
#include "libcupti-usdt/trace/nvtx_names.h"
#include "libcupti-usdt/trace/nvtx_payloads.h"
#include "libcupti-usdt/trace/nvtx_ranges.h"

#define OURS (1ull << 62) /* ids of ranges that libcupti does not know */

static struct nvtx_range make_range(uint64_t domain, uint32_t text)
{
	return (struct nvtx_range){.start = timestamps__to_ns(timestamps__now()),
				   .handle = domain,
				   .text = text,
				   .domain = nvtx_names__of(domain),
				   .tid = ring__tid(rings__mine())};
}

static void set_payload(struct nvtx_range *range, const struct nvtx_attributes *attributes)
{
	uint32_t text = 0;

	if (attributes->payload_type == NVTX_PAYLOAD_EXTENDED) {
		range->kept = nvtx_payloads__keep(0, range->handle,
						  (const void *)(uintptr_t)attributes->payload,
						  (uint32_t)attributes->reserved, &text);
		range->payload_kind = range->kept ? CUDA_NVTX_SCHEMA : 0;
		range->text = range->text ? range->text : text;
	} else if (attributes->payload_type >= CUDA_NVTX_UINT64 &&
		   attributes->payload_type <= CUDA_NVTX_FLOAT) {
		range->payload_kind = attributes->payload_type;
		range->payload = attributes->payload_type < CUDA_NVTX_UINT32
					 ? attributes->payload
					 : (uint32_t)attributes->payload;
	}
}

static struct nvtx_range make_range_of_payloads(uint64_t domain,
						const struct nvtx_payload_data *data, size_t count)
{
	struct nvtx_range range = make_range(domain, 0);

	range.kept = nvtx_payloads__keep(0, domain, data, count, &range.text);
	range.payload_kind = range.kept ? CUDA_NVTX_SCHEMA : 0;
	if (!range.text)
		range.text = nvtx_payloads__schema_name(domain, data, count);
	return range;
}

static struct nvtx_range make_range_ex(uint64_t domain, const struct nvtx_attributes *attributes)
{
	struct nvtx_range range = make_range(domain, 0);

	if (!attributes || attributes->size < sizeof(*attributes))
		return range;
	range.color = attributes->color_type ? attributes->color : 0;
	range.category = attributes->category;
	range.category_name = nvtx_names__category(domain, range.category);
	if (attributes->message_type == NVTX_MESSAGE_ASCII)
		range.text = interned_names__intern_text(attributes->message);
	else if (attributes->message_type == NVTX_MESSAGE_WIDE)
		range.text = nvtx_names__wide(attributes->message);
	else if (attributes->message_type == NVTX_MESSAGE_REGISTERED)
		range.text = nvtx_names__of((uintptr_t)attributes->message);
	set_payload(&range, attributes);
	return range;
}

static uint64_t result_of(const struct cupti_nvtx_data *data)
{
	return data->return_value ? *(const uint64_t *)data->return_value : 0;
}

static void plain_call(uint32_t cbid, const struct cupti_nvtx_data *data)
{
	const union nvtx_params *params = data->params;
	const struct nvtx_category_params *category = data->params;

	switch (cbid) {
	case NVTX_MarkA:
		nvtx_ranges__mark(make_range(0, interned_names__intern_text(params->text)));
		break;
	case NVTX_MarkW:
		nvtx_ranges__mark(make_range(0, nvtx_names__wide(params->wide)));
		break;
	case NVTX_MarkEx:
		nvtx_ranges__mark(make_range_ex(0, params->attributes));
		break;
	case NVTX_RangePushA:
		nvtx_ranges__push(make_range(0, interned_names__intern_text(params->text)));
		break;
	case NVTX_RangePushEx:
		nvtx_ranges__push(make_range_ex(0, params->attributes));
		break;
	case NVTX_RangePushW:
		nvtx_ranges__push(make_range(0, nvtx_names__wide(params->wide)));
		break;
	case NVTX_RangePop:
		nvtx_ranges__pop(0, NULL, 0);
		break;
	case NVTX_RangeStartA:
		nvtx_ranges__start(make_range(0, interned_names__intern_text(params->text)),
				   result_of(data));
		break;
	case NVTX_RangeStartEx:
		nvtx_ranges__start(make_range_ex(0, params->attributes), result_of(data));
		break;
	case NVTX_RangeStartW:
		nvtx_ranges__start(make_range(0, nvtx_names__wide(params->wide)), result_of(data));
		break;
	case NVTX_RangeEnd:
		nvtx_ranges__end(params->range, NULL, 0);
		break;
	case NVTX_NameCategoryA:
		nvtx_names__learn_category(0, category->category,
					   interned_names__intern_text(category->text));
		break;
	case NVTX_NameCategoryW:
		nvtx_names__learn_category(0, category->category, nvtx_names__wide(category->wide));
		break;
	}
}

static void domain_call(uint32_t cbid, const struct cupti_nvtx_data *data)
{
	const struct nvtx_domain_params *params = data->params;
	const union nvtx_params *made = data->params;
	const struct nvtx_domain_category_params *category = data->params;

	switch (cbid) {
	case NVTX_DomainMarkEx:
		nvtx_ranges__mark(make_range_ex(params->domain, params->attributes));
		break;
	case NVTX_DomainRangePushEx:
		nvtx_ranges__push(make_range_ex(params->domain, params->attributes));
		break;
	case NVTX_DomainRangePop:
		nvtx_ranges__pop(params->domain, NULL, 0);
		break;
	case NVTX_DomainRangeStartEx:
		nvtx_ranges__start(make_range_ex(params->domain, params->attributes),
				   result_of(data));
		break;
	case NVTX_DomainRangeEnd:
		nvtx_ranges__end(params->range, NULL, 0);
		break;
	case NVTX_DomainNameCategoryA:
		nvtx_names__learn_category(category->domain, category->category,
					   interned_names__intern_text(category->text));
		break;
	case NVTX_DomainNameCategoryW:
		nvtx_names__learn_category(category->domain, category->category,
					   nvtx_names__wide(category->wide));
		break;
	case NVTX_DomainRegisterStringA:
		nvtx_names__learn(result_of(data), interned_names__intern_text(params->text));
		break;
	case NVTX_DomainRegisterStringW:
		nvtx_names__learn(result_of(data), nvtx_names__wide(params->wide));
		break;
	case NVTX_DomainCreateA:
		nvtx_names__learn(result_of(data), interned_names__intern_text(made->text));
		break;
	case NVTX_DomainCreateW:
		nvtx_names__learn(result_of(data), nvtx_names__wide(made->wide));
		break;
	}
}

void nvtx__callback(uint32_t cbid, const struct cupti_nvtx_data *data)
{
	if (!nvtx_ranges__are_kept())
		return;
	if (cbid < NVTX_DomainMarkEx)
		plain_call(cbid, data);
	else
		domain_call(cbid, data);
}

static uint64_t call_with_payloads(uint32_t slot, uint64_t domain, uint64_t id,
				   const struct nvtx_payload_data *data, size_t count)
{
	static _Atomic(uint64_t) started;

	switch (slot) {
	case NVTX_MarkPayload:
		nvtx_ranges__mark(make_range_of_payloads(domain, data, count));
		return 0;
	case NVTX_RangePushPayload:
		nvtx_ranges__push(make_range_of_payloads(domain, data, count));
		return nvtx_ranges__open() - 1;
	case NVTX_RangePopPayload:
		nvtx_ranges__pop(domain, data, count);
		return nvtx_ranges__open();
	case NVTX_RangeStartPayload:
		id = OURS + atomic_fetch_add(&started, 1);
		nvtx_ranges__start(make_range_of_payloads(domain, data, count), id);
		return id;
	case NVTX_RangeEndPayload:
		nvtx_ranges__end(id, data, count);
		return 0;
	}
	return 0;
}

/* On the program's thread, from the library of the extension. */
static uint64_t extension_call(uint32_t slot, uint64_t domain, uint64_t id,
			       const struct nvtx_payload_data *data, size_t count)
{
	int saved = errno;
	uint64_t result;

	if (launch_state__detours() & DETOUR_DEAF)
		return 0;
	result = call_with_payloads(slot, domain, id, data, count);
	errno = saved;
	return result;
}

void nvtx__begin(void)
{
	if (!nvtx_ranges__are_kept())
		return;
	nvtx_payloads__listen(extension_call, nvtx_ranges__begin());
	probe_sites__nvtx_open(status__instance());
}

void nvtx__end(void)
{
	if (nvtx_ranges__are_kept())
		nvtx_payloads__listen(NULL, 0);
}
