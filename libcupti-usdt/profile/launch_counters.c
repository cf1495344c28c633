// SPDX-License-Identifier: BSD-2-Clause
/*
 * One launch at a time is counted, alone, of a kernel or, if requested, of a graph: its callback at
 * entry starts CUPTI's range profiler and the one at exit reads the values. Both run on the
 * program's thread; that launch takes its passes' time anyway. All other launches hold the gate
 * open while they last, and wait while it is shut.
 *
 * Starting and stopping takes longer than most kernels. Where the collector has capacity the
 * profiler stays started, and counted launches gather until something else comes (`gathering`).
 * Failure modes: 1. a graph's launch does nothing, and a capture fails, while it is started (but
 * for a graph in a range that range_profiler.c pushes). So
 * whoever goes among the others stops it first, and keeps it from being started. 2. nobody stops
 * it: the tool leaves, the program pauses, its context goes, it ends. Each of them stops it;
 * callbacks stay on until then. 3. other launches come between: then the number of ranges is not
 * that of the launches, and none is reported rather than one wrong.
 */
#include "libcupti-usdt/profile/launch_counters.h"

#include <stdatomic.h>
#include <string.h>

#include "libcupti-usdt/trace/api_calls.h"
#include "libcupti-usdt/profile/stream_captures.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/profile/counted_launches.h"
#include "libcupti-usdt/profile/counter_state.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/profile/range_profiler_limit.h"
#include "libcupti-usdt/profile/kernel_choice.h"
#include "libcupti-usdt/profile/launch_gate.h"
#include "libcupti-usdt/trace/launches.h"
#include "libcupti-usdt/profile/metric_rotation.h"
#include "libcupti-usdt/profile/range_calls.h"
#include "libcupti-usdt/profile/range_profiler.h"
#include "libcupti-usdt/profile/counter_requests.h"
#include "libcupti-usdt/profile/sass_profiler.h"

#define TELL_NS	  1000000000ULL
#define GATHER_NS 500000000ULL
#define CLOSE_NS  10000000000ULL
#define OTHERS_MS 60000 /* a counted kernel may take long, and as often as there are passes */
#define UNWANTED  2	/* a launch that has been counted with all metrics */
#define SILENT	  3	/* kernels without values, none before with any: there will be none */
/* Launches that were under way when the callbacks came on are not in the gate. Once they have had
 * this time they are over, unless the GPU's queue was full of kernels that take longer. */
#define SETTLE_NS 300000000ULL

static atomic_bool counters_on;
static const struct collector *collector = &range_profiler; /* set before the group is on */

static struct counter_state state;
static atomic_bool prepared;
static _Atomic(uint64_t) settled; /* ns; before it no kernel is counted */
static uint64_t started;	  /* ns; of the launch that is counted */
static uint32_t silent;		  /* kernels that were launched, and had no values */
/* The profiler is started though nobody is alone; changed by the one alone, while nobody else is
 * among the launches. */
static atomic_bool gathering;
static void *gathered_in;		 /* context */
static _Atomic(uint64_t) gathered_since; /* ns */

static bool wanted_before;
static atomic_bool draining;   /* nobody listens any more */
static uint64_t closing_since; /* ns; 0 = nobody has tried */

static void end_with(enum cuda_counters_outcome outcome)
{
	atomic_store(&state.outcome, outcome);
}

static bool is_over(void)
{
	return atomic_load(&draining) || counter_state__has_ended(&state);
}

static void tell_state(void)
{
	counter_state__send(&state, collector->plan());
}

static bool prepare(void *context)
{
	if (atomic_load(&prepared))
		return true;
	cupti_api__get()->GetDeviceId(context, &state.device);
	if (collector->prepare(counter_requests__get(), state.device, &state.failure))
		return false;
	atomic_store(&prepared, true);
	counted_launches__tell_metrics(collector);
	atomic_store(&state.outcome, CUDA_COUNTERS_ON);
	/* Who waits for the passes is to know before the first kernel takes them. */
	tell_state();
	return true;
}

