// SPDX-License-Identifier: BSD-2-Clause
/*
 * One launch at a time is counted, alone: its callback at entry starts CUPTI's range profiler and
 * the one at exit reads the values. Both run on the program's thread; that launch takes its passes'
 * time anyway. All other launches hold the gate open while they last, and wait while it is shut.
 */
#include "libcupti-usdt/counters.h"

#include <stdatomic.h>
#include <string.h>

#include "libcupti-usdt/api_calls.h"
#include "libcupti-usdt/batches.h"
#include "libcupti-usdt/captures.h"
#include "libcupti-usdt/clock.h"
#include "libcupti-usdt/cupti_api.h"
#include "libcupti-usdt/cupti_calls.h"
#include "libcupti-usdt/cupti_range.h"
#include "libcupti-usdt/kernel_choice.h"
#include "libcupti-usdt/kernel_shape.h"
#include "libcupti-usdt/launch_gate.h"
#include "libcupti-usdt/launches.h"
#include "libcupti-usdt/names.h"
#include "libcupti-usdt/range_profiler.h"
#include "libcupti-usdt/request.h"
#include "libcupti-usdt/sass_profiler.h"
#include "libcupti-usdt/sites.h"
#include "libcupti-usdt/status.h"

#define TELL_NS	  1000000000ULL
#define OTHERS_MS 60000 /* a counted kernel may take long, and as often as there are passes */
#define DECISIONS 4096U /* power of 2 */
#define SILENT	  3	/* kernels without values, none before with any: there will be none */
/* Launches that were under way when the callbacks came on are not in the gate. Once they have had
 * this time they are over, unless the GPU's queue was full of kernels that take longer. */
#define SETTLE_NS 300000000ULL

static atomic_bool counters_on;
static const struct collector *collector = &range_profiler; /* set before the group is on */

static struct {
	_Atomic(uint64_t) launches, matched, missed, graphs, chosen, counted;
	_Atomic(uint32_t) outcome;
} counts;

/* By the one alone; read by the guest's thread once the outcome says so. */
static struct range_failure failure;
static uint32_t device;
static bool prepared;
static _Atomic(uint64_t) settled; /* ns; before it no kernel is counted */
static uint64_t started;	  /* ns; of the launch that is counted */
static uint32_t silent;		  /* kernels that were launched, and had no values */
static _Atomic(uint64_t) alone_since;

static bool wanted_before, closed, draining;
static atomic_bool held; /* CUPTI waits for a kernel that does not end */
static uint64_t told;
static _Atomic(uint32_t) told_outcome;

/* By name id: id * 2 + whether it matches. */
static _Atomic(uint32_t) decisions[DECISIONS];

static bool is_meant(const char *symbol)
{
	uint32_t id = names__intern(symbol), known, decision;

	if (!symbol)
		return kernel_choice__matches("");
	known = atomic_load_explicit(&decisions[id % DECISIONS], memory_order_relaxed);
	if (id && known / 2 == id && known)
		return known & 1;
	decision = id * 2 + kernel_choice__matches(symbol);
	atomic_store_explicit(&decisions[id % DECISIONS], decision, memory_order_relaxed);
	return decision & 1;
}

static void end_with(enum cuda_counters_outcome outcome)
{
	atomic_store(&counts.outcome, outcome);
}

static bool is_over(void)
{
	uint32_t outcome = atomic_load(&counts.outcome);

	return outcome != CUDA_COUNTERS_WAITING && outcome != CUDA_COUNTERS_ON;
}

static void tell_metrics(void)
{
	const struct range_plan *plan = collector->plan();

	for (uint32_t i = 0; i < plan->count; i++) {
		struct cuda_counters_metric to = {
			.head = {.kind = CUDA_RECORD_COUNTERS_METRIC, .size = sizeof(to)},
			.metric = names__intern_text(plan->metrics[i]),
		};
		struct range_metric metric;

		collector->describe(plan->metrics[i], &metric);
		to.unit = metric.unit ? names__intern_text(metric.unit) : 0;
		to.description = metric.description ? names__intern_text(metric.description) : 0;
		to.type = metric.type;
		batch__send_in_place(CUDA_GROUP_COUNTERS, &to, sizeof(to), 1);
	}
}

