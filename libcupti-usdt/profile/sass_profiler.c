// SPDX-License-Identifier: BSD-2-Clause
/*
 * CUPTI patches the kernel's code so that it counts as it runs. One launch at a time, from
 * configuration to its end: no other kernel of the program is patched meanwhile.
 *
 * How CUPTI (13.0 Update 1, on an H200) was seen to behave, which this code is built on:
 * - A record has one metric of one instruction; those of an instruction stand apart.
 * - Only the first kernel of a process that is launched while it is enabled brings records; a
 *   second configuration is refused as out of memory. That is no failure, but the end.
 * - It needs no rights. Another activity kind cannot be switched on meanwhile; on before, the
 *   values are all 0.
 * - Configuring wants the context to be current, as it is in a launch callback.
 *
 * Failure modes: 1. a kernel has more instructions than the memory holds: none of them is reported,
 * and it counts as missed. 2. something fails half way: what was switched on is switched off, and
 * no further kernel is begun. 3. the kernel never ends, or not before its launching thread goes on:
 * the wait has an end. CUPTI is not touched any more then, as nobody knows what taking its code
 * away from a kernel that runs does.
 */
#include "libcupti-usdt/profile/sass_profiler.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_sass.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/profile/pc_source.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/profile/range_calls.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/profile/stream_waits.h"

#define RECORDS_MAX 262144 /* instructions of a kernel, times metrics */
#define VALUES_MAX  8
#define IN_BATCH    (CUDA_BATCH_MAX / sizeof(struct cuda_sass))

static const char *const metrics[CUDA_SASS_COUNT] = {
#define METRIC(name, metric) metric,
	CUDA_SASS_METRICS(METRIC)
#undef METRIC
};

static struct range_plan plan;
static const char *known_metrics[CUDA_SASS_COUNT];
static struct cupti_sass_choice choices[CUDA_SASS_COUNT];
static uint32_t known; /* bits */

static atomic_bool listening;
static bool counted; /* any kernel */

/* What the last kernel brought, between stop and tell. */
static struct {
	struct cupti_sass_record *records;
	size_t count, values, bytes;
	uint32_t device;
} last;

#define CALL(name, parameters) failed(failure, cupti_sass__get()->name(parameters), "cupti" #name)

void sass_profiler__listen(void *subscriber, bool on)
{
	if (on == atomic_load(&listening) || (on && pc_source__open(PC_SOURCE_SASS)))
		return;
	atomic_store(&listening, on);
	cupti_api__get()->EnableCallback(on, subscriber, CUPTI_DOMAIN_RESOURCE,
					 CUPTI_RESOURCE_MODULE_LOADED);
	if (!on)
		pc_source__close(PC_SOURCE_SASS);
}

bool sass_profiler__is_listening(void)
{
	return atomic_load(&listening);
}

static const char *sass_lack(const struct request *request)
{
	return cupti_sass__get() && stream_waits__is_there()
		       ? NULL
		       : "libcupti before 12.2: no SASS metrics";
}

static int sass_prepare(const struct request *request, uint32_t device,
			struct range_failure *failure)
{
	struct cupti_profiler_initialize begin = P(cupti_profiler_initialize, private);
	struct cupti_chip_name chip = P(cupti_chip_name, name, .device = device);

	if (CALL(ProfilerInitialize, &begin) || CALL(DeviceGetChipName, &chip))
		return -1;
	strncpy(plan.chip, chip.name ? chip.name : "", sizeof(plan.chip) - 1);
	plan.count = known = 0;
	for (uint32_t i = 0; i < CUDA_SASS_COUNT; i++) {
		struct cupti_sass_properties ask =
			P(cupti_sass_properties, metric, .chip = plan.chip, .name = metrics[i]);

		if (cupti_sass__get()->SassMetricsGetProperties(&ask))
			continue;
		known |= 1U << i;
		choices[plan.count] = (struct cupti_sass_choice){ask.metric.id, CUPTI_SASS_OF_GPU};
		known_metrics[plan.count++] = metrics[i];
	}
	plan.metrics = known_metrics;
	plan.passes = plan.sets = 1;
	return plan.count ? 0 : failed(failure, CUPTI_NOT_SUPPORTED, "no SASS metric");
}