static bool is_chosen(uint32_t cbid, const struct cupti_callback_data *data)
{
	uint64_t number, skip = counter_requests__get()->skip, limit = metric_rotation__limit();
	bool is_graph = launches__is_graph(CUPTI_DOMAIN_DRIVER, cbid);

	atomic_fetch_add(is_graph ? &state.graphs : &state.launches, 1);
	if (is_graph != counter_requests__get()->graphs)
		return false;
	if (clock__now() < atomic_load_explicit(&settled, memory_order_relaxed))
		return false;
	if (is_over() || (!is_graph && !kernel_choice__takes(data->symbol_name)) ||
	    stream_captures__takes(counted_launches__stream(cbid, data)) ||
	    !metric_rotation__wants(counted_launches__kind(cbid, data)))
		return false;
	number = atomic_fetch_add(&state.matched, 1);
	return number >= skip && (!limit || atomic_load(&state.counted) < limit);
}

/*
 * CUPTI 12.8 and 12.9 with driver 580 run each pass, report success, and have no range then. Who
 * does not notice makes every launch of the program wait for nothing.
 */
static bool is_silent(uint32_t kernels)
{
	if (collector != &range_profiler || atomic_load(&state.counted))
		return false;
	silent += kernels;
	if (silent < SILENT)
		return false;
	state.failure.result = CUDA_COUNTERS_SILENT;
	state.failure.function = "cuptiRangeProfilerDecodeData";
	return true;
}

/* Stops what was started, and emits the values of its launches. The caller holds the gate alone;
 * in_last: called from the last of those launches, which takes as long then. */
static void collect(void *stream, bool in_last)
{
	uint64_t limit = metric_rotation__limit(), before = atomic_load(&state.counted);
	uint32_t kernels = counted_launches__count();
	int mode = stream_captures__relax();
	int came = collector->stop(gathered_in, stream, kernels, &state.failure);

	stream_captures__restore(mode);
	if (in_last)
		counted_launches__last_ends();
	atomic_store(&gathering, false);
	if (came > 0 && counted_launches__tell(collector, &state.counted, &state.failure))
		came = -1;
	counted_launches__forget();
	atomic_fetch_add(&state.missed, before + kernels - atomic_load(&state.counted));
	if (came < 0 || (!came && !counter_state__has_ended(&state) && is_silent(kernels)))
		end_with(CUDA_COUNTERS_FAILED);
	else if (limit && atomic_load(&state.counted) >= limit && !atomic_load(&state.held))
		end_with(CUDA_COUNTERS_DONE);
}

/* What would be one time too many in a process that launches graphs. */
static bool is_worn(uint32_t opens)
{
	return !range_profiler_limit__allows(opens, atomic_load(&state.graphs)) &&
	       failed(&state.failure, CUDA_COUNTERS_WORN, "cuptiRangeProfilerEnable");
}

/* That of the metrics which this kernel is to be counted with. */
static bool choose_set(uint64_t kind)
{
	uint32_t now = collector->plan()->set;
	int set = metric_rotation__next(kind, now);

	if (set < 0 || set == (int)now)
		return set >= 0;
	if (atomic_load(&gathering))
		collect(NULL, false);
	collector->use(set);
	return !is_over();
}

static bool start_alone(uint32_t cbid, const struct cupti_callback_data *data)
{
	int came, mode;

	if (!launch_gate__enter_alone()) {
		atomic_fetch_add(&state.missed, 1);
		return false;
	}
	if (stream_captures__any()) {
		launch_gate__leave_alone();
		atomic_fetch_add(&state.missed, 1);
		return false;
	}
	atomic_store(&state.alone_since, clock__now());
	if (atomic_load(&gathering) && gathered_in != data->context)
		collect(NULL, false);
	started = clock__now();
	/* Another thread may have come to the end while this one waited, or the listener left. */
	if (!is_over() && atomic_load(&counters_on)) {
		mode = stream_captures__relax();
		if (!prepare(data->context))
			came = -1;
		else if (!choose_set(counted_launches__kind(cbid, data)))
			came = UNWANTED;
		else if (collector->opens && is_worn(collector->opens(data->context)))
			came = -1;
		else
			came = collector->start(data->context, &state.failure);
		stream_captures__restore(mode);
		gathered_in = data->context;
		if (!came)
			return true;
		if (came != UNWANTED)
			end_with(came > 0 ? CUDA_COUNTERS_DONE : CUDA_COUNTERS_FAILED);
		else if (!metric_rotation__limit()) /* the table has no slot for another kernel */
			atomic_fetch_add(&state.missed, 1);
	}
	atomic_store(&state.alone_since, 0);
	launch_gate__leave_alone();
	return false;
}