static void tell_state(void)
{
	const struct range_plan *plan = collector->plan();
	uint64_t now = clock__now(), since = atomic_load(&alone_since);
	struct cuda_counters_state to = {
		.head = {.kind = CUDA_RECORD_COUNTERS_STATE, .size = sizeof(to)},
		.time = now,
		.launches = atomic_load(&counts.launches),
		.matched = atomic_load(&counts.matched),
		.counted = atomic_load(&counts.counted),
		.missed = atomic_load(&counts.missed),
		.graphs = atomic_load(&counts.graphs),
		.outcome = atomic_load(&counts.outcome),
		.device = device,
		.metrics = plan->count,
		.passes = plan->passes,
		.running = since && now > since ? (now - since) / 1000000000 : 0,
	};

	if (plan->chip[0])
		to.chip = names__intern_text(plan->chip);
	if (atomic_load(&held)) {
		to.result = CUDA_COUNTERS_HELD;
	} else if (to.outcome == CUDA_COUNTERS_FAILED || to.outcome == CUDA_COUNTERS_DONE) {
		to.result = failure.result;
		to.function = failure.function ? names__intern_text(failure.function) : 0;
		to.metric = failure.metric ? names__intern_text(failure.metric) : 0;
	}
	atomic_store(&told_outcome, to.outcome);
	batch__send_in_place(CUDA_GROUP_COUNTERS, &to, sizeof(to), 1);
}

static bool prepare(void *context)
{
	if (prepared)
		return true;
	cupti_api__get()->GetDeviceId(context, &device);
	if (collector->prepare(request__get()->metrics, device, &failure))
		return false;
	prepared = true;
	tell_metrics();
	atomic_store(&counts.outcome, CUDA_COUNTERS_ON);
	/* Who waits for the passes is to know before the first kernel takes them. */
	tell_state();
	return true;
}

static void *stream_of(uint32_t cbid, const struct cupti_callback_data *data)
{
	struct cuda_launch launch = {0};

	launches__read(&launch, CUPTI_DOMAIN_DRIVER, cbid, data->params);
	return (void *)(uintptr_t)launch.stream;
}

static bool is_chosen(uint32_t cbid, const struct cupti_callback_data *data)
{
	uint64_t number, skip = request__get()->skip, limit = request__get()->limit;

	if (launches__is_graph(CUPTI_DOMAIN_DRIVER, cbid)) {
		atomic_fetch_add(&counts.graphs, 1);
		return false;
	}
	atomic_fetch_add(&counts.launches, 1);
	if (clock__now() < atomic_load_explicit(&settled, memory_order_relaxed))
		return false;
	if (is_over() || !is_meant(data->symbol_name) || captures__takes(stream_of(cbid, data)))
		return false;
	number = atomic_fetch_add(&counts.matched, 1);
	return number >= skip && (!limit || atomic_load(&counts.counted) < limit);
}

static bool start_alone(const struct cupti_callback_data *data)
{
	int came, mode;

	if (!launch_gate__enter_alone()) {
		atomic_fetch_add(&counts.missed, 1);
		return false;
	}
	if (captures__any()) {
		launch_gate__leave_alone();
		atomic_fetch_add(&counts.missed, 1);
		return false;
	}
	started = clock__now();
	/* Another thread may have come to the end while this one waited, or the listener left. */
	if (!is_over() && atomic_load(&counters_on)) {
		atomic_store(&alone_since, started);
		mode = captures__relax();
		came = prepare(data->context) ? collector->start(data->context, &failure) : -1;
		captures__restore(mode);
		if (!came)
			return true;
		atomic_store(&alone_since, 0);
		end_with(came > 0 ? CUDA_COUNTERS_DONE : CUDA_COUNTERS_FAILED);
	}
	launch_gate__leave_alone();
	return false;
}

static void tell_readable(const struct cuda_counters *to, const struct cuda_counter *values)
{
	if (!sites__readable_wanted(CUDA_GROUP_COUNTERS))
		return;
	for (uint32_t i = 0; i < to->count; i++) {
		double thousandths = values[i].value * 1000;
		uint64_t bits;

		memcpy(&bits, &values[i].value, sizeof(bits));
		/* What is out of range, or no number, is nothing that an integer can say. */
		if (!(thousandths > -9e18 && thousandths < 9e18))
			thousandths = -1;
		site__counters(to, names__text(to->name), names__text(values[i].metric),
			       (int64_t)thousandths, bits);
	}
}

