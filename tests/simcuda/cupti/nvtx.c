// SPDX-License-Identifier: BSD-2-Clause
// CUPTI as NVTX's injection library: with NVTX_INJECTION64_PATH set to this library, a program's
// NVTX calls come here, become callbacks of their domain and, when requested, marker records, those
// of wide characters without a text.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <sys/syscall.h>
#include "tests/simcuda/cupti/tracer.h"

#define DEPTH 64

typedef void (*function)(void);

struct attributes { /* nvtxEventAttributes_v2 */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	union {
		const char *ascii;
		const struct nvtx_string *registered;
	} message;
};

struct nvtx_domain {
	const char *name;
};

struct nvtx_string {
	const char *text;
};

enum { MARK = 1, START = 2, END = 4 }; /* CUPTI's flags of a marker */

static _Atomic uint32_t last_id;
static __thread uint32_t open_ranges[DEPTH];
static __thread int depth;

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*table)(uint32_t));
__attribute__((visibility("default"))) int cuptiNvtxInitialize2(const void *(*table)(uint32_t));

static void tell(uint32_t cbid, const char *name, const void *parameters, const void *result)
{
	CUpti_NvtxData data = {name, parameters, result};

	if (subscriber__wants(CUPTI_DOMAIN_NVTX, cbid))
		subscriber__callback(CUPTI_DOMAIN_NVTX, cbid, &data);
}

static void record_marker(uint32_t flags, uint32_t id, const char *text,
			  const struct nvtx_domain *domain, const struct attributes *attributes)
{
	struct simcuda_bridge *bridge = bridge__get();
	struct simcuda_record record = {.kind = CUPTI_KIND_MARKER};

	if (!bridge || !(activity__kinds() >> CUPTI_KIND_MARKER & 1))
		return;
	record.start = record.end = clock__now();
	record.marker.id = id;
	record.marker.flags = flags;
	record.marker.tid = syscall(SYS_gettid);
	record.marker.name = text ? bridge->intern(text, strlen(text)) : NULL;
	record.marker.domain = domain ? domain->name : NULL;
	hooks__record(&record);
	if (!attributes || !(activity__kinds() >> CUPTI_KIND_MARKER_DATA & 1))
		return;
	record.kind = CUPTI_KIND_MARKER_DATA;
	record.marker.color = attributes->color;
	record.marker.category = attributes->category;
	hooks__record(&record);
}

static const char *text_of(const struct attributes *attributes)
{
	if (attributes->message_type == 1)
		return attributes->message.ascii;
	return attributes->message_type == 3 ? attributes->message.registered->text : NULL;
}

static int range__push(const char *text, const struct nvtx_domain *domain,
		       const struct attributes *attributes)
{
	uint32_t id = atomic_fetch_add(&last_id, 1) + 1;

	if (depth < DEPTH)
		open_ranges[depth] = id;
	record_marker(START, id, text, domain, attributes);
	return depth++;
}

static int range__pop(const struct nvtx_domain *domain)
{
	if (!depth)
		return -1;
	depth--;
	record_marker(END, depth < DEPTH ? open_ranges[depth] : 0, NULL, domain, NULL);
	return depth;
}

static void mark_a(const char *text)
{
	record_marker(MARK, atomic_fetch_add(&last_id, 1) + 1, text, NULL, NULL);
	tell(1, "nvtxMarkA", &text, NULL);
}

static void mark_w(const wchar_t *text)
{
	record_marker(MARK, atomic_fetch_add(&last_id, 1) + 1, NULL, NULL, NULL);
	tell(2, "nvtxMarkW", &text, NULL);
}

static void mark_ex(const struct attributes *attributes)
{
	record_marker(MARK, atomic_fetch_add(&last_id, 1) + 1, text_of(attributes), NULL,
		      attributes);
	tell(3, "nvtxMarkEx", &attributes, NULL);
}

static uint64_t range_start_a(const char *text)
{
	uint64_t id = atomic_fetch_add(&last_id, 1) + 1;

	record_marker(START, id, text, NULL, NULL);
	tell(4, "nvtxRangeStartA", &text, &id);
	return id;
}

static uint64_t range_start_w(const wchar_t *text)
{
	uint64_t id = atomic_fetch_add(&last_id, 1) + 1;

	record_marker(START, id, NULL, NULL, NULL);
	tell(5, "nvtxRangeStartW", &text, &id);
	return id;
}