static bool has_space(void)
{
	uint64_t limit = metric_rotation__limit();
	uint32_t gathered = counted_launches__count();

	return collector->capacity && gathered < collector->capacity(gathered_in) && !is_over() &&
	       atomic_load(&counters_on) &&
	       (!limit || atomic_load(&state.counted) + gathered < limit);
}

static bool end_launch(uint32_t cbid, const struct cupti_callback_data *data)
{
	int mode, came;

	if (!collector->end)
		return true;
	mode = stream_captures__relax();
	came = collector->end(data->context, counted_launches__stream(cbid, data), &state.failure);
	stream_captures__restore(mode);
	if (came)
		end_with(CUDA_COUNTERS_FAILED);
	return !came;
}

static void finish_alone(uint32_t cbid, const struct cupti_callback_data *data)
{
	bool is_success = !data->return_value || !*(const int *)data->return_value;

	is_success &= end_launch(cbid, data);
	if (is_success)
		counted_launches__add(cbid, data, collector->plan()->set, started);
	else
		atomic_fetch_add(&state.missed, 1);
	if (!is_success || !has_space()) {
		collect(counted_launches__stream(cbid, data), is_success);
	} else if (!atomic_load(&gathering)) {
		atomic_store(&gathered_since, clock__now());
		atomic_store(&gathering, true);
	}
	atomic_store(&state.alone_since, 0);
	launch_gate__leave_alone();
}