static const struct range_plan *sass_plan(void)
{
	return &plan;
}

static void sass_describe(const char *metric, struct range_metric *description)
{
	*description = (struct range_metric){.unit = "instruction"};
}

static void unset(uint32_t device)
{
	struct cupti_sass_unset end = P(cupti_sass_unset, device, .device = device);

	cupti_sass__get()->SassMetricsUnsetConfig(&end);
}

static int sass_start(void *context, struct range_failure *failure)
{
	struct cupti_sass_config config =
		P(cupti_sass_config, device, .count = plan.count, .choices = choices);
	struct cupti_sass_enable enable = P(cupti_sass_enable, lazy, .context = context, .lazy = 1);

	cupti_api__get()->GetDeviceId(context, &config.device);
	if (CALL(SassMetricsSetConfig, &config))
		return counted && failure->result == CUPTI_OUT_OF_MEMORY ? 1 : -1;
	if (CALL(SassMetricsEnable, &enable)) {
		unset(config.device);
		return -1;
	}
	last.device = config.device;
	return 0;
}

/* Memory for the data that CUPTI delivers; NULL: none. */
static struct cupti_sass_record *allocate_data(size_t records, size_t values)
{
	size_t each = sizeof(struct cupti_sass_record) + values * sizeof(struct cupti_sass_value);
	struct cupti_sass_value *at;