static uint64_t range_start_ex(const struct attributes *attributes)
{
	uint64_t id = atomic_fetch_add(&last_id, 1) + 1;

	record_marker(START, id, text_of(attributes), NULL, attributes);
	tell(6, "nvtxRangeStartEx", &attributes, &id);
	return id;
}

static void range_end(uint64_t id)
{
	record_marker(END, id, NULL, NULL, NULL);
	tell(7, "nvtxRangeEnd", &id, NULL);
}

static int range_push_a(const char *text)
{
	int level = range__push(text, NULL, NULL);

	tell(8, "nvtxRangePushA", &text, &level);
	return level;
}

static int range_push_w(const wchar_t *text)
{
	int level = range__push(NULL, NULL, NULL);

	tell(9, "nvtxRangePushW", &text, &level);
	return level;
}

static int range_push_ex(const struct attributes *attributes)
{
	int level = range__push(text_of(attributes), NULL, attributes);

	tell(10, "nvtxRangePushEx", &attributes, &level);
	return level;
}

static int range_pop(void)
{
	const void *nothing = NULL;
	int level = range__pop(NULL);

	tell(11, "nvtxRangePop", &nothing, &level);
	return level;
}

struct domain_event {
	const struct nvtx_domain *domain;
	const struct attributes *attributes;
};

static void domain_mark_ex(const struct nvtx_domain *domain, const struct attributes *attributes)
{
	const struct domain_event parameters = {domain, attributes};

	record_marker(MARK, atomic_fetch_add(&last_id, 1) + 1, text_of(attributes), domain,
		      attributes);
	tell(30, "nvtxDomainMarkEx", &parameters, NULL);
}

static uint64_t domain_range_start_ex(const struct nvtx_domain *domain,
				      const struct attributes *attributes)
{
	const struct domain_event parameters = {domain, attributes};
	uint64_t id = atomic_fetch_add(&last_id, 1) + 1;

	record_marker(START, id, text_of(attributes), domain, attributes);
	tell(31, "nvtxDomainRangeStartEx", &parameters, &id);
	return id;
}

static void domain_range_end(const struct nvtx_domain *domain, uint64_t id)
{
	const struct {
		const struct nvtx_domain *domain;
		uint64_t id;
	} parameters = {domain, id};

	record_marker(END, id, NULL, domain, NULL);
	tell(32, "nvtxDomainRangeEnd", &parameters, NULL);
}

static int domain_range_push_ex(const struct nvtx_domain *domain,
				const struct attributes *attributes)
{
	const struct domain_event parameters = {domain, attributes};
	int level = range__push(text_of(attributes), domain, attributes);

	tell(33, "nvtxDomainRangePushEx", &parameters, &level);
	return level;
}

static int domain_range_pop(const struct nvtx_domain *domain)
{
	int level = range__pop(domain);

	tell(34, "nvtxDomainRangePop", &domain, &level);
	return level;
}

/* Domains and registered strings are few and live as long as the process. */
static const struct nvtx_domain *domain_create_a(const char *name)
{
	struct simcuda_bridge *bridge = bridge__get();
	const struct nvtx_domain *domain;
	const char *text = bridge->intern(name, strlen(name));

	domain = (const void *)bridge->intern((const char *)&text, sizeof(text));
	tell(41, "nvtxDomainCreateA", &name, &domain);
	return domain;
}

/* Begins like a domain or a string, without a text; each has its own. */
static const void *handle_of_wide(const wchar_t *text)
{
	struct simcuda_bridge *bridge = bridge__get();
	const struct {
		const char *text;
		const char *wide;
	} handle = {NULL, bridge->intern((const char *)text, wcslen(text) * sizeof(*text))};

	return bridge->intern((const char *)&handle, sizeof(handle));
}

static const struct nvtx_domain *domain_create_w(const wchar_t *name)
{
	const struct nvtx_domain *domain = handle_of_wide(name);

	tell(42, "nvtxDomainCreateW", &name, &domain);
	return domain;
}

static void domain_destroy(const struct nvtx_domain *domain)
{
	tell(43, "nvtxDomainDestroy", &domain, NULL);
}

static const struct nvtx_string *register_string_a(const struct nvtx_domain *domain,
						   const char *string)
{
	struct simcuda_bridge *bridge = bridge__get();
	const struct {
		const struct nvtx_domain *domain;
		const char *string;
	} parameters = {domain, string};
	const char *text = bridge->intern(string, strlen(string));
	const struct nvtx_string *handle;

	handle = (const void *)bridge->intern((const char *)&text, sizeof(text));
	tell(39, "nvtxDomainRegisterStringA", &parameters, &handle);
	return handle;
}