static void tell_kernel(uint32_t cbid, const struct cupti_callback_data *data, const double *values)
{
	static struct {
		struct cuda_counters head;
		struct cuda_counter values[CUDA_COUNTERS_METRICS];
	} to;
	const struct range_plan *plan = collector->plan();
	struct cuda_launch launch = {0};

	launches__read(&launch, CUPTI_DOMAIN_DRIVER, cbid, data->params);
	to.head = (struct cuda_counters){
		.head = {.kind = CUDA_RECORD_COUNTERS,
			 .size = sizeof(to.head) + plan->values * sizeof(to.values[0]),
			 .correlation = data->correlation},
		.start = started,
		.end = clock__now(),
		.stream = launch.stream,
		.number = atomic_fetch_add(&counts.counted, 1) + 1,
		.name = names__intern(data->symbol_name),
		.device = device,
		.context = data->context_id,
		.dynamic_shared = launch.dynamic_shared,
		.passes = plan->passes,
		.count = plan->values,
	};
	cupti_api__get()->GetDeviceId(data->context, &to.head.device);
	memcpy(to.head.grid, launch.grid, sizeof(launch.grid));
	memcpy(to.head.block, launch.block, sizeof(launch.block));
	kernel_shape__find(launches__function(cbid, data->params), &to.head.registers,
			   &to.head.static_shared);
	for (uint32_t i = 0; i < plan->values; i++) {
		to.values[i].metric = names__intern_text(plan->metrics[i]);
		to.values[i].value = values[i];
	}
	batch__send_in_place(CUDA_GROUP_COUNTERS, &to, to.head.head.size, 1);
	tell_readable(&to.head, to.values);
	collector->tell(&to.head);
}

/*
 * CUPTI 12.8 and 12.9 with driver 580 run each pass, report success, and have no range then. Who
 * does not notice makes every launch of the program wait for nothing.
 */
static bool is_silent(const struct cupti_callback_data *data)
{
	const int *result = data->return_value;

	if (collector != &range_profiler || !result || *result || atomic_load(&counts.counted))
		return false;
	if (++silent < SILENT)
		return false;
	failure.result = CUDA_COUNTERS_SILENT;
	failure.function = "cuptiRangeProfilerDecodeData";
	return true;
}

static void finish_alone(uint32_t cbid, const struct cupti_callback_data *data)
{
	static double values[CUDA_COUNTERS_METRICS];
	uint64_t limit = request__get()->limit;
	int mode = captures__relax();
	int came = collector->stop(data->context, stream_of(cbid, data), values, &failure);

	captures__restore(mode);
	atomic_store(&alone_since, 0);
	if (came > 0)
		tell_kernel(cbid, data, values);
	else
		atomic_fetch_add(&counts.missed, 1);
	if (came < 0 || (!came && is_silent(data)))
		end_with(CUDA_COUNTERS_FAILED);
	else if (limit && atomic_load(&counts.counted) >= limit && !atomic_load(&held))
		end_with(CUDA_COUNTERS_DONE);
	launch_gate__leave_alone();
}

static bool is_ours(int domain, uint32_t cbid)
{
	return domain == CUPTI_DOMAIN_DRIVER && launches__shape(domain, cbid) != LAUNCH_NONE;
}

static enum api_calls_sort capture_of(int domain, uint32_t cbid)
{
	enum api_calls_sort sort =
		domain == CUPTI_DOMAIN_DRIVER ? api_calls__sort(cbid) : API_CALLS_ANY;

	return sort == API_CALLS_FILL ? API_CALLS_ANY : sort;
}

void counters__enter(int domain, uint32_t cbid, const struct cupti_callback_data *data)
{
	bool begins = capture_of(domain, cbid) == API_CALLS_CAPTURE_BEGINS;

	if ((!begins && !is_ours(domain, cbid)) || launch_gate__is_mine())
		return;
	/* Also when the listener has left: the kernel that is being counted is counted to its end.
	 */
	if (!atomic_load(&counters_on) && !launch_gate__is_shut())
		return;
	if (begins || !atomic_load(&counters_on) || !is_chosen(cbid, data) || !start_alone(data))
		launch_gate__enter(OTHERS_MS);
}