	if (records > RECORDS_MAX || values > VALUES_MAX)
		return NULL;
	last.bytes = records * each;
	last.records =
		mmap(NULL, last.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (last.records == MAP_FAILED) {
		last.records = NULL;
		return NULL;
	}
	at = (struct cupti_sass_value *)(last.records + records);
	for (size_t i = 0; i < records; i++, at += values) {
		last.records[i].size = sizeof(last.records[i]);
		last.records[i].values = at;
	}
	last.count = records;
	last.values = values;
	return last.records;
}

static void free_data(void)
{
	if (last.records)
		munmap(last.records, last.bytes);
	last.records = NULL;
}

/* 1: there is something, 0: nothing, or too much, -1: no call of CUPTI's may follow. */
static int flush(void *context, struct range_failure *failure)
{
	struct cupti_sass_extent extent = P(cupti_sass_extent, instances, .context = context);
	struct cupti_sass_flush to = {.size = CUPTI_SASS_FLUSH_SIZE, .context = context};

	if (CALL(SassMetricsGetDataProperties, &extent))
		return -1;
	if (!extent.records || !extent.instances)
		return 0;
	to.data = allocate_data(extent.records, extent.instances);
	if (!to.data)
		return 0;
	to.records = extent.records;
	to.instances = extent.instances;
	return CALL(SassMetricsFlushData, &to) ? -1 : 1;
}

static int sass_stop(void *context, void *stream, uint32_t kernels, struct range_failure *failure)
{
	struct cupti_sass_disable disable = P(cupti_sass_disable, dropped, .context = context);
	int result = stream_waits__wait(stream), came;

	if (result == STREAM_WAITS_NOT_READY) {
		failure->result = CUDA_COUNTERS_NO_END;
		failure->function = "the kernel";
		return -1;
	}
	/* The kernel may have failed; the program's own next call reports that. */
	came = result ? 0 : flush(context, failure);
	if (came >= 0 && CALL(SassMetricsDisable, &disable))
		came = -1;
	if (came >= 0)
		unset(last.device);
	if (came <= 0)
		free_data();
	counted |= came > 0;
	return came;
}

static bool comes_before(const struct cupti_sass_record *a, const struct cupti_sass_record *b)
{
	if (a->cubin != b->cubin)
		return a->cubin < b->cubin;
	if (a->function_index != b->function_index)
		return a->function_index < b->function_index;
	return a->offset < b->offset;
}

static bool is_same_place(const struct cupti_sass_record *a, const struct cupti_sass_record *b)
{
	return !comes_before(a, b) && !comes_before(b, a);
}

/* By place. That of the C library may allocate. */
static void sort_records(void)
{
	struct cupti_sass_record *records = last.records, one;

	for (size_t gap = last.count / 2; gap; gap /= 2)
		for (size_t i = gap; i < last.count; i++) {
			size_t at = i;

			one = records[i];
			for (; at >= gap && comes_before(&one, &records[at - gap]); at -= gap)
				records[at] = records[at - gap];
			records[at] = one;
		}
}

static void add(struct cuda_sass *to, const struct cupti_sass_value *value)
{
	uint32_t choice = 0;

	for (uint32_t i = 0; i < CUDA_SASS_COUNT; i++)
		if (known & 1U << i && choices[choice++].id == value->id)
			to->values[i] += value->value;
}

/* All records of the place of the first, and how many they are. */
static size_t merge(struct cuda_sass *to, size_t first)
{
	const struct cupti_sass_record *record = &last.records[first];
	size_t at = first;

	for (; at < last.count && is_same_place(record, &last.records[at]); at++)
		for (size_t i = 0; i < last.values; i++)
			add(to, &last.records[at].values[i]);
	to->cubin = record->cubin;
	to->offset = record->offset;
	to->function = interned_names__intern(record->function);
	to->line =
		pc_source__line(to->cubin, record->function, to->function, to->offset, &to->file);
	return at - first;
}

static bool is_empty(const struct cuda_sass *one)
{
	for (uint32_t i = 0; i < CUDA_SASS_COUNT; i++)
		if (one->values[i])
			return false;
	return true;
}

/* Before its instructions. Each time anew: it costs little beside a kernel that is counted, and so
 * nothing is to be known of who heard it before. */
static void tell_image(uint64_t cubin)
{
	struct cuda_pc_image image;

	if (pc_source__lined_image(cubin, &image))
		batch__send_in_place(CUDA_GROUP_COUNTERS, &image, sizeof(image), 1);
}

/* Instructions that were never reached are left out. */
static void sass_tell(const struct cuda_counters *kernel)
{
	static struct cuda_sass batch[IN_BATCH];
	uint32_t count = 0;

	sort_records();
	for (size_t at = 0; at < last.count;) {
		if (!at || last.records[at].cubin != last.records[at - 1].cubin)
			tell_image(last.records[at].cubin);
		batch[count] = (struct cuda_sass){
			.head = {.kind = CUDA_RECORD_SASS,
				 .size = sizeof(batch[0]),
				 .correlation = kernel->head.correlation},
			.number = kernel->number,
			.known = known,
		};
		at += merge(&batch[count], at);
		if (is_empty(&batch[count]))
			continue;
		if (site_wanted(sass))
			probe_sites__sass(&batch[count],
					  interned_names__text(batch[count].function),
					  interned_names__text(batch[count].file));
		if (++count < IN_BATCH)
			continue;
		batch__send_in_place(CUDA_GROUP_COUNTERS, batch, sizeof(batch[0]), count);
		count = 0;
	}
	if (count)
		batch__send_in_place(CUDA_GROUP_COUNTERS, batch, sizeof(batch[0]), count);
	free_data();
}

/* Nothing is on between kernels. */
static void sass_forget(void *context, bool is_quiet)
{
}

static void sass_close(void)
{
}

const struct collector sass_profiler = {
	.lack = sass_lack,
	.prepare = sass_prepare,
	.plan = sass_plan,
	.describe = sass_describe,
	.start = sass_start,
	.stop = sass_stop,
	.tell = sass_tell,
	.forget = sass_forget,
	.close = sass_close,
};