/* A launch that is not counted, or a capture that begins. */
static void enter_among_others(void)
{
	for (uint64_t end = clock__now() + OTHERS_MS * 1000000ULL;;) {
		if (!launch_gate__enter(OTHERS_MS) || !atomic_load(&gathering))
			return;
		launch_gate__leave();
		if (launch_gate__enter_alone()) {
			if (atomic_load(&gathering))
				collect(NULL, false);
			launch_gate__join();
			return;
		}
		if (clock__now() > end)
			break;
	}
	launch_gate__enter(0);
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

void launch_counters__enter(int domain, uint32_t cbid, const struct cupti_callback_data *data)
{
	bool begins = capture_of(domain, cbid) == API_CALLS_CAPTURE_BEGINS;

	if ((!begins && !is_ours(domain, cbid)) || launch_gate__is_mine())
		return;
	/* Also when the listener has left: the kernel that is being counted is counted to its end.
	 */
	if (!launch_counters__is_counting())
		return;
	if (begins || !atomic_load(&counters_on) || !is_chosen(cbid, data) ||
	    !start_alone(cbid, data))
		enter_among_others();
}

/* A capture fails if a kernel is counted meanwhile (H200). */
static void note_capture(bool begins, const struct cupti_callback_data *data)
{
	if (launch_gate__is_mine())
		return;
	if (!begins)
		stream_captures__ends();
	else if (!data->return_value || !*(const int *)data->return_value)
		stream_captures__begins();
	if (begins)
		launch_gate__leave();
}

void launch_counters__leave(int domain, uint32_t cbid, const struct cupti_callback_data *data)
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

static void note_session(void)
{
	if (atomic_load(&state.graphs) && atomic_load(&prepared) && collector->opens)
		range_profiler_limit__note(collector->opens(NULL),
					   atomic_load(&state.outcome) == CUDA_COUNTERS_FAILED);
}

/* Forgets the previous request. */
static void forget(void)
{
	note_session();
	counter_state__clear(&state);
	silent = 0;
	closing_since = 0;
	atomic_store(&prepared, false);
	atomic_store(&draining, false);
	launch_gate__reset();
	stream_captures__forget();
}

static void begin(bool late)
{
	const struct request *request = counter_requests__get();
	const char *lack;

	forget();
	metric_rotation__begin(request->metrics, request->limit);
	atomic_store(&settled, late ? clock__now() + SETTLE_NS : 0);
	collector = strcmp(request->metrics, SASS_REQUEST) ? &range_profiler : &sass_profiler;
	lack = collector->lack(request);
	if (lack)
		failed(&state.failure, CUPTI_NOT_SUPPORTED, lack);
	else if (collector->opens)
		is_worn(1);
	if (!state.failure.result && !kernel_choice__compile(request->kernels))
		failed(&state.failure, 1, "regcomp");
	if (state.failure.result)
		end_with(CUDA_COUNTERS_FAILED);
	else
		atomic_store(&counters_on, true);
	tell_state();
}

/* On this library's thread; launches go on as if nothing was counted, if it is not yet over. */
static bool is_the_turn_of_nobody(void)
{
	return !launch_gate__is_shut() && launch_gate__enter_alone();
}

/* Not where a kernel is being counted: this thread has other work. */
static void collect_late(void)
{
	if (!atomic_load(&gathering) || !is_the_turn_of_nobody())
		return;
	if (atomic_load(&gathering))
		collect(NULL, false);
	launch_gate__leave_alone();
}

/* Again and again until it comes to an end: no launch may be under way (range_profiler.c). So all
 * of them come through the gate until then, and where one does not end CUPTI is not disabled. */
static void close_profiler(uint64_t now)
{
	if (!closing_since)
		closing_since = now;
	if (is_the_turn_of_nobody()) {
		if (atomic_load(&gathering))
			collect(NULL, false);
		if (atomic_load(&prepared))
			collector->close();
		atomic_store(&counters_on, false);
		launch_gate__leave_alone();
	} else if (now - closing_since > CLOSE_NS && !launch_gate__is_shut() &&
		   !atomic_load(&gathering)) {
		atomic_store(&counters_on, false);
	}
}

void launch_counters__drain(void)
{
	atomic_store(&draining, true);
	if (atomic_load(&counters_on))
		close_profiler(clock__now());
}

bool launch_counters__is_draining(void)
{
	return atomic_load(&draining);
}

bool launch_counters__is_counting(void)
{
	return launch_gate__is_shut() || atomic_load(&counters_on);
}

void launch_counters__follow(void *subscriber, bool wanted, bool late)
{
	if (wanted && !wanted_before)
		begin(late);
	else if (!wanted)
		atomic_store(&counters_on, false);
	if (wanted != wanted_before && collector == &sass_profiler)
		sass_profiler__listen(subscriber, wanted);
	wanted_before = wanted;
}

/* CUPTI waits inside the launch, from where it cannot be called back: that thread stays there, and
 * nobody knows what CUPTI would do with launches of others meanwhile. */
static void look_after_kernel(uint64_t now)
{
	uint64_t since = atomic_load(&state.alone_since);

	/* A graph's end is waited for by us, not by CUPTI, and that wait has an end of its own. */
	if (atomic_load(&state.held) || collector != &range_profiler || !since ||
	    now < since + (counter_requests__get()->graphs ? 2 : 1) * OTHERS_MS * 1000000ULL)
		return;
	atomic_store(&state.held, true);
	end_with(CUDA_COUNTERS_FAILED);
}

void launch_counters__tick(uint64_t now)
{
	look_after_kernel(now);
	if (!wanted_before)
		return;
	if (now - atomic_load(&gathered_since) >= GATHER_NS)
		collect_late();
	if (is_over() && atomic_load(&counters_on))
		close_profiler(now);
	if (now - counter_state__sent_at() >= TELL_NS || counter_state__is_new(&state))
		tell_state();
}

void launch_counters__finish(void)
{
	if (!wanted_before)
		return;
	/* Callbacks are deaf from here on. */
	atomic_store(&counters_on, false);
	collect_late();
	tell_state();
}

void launch_counters__context_ends(void *context)
{
	bool is_alone = launch_counters__is_counting() && launch_gate__enter_alone();

	if (is_alone && atomic_load(&gathering) && gathered_in == context)
		collect(NULL, false);
	collector->forget(context, is_alone);
	if (is_alone)
		launch_gate__leave_alone();
}