/* A capture fails if a kernel is counted meanwhile (H200). */
static void note_capture(bool begins, const struct cupti_callback_data *data)
{
	if (launch_gate__is_mine())
		return;
	if (!begins)
		captures__ends();
	else if (!data->return_value || !*(const int *)data->return_value)
		captures__begins();
	if (begins)
		launch_gate__leave();
}

void counters__leave(int domain, uint32_t cbid, const struct cupti_callback_data *data)
{
	enum api_calls_sort capture = capture_of(domain, cbid);

	if (capture != API_CALLS_ANY)
		note_capture(capture == API_CALLS_CAPTURE_BEGINS, data);
	if (!is_ours(domain, cbid))
		return;
	if (launch_gate__is_mine())
		finish_alone(cbid, data);
	else
		launch_gate__leave();
}

/* Nothing of what was asked for before. */
static void forget(void)
{
	atomic_store(&counts.launches, 0);
	atomic_store(&counts.matched, 0);
	atomic_store(&counts.missed, 0);
	atomic_store(&counts.graphs, 0);
	atomic_store(&counts.counted, 0);
	for (uint32_t i = 0; i < DECISIONS; i++)
		atomic_store_explicit(&decisions[i], 0, memory_order_relaxed);
	failure = (struct range_failure){0};
	silent = 0;
	prepared = closed = draining = false;
	atomic_store(&held, false);
	launch_gate__reset();
	captures__forget();
	end_with(CUDA_COUNTERS_WAITING);
}

static void begin(bool late)
{
	const struct request *request = request__get();

	forget();
	atomic_store(&settled, late ? clock__now() + SETTLE_NS : 0);
	collector = strcmp(request->metrics, SASS_REQUEST) ? &range_profiler : &sass_profiler;
	if (!collector->is_there()) {
		failure.result = CUPTI_NOT_SUPPORTED;
		failure.function = collector->lack;
		end_with(CUDA_COUNTERS_FAILED);
	} else if (!kernel_choice__compile(request->kernels)) {
		failure.result = 1;
		failure.function = "regcomp";
		end_with(CUDA_COUNTERS_FAILED);
	} else {
		atomic_store(&counters_on, true);
	}
	tell_state();
	told = clock__now();
}

/* Launches that are under way keep their slots in the gate: they are forgotten at the next begin.
 */
static void close_profiler(void)
{
	atomic_store(&counters_on, false);
	if (closed)
		return;
	closed = true;
	/* Else a kernel is being counted: its thread is inside CUPTI, which must not be touched. */
	if (!launch_gate__claim())
		return;
	collector->close();
	launch_gate__leave_alone();
}

void counters__drain(void)
{
	draining = true;
	atomic_store(&counters_on, false);
}

bool counters__is_draining(void)
{
	return draining;
}

bool counters__is_counting(void)
{
	return launch_gate__is_shut();
}

void counters__follow(void *subscriber, bool wanted, bool late)
{
	if (wanted && !wanted_before)
		begin(late);
	else if (!wanted && wanted_before)
		close_profiler();
	if (wanted != wanted_before && collector == &sass_profiler)
		sass_profiler__listen(subscriber, wanted);
	wanted_before = wanted;
}

/* CUPTI waits inside the launch, from where it cannot be called back: that thread stays there, and
 * nobody knows what CUPTI would do with launches of others meanwhile. */
static void look_after_kernel(uint64_t now)
{
	uint64_t since = atomic_load(&alone_since);

	if (atomic_load(&held) || collector != &range_profiler || !since ||
	    now < since + OTHERS_MS * 1000000ULL)
		return;
	atomic_store(&held, true);
	end_with(CUDA_COUNTERS_FAILED);
}

void counters__tick(uint64_t now)
{
	look_after_kernel(now);
	if (!wanted_before)
		return;
	if (is_over() && !closed && atomic_load(&counters_on))
		close_profiler();
	if (now - told < TELL_NS && atomic_load(&told_outcome) == atomic_load(&counts.outcome))
		return;
	told = now;
	tell_state();
}

void counters__finish(void)
{
	if (wanted_before)
		tell_state();
}

void counters__context_ends(void *context)
{
	if (atomic_load_explicit(&counters_on, memory_order_relaxed))
		collector->forget(context);
}