static const struct nvtx_string *register_string_w(const struct nvtx_domain *domain,
						   const wchar_t *string)
{
	const struct {
		const struct nvtx_domain *domain;
		const wchar_t *string;
	} parameters = {domain, string};
	const struct nvtx_string *handle = handle_of_wide(string);

	tell(40, "nvtxDomainRegisterStringW", &parameters, &handle);
	return handle;
}

static void name_category_a(uint32_t category, const char *name)
{
	const struct {
		uint32_t category;
		const char *name;
	} parameters = {category, name};

	tell(12, "nvtxNameCategoryA", &parameters, NULL);
}

static void name_category_w(uint32_t category, const wchar_t *name)
{
	const struct {
		uint32_t category;
		const wchar_t *name;
	} parameters = {category, name};

	tell(13, "nvtxNameCategoryW", &parameters, NULL);
}

static void domain_name_category_a(const struct nvtx_domain *domain, uint32_t category,
				   const char *name)
{
	const struct {
		const struct nvtx_domain *domain;
		uint32_t category;
		const char *name;
	} parameters = {domain, category, name};

	tell(37, "nvtxDomainNameCategoryA", &parameters, NULL);
}

static void domain_name_category_w(const struct nvtx_domain *domain, uint32_t category,
				   const wchar_t *name)
{
	const struct {
		const struct nvtx_domain *domain;
		uint32_t category;
		const wchar_t *name;
	} parameters = {domain, category, name};

	tell(38, "nvtxDomainNameCategoryW", &parameters, NULL);
}

static void fill(function **table, unsigned int size, unsigned int index, void *handler)
{
	if (index < size && table[index])
		*table[index] = (function)handler;
}

static void fill_core(function **table, unsigned int size)
{
	fill(table, size, 1, mark_ex);
	fill(table, size, 2, mark_a);
	fill(table, size, 3, mark_w);
	fill(table, size, 4, range_start_ex);
	fill(table, size, 5, range_start_a);
	fill(table, size, 6, range_start_w);
	fill(table, size, 7, range_end);
	fill(table, size, 8, range_push_ex);
	fill(table, size, 9, range_push_a);
	fill(table, size, 10, range_push_w);
	fill(table, size, 11, range_pop);
	fill(table, size, 12, name_category_a);
	fill(table, size, 13, name_category_w);
}

static void fill_core2(function **table, unsigned int size)
{
	fill(table, size, 1, domain_mark_ex);
	fill(table, size, 2, domain_range_start_ex);
	fill(table, size, 3, domain_range_end);
	fill(table, size, 4, domain_range_push_ex);
	fill(table, size, 5, domain_range_pop);
	fill(table, size, 8, domain_name_category_a);
	fill(table, size, 9, domain_name_category_w);
	fill(table, size, 10, register_string_a);
	fill(table, size, 11, register_string_w);
	fill(table, size, 12, domain_create_a);
	fill(table, size, 13, domain_create_w);
	fill(table, size, 14, domain_destroy);
}

/* As libcupti 13.0 goes over them: a client that lacks one is refused, what it got before stays. */
static const struct {
	int module;
	unsigned int size;
	void (*fill)(function **table, unsigned int size);
} modules[] = {{1, 16, fill_core}, {5, 16, fill_core2}, {6, 7, NULL}, {2, 9, NULL}, {4, 7, NULL}};

/* CUPTI's result. */
int cuptiNvtxInitialize2(const void *(*table)(uint32_t))
{
	const struct {
		size_t size;
		int (*module)(int module, function ***table, unsigned int *size);
	} * callbacks;
	const size_t *version = table(3);

	callbacks = version && *version >= 24 ? table(1) : NULL;
	if (!callbacks || callbacks->size < sizeof(*callbacks))
		return CUPTI_ERROR_UNKNOWN;
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		function **functions = NULL;
		unsigned int size = 0;

		if (!callbacks->module(modules[i].module, &functions, &size) || !functions ||
		    size < modules[i].size)
			return CUPTI_ERROR_UNKNOWN;
		if (modules[i].fill)
			modules[i].fill(functions, size);
	}
	state__log("nvtx");
	return CUPTI_SUCCESS;
}

/* NVTX's truth value. Where CUPTI cannot begin (no driver) the real one says yes, and does nothing.
 */
int InitializeInjectionNvtx2(const void *(*table)(uint32_t))
{
	return !bridge__get() || cuptiNvtxInitialize2(table) == CUPTI_SUCCESS;
}
