// SPDX-License-Identifier: BSD-2-Clause
/*
 * How CUPTI (13.0 Update 1, on an H200) was seen to behave, which this code is built on:
 * - Metrics that are added in one call share passes, in a call each they do not: 26 metrics took 3
 *   passes or 29. After a call that fails, its host object answers nothing but errors.
 * - The first start in a context takes 200 ms, every other one microseconds.
 * - Where CUPTI replays kernels, each launch takes 14 ms and more, as it begins and ends all by
 * itself. Where the caller does, that is done by start and stop (7 ms each), a launch takes 1 ms
 * more and still waits for its kernel, and the ranges are there after stop. So what needs no second
 * pass is collected that way, many kernels between a start and a stop. Meanwhile launches of other
 * processes take up to 400 us instead of 15 (a kernel of 5 us and its synchronisation).
 * - A context that was started has its GPU's counters until it is disabled: another one's start
 * finds them held, even after the first has gone.
 * - Ranges gather in the image of counter data; one that is full loses what comes, and says
 * nothing.
 * - Starting before a configuration is set, or decoding after the context has gone, crashes. So
 * after any failure not one more call is made for that context.
 * - Enabled for one configuration it takes another one without a word, and each value is NaN then
 * (H100). So another set of metrics means disabling and enabling, 0.2 to 0.4 s.
 * - A graph that is launched between start and stop has no effect at all where CUPTI replays; where
 * the caller does, stopping fails afterwards (999). Neither happens in a range that the caller
 * pushes and pops: if the caller waits for the graph before the pop, the graph has its effect, and
 * is counted. The range's time (gpu__time_duration) contains the launch and that wait, 19 to 57 us
 * for three kernels of 1.5 us. Replaying such ranges by CUPTI crashes. A context that was enabled
 * for automatic ranges accepts no push, so a request has one way for all of its launches.
 * - Querying counter availability is not required, and takes half a second. But with 12.8 and 12.9
 *   the configuration has one pass then, and as many as are needed where it is queried.
 * - With 12.8 and 12.9 (driver 580) automatic ranges stay empty all the same, those that a caller
 * pushes do not: of neither is anything said. counters.c gives up after a few such kernels.
 */
#include "libcupti-usdt/profile/range_profiler.h"

#include <stdbool.h>
#include <string.h>

#include "libcupti-usdt/profile/counted_launches.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/profile/metric_config.h"
#include "libcupti-usdt/profile/counter_requests.h"
#include "libcupti-usdt/profile/metric_rotation.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/profile/range_calls.h"
#include "libcupti-usdt/profile/stream_waits.h"

#define CONTEXTS	       16 /* one of each GPU */
#define RANGES		       8  /* of an image, where each kernel is stopped for */
#define LIST_MAX	       (32U << 10)
#define CALL(name, parameters) failed(failure, cupti_range__get()->name(parameters), "cupti" #name)

struct session {
	void *context; /* NULL = free */
	uint32_t device;
	void *object;
	const struct metric_config *set; /* that it is enabled for */
	uint8_t *data;
	size_t data_size;
	size_t used;   /* ranges in data */
	size_t first;  /* of those that the last stop brought */
	size_t pushed; /* since start */
	bool started, broken;
};

static struct session sessions[CONTEXTS];
static struct range_plan plan;
static const char *metrics[CUDA_COUNTERS_METRICS];
static bool optional[CUDA_COUNTERS_METRICS];
static struct metric_config sets[CUDA_REQUEST_SETS];
static const struct metric_config *set = sets; /* that kernels are counted with now */
static uint32_t opens;			       /* since what is to be counted was taken */
static uint8_t *availability;		       /* NULL = not queried */
static bool user_ranges; /* of graphs: pushed and popped; else each kernel is one by itself */

static const struct range_plan *range_plan(void)
{
	return &plan;
}

static bool close_session(struct session *session)
{
	struct cupti_range_plain disable = P(cupti_range_plain, object, .object = session->object);
	bool is_done = !session->broken && !cupti_range__get()->RangeProfilerDisable(&disable);

	/* CUPTI is done with the memory of who was disabled, and with no other. */
	if (is_done && session->data)
		munmap(session->data, session->data_size);
	memset(session, 0, sizeof(*session));
	return is_done;
}

static bool close_sessions(void)
{
	bool all = true;

	for (int i = 0; i < CONTEXTS; i++)
		if (sessions[i].context)
			all &= close_session(&sessions[i]);
	return all;
}

/* Contexts that live at the same time take their GPU's counters from each other. */
static void close_those_of(uint32_t device)
{
	for (int i = 0; i < CONTEXTS; i++)
		if (sessions[i].context && sessions[i].device == device)
			close_session(&sessions[i]);
}

static void range_close(void)
{
	bool all = close_sessions();

	for (uint32_t i = 0; i < CUDA_REQUEST_SETS; i++)
		metric_config__close(&sets[i], all);
}

/* Metrics by sets: "a,b;c,d". How many sets there are, 0 = they make no sense. */
static uint32_t split(const char *request)
{
	static char list[LIST_MAX];
	uint32_t count = 0, made = 0;
	char *rest = list, *part, *name;

	memset(list, 0, sizeof(list));
	strncpy(list, request, sizeof(list) - 1);
	while (made < CUDA_REQUEST_SETS && (part = strsep(&rest, ";"))) {
		sets[made].metrics = metrics + count;
		sets[made].optional = optional + count;
		while (count < CUDA_COUNTERS_METRICS && (name = strsep(&part, ","))) {
			if (!*name)
				continue;
			optional[count] = *name == '?';
			metrics[count] = name + optional[count];
			count++;
			sets[made].count++;
		}
		made += sets[made].count != 0;
	}
	return made;
}

/* Kept: host objects may look into it as long as there are any. */
static int ask_availability(struct range_failure *failure)
{
	struct cupti_availability ask = P(cupti_availability, image);

	if (availability || cupti_api__get()->version >= CUPTI_VERSION_13_0 ||
	    !cupti_range__get()->ProfilerGetCounterAvailability)
		return 0;
	if (CALL(ProfilerGetCounterAvailability, &ask))
		return -1;
	ask.image = map(ask.image_size, failure);
	if (!ask.image || CALL(ProfilerGetCounterAvailability, &ask))
		return -1;
	availability = ask.image;
	return 0;
}

static void range_use(uint32_t which)
{
	if (which >= plan.sets)
		return;
	set = &sets[which];
	plan.first = set->metrics - metrics;
	plan.values = set->count;
	plan.passes = set->passes;
	plan.set = which;
}

/* Those of a set that lack leave a gap behind. */
static void close_gaps(void)
{
	plan.count = 0;
	for (uint32_t i = 0; i < plan.sets; i++) {
		memmove(metrics + plan.count, sets[i].metrics, sets[i].count * sizeof(*metrics));
		sets[i].metrics = metrics + plan.count;
		plan.count += sets[i].count;
	}
}

/* No graph is launched again for a further pass: that would change the program's memory. */
static int check_passes(struct range_failure *failure)
{
	for (uint32_t i = 0; i < plan.sets && user_ranges; i++) {
		if (sets[i].passes == 1)
			continue;
		plan.passes = sets[i].passes;
		return failed(failure, CUDA_COUNTERS_PASSES, "cuptiProfilerHostGetNumOfPasses");
	}
	return 0;
}

static int range_prepare(const struct request *request, uint32_t device,
			 struct range_failure *failure)
{
	struct cupti_profiler_initialize begin = P(cupti_profiler_initialize, private);
	struct cupti_chip_name chip = P(cupti_chip_name, name, .device = device);

	/* Of the previous request, if it was not released then. */
	range_close();
	opens = 0;
	user_ranges = request->graphs;
	plan.sets = split(request->metrics);
	if (!plan.sets)
		return failed(failure, CUPTI_UNKNOWN_METRIC, "no metric");
	if (CALL(ProfilerInitialize, &begin) || CALL(DeviceGetChipName, &chip) ||
	    ask_availability(failure))
		return -1;
	strncpy(plan.chip, chip.name ? chip.name : "", sizeof(plan.chip) - 1);
	for (uint32_t i = 0; i < plan.sets; i++)
		if (metric_config__open(&sets[i], plan.chip, availability, failure))
			return -1;
	plan.metrics = metrics;
	close_gaps();
	range_use(0);
	return check_passes(failure);
}

static void range_describe(const char *metric, struct range_metric *description)
{
	struct cupti_host_properties ask =
		P(cupti_host_properties, type, .host = set->host, .metric = metric);

	memset(description, 0, sizeof(*description));
	if (!set->host || cupti_range__get()->ProfilerHostGetMetricProperties(&ask))
		return;
	description->unit = ask.unit;
	description->description = ask.description;
	description->type = ask.type;
}

static struct session *find(void *context)
{
	for (int i = 0; i < CONTEXTS; i++)
		if (sessions[i].context == context)
			return &sessions[i];
	return NULL;
}

/* The time of a graph is waited for here (range_end), and so it may be counted among others. */
static bool gathers(void)
{
	return set->gathers || (user_ranges && cupti_api__get()->version >= CUPTI_VERSION_13_0);
}

static uint32_t ranges_most(void)
{
	return gathers() ? COUNTED_LAUNCHES_MAX : RANGES;
}

/* An empty image of counter data, and the configuration with it: both again when it is full. */
static int set_config(struct session *session, struct range_failure *failure)
{
	struct cupti_range_data data = P(cupti_range_data, data, .object = session->object,
					 .data_size = session->data_size, .data = session->data);
	struct cupti_range_config to =
		P(cupti_range_config, target_level, .object = session->object,
		  .image_size = set->size, .image = set->image, .data_size = session->data_size,
		  .data = session->data, .range = user_ranges ? CUPTI_RANGE_USER : CUPTI_RANGE_AUTO,
		  .replay = user_ranges || set->gathers ? CUPTI_REPLAY_USER : CUPTI_REPLAY_KERNEL,
		  .ranges = ranges_most(), .levels = 1, .lowest_level = 1);

	session->used = 0;
	if (CALL(RangeProfilerCounterDataImageInitialize, &data))
		return -1;
	return CALL(RangeProfilerSetConfig, &to);
}

static int open_session(struct session *session, void *context, uint32_t device,
			struct range_failure *failure)
{
	struct cupti_range_enable enable = P(cupti_range_enable, object, .context = context);
	struct cupti_range_data_size size =
		P(cupti_range_data_size, data_size, .names = set->metrics, .count = set->count,
		  .ranges = ranges_most(), .nodes = ranges_most());

	*session =
		(struct session){.context = context, .device = device, .set = set, .broken = true};
	opens++;
	if (CALL(RangeProfilerEnable, &enable))
		return -1;
	session->object = size.object = enable.object;
	if (CALL(RangeProfilerGetCounterDataSize, &size))
		return -1;
	session->data_size = size.data_size;
	session->data = map(size.data_size, failure);
	if (!session->data || set_config(session, failure))
		return -1;
	session->broken = false;
	return 0;
}

/* CUPTI takes another set only if it is enabled anew. */
static bool is_open(const struct session *session)
{
	return session && (session->broken || session->set == set);
}

static uint32_t range_opens(void *context)
{
	return opens + (context && !is_open(find(context)));
}

static int start_session(struct session *session, struct range_failure *failure)
{
	struct cupti_range_plain start = P(cupti_range_plain, object, .object = session->object);

	if (session->started)
		return 0;
	if (session->used == ranges_most() && set_config(session, failure))
		return -1;
	if (CALL(RangeProfilerStart, &start))
		return -1;
	session->pushed = 0;
	session->started = true;
	return 0;
}

/* Each has a name of its own: nobody knows what CUPTI does with two of one name. Without a range
 * CUPTI does not stay started, as it would be into the launch. */
static int push_range(struct session *session, struct range_failure *failure)
{
	size_t number = session->used + session->pushed;
	const char name[] = {'r', '0' + number / 10 % 10, '0' + number % 10, 0};
	struct cupti_range_push push =
		P(cupti_range_push, name, .object = session->object, .name = name);
	struct cupti_range_stop stop =
		P(cupti_range_stop, all_submitted, .object = session->object);

	if (!user_ranges)
		return 0;
	session->pushed++;
	if (!CALL(RangeProfilerPushRange, &push))
		return 0;
	cupti_range__get()->RangeProfilerStop(&stop);
	session->started = false;
	return -1;
}

static int range_start(void *context, struct range_failure *failure)
{
	struct session *session = find(context);
	uint32_t device = 0;

	if (!is_open(session)) {
		cupti_api__get()->GetDeviceId(context, &device);
		close_those_of(device);
		session = find(NULL);
		if (!session)
			return failed(failure, CUPTI_OUT_OF_MEMORY, "more than 16 GPUs");
		if (open_session(session, context, device, failure))
			return -1;
	}
	if (session->broken)
		return failed(failure, CUPTI_NOT_SUPPORTED, "the context has failed before");
	session->broken = start_session(session, failure) || push_range(session, failure);
	return session->broken ? -1 : 0;
}

/* A graph that does not end leaves its range as it is, and CUPTI started: nobody knows what it
 * would wait for. */
static int range_end(void *context, void *stream, struct range_failure *failure)
{
	struct session *session = find(context);
	struct cupti_range_plain pop = P(cupti_range_plain, object);

	if (!user_ranges || !session || session->broken)
		return 0;
	pop.object = session->object;
	/* The graph may have failed; the program's own next call reports that. */
	if (stream_waits__wait(stream) == STREAM_WAITS_NOT_READY)
		failed(failure, CUDA_COUNTERS_NO_END, "the graph");
	else if (!CALL(RangeProfilerPopRange, &pop))
		return 0;
	session->broken = true;
	return -1;
}

static uint32_t range_capacity(void *context)
{
	const struct session *session = find(context);

	return gathers() && session ? ranges_most() - session->used : 1;
}

/* 0: there are others, too, of launches that were under way before anybody looked: whose is whose?
 * Of those that were pushed the last one may be of a launch that failed. */
static int are_there(struct session *session, uint32_t kernels, struct range_failure *failure)
{
	struct cupti_range_info info =
		P(cupti_range_info, ranges, .data = session->data, .data_size = session->data_size);

	if (CALL(RangeProfilerGetCounterDataInfo, &info))
		return -1;
	session->first = session->used;
	session->used = info.ranges;
	if (user_ranges)
		kernels = kernels <= session->pushed ? session->pushed : UINT32_MAX;
	return session->used - session->first == kernels;
}

static int range_stop(void *context, void *stream, uint32_t kernels, struct range_failure *failure)
{
	struct session *session = find(context);
	struct cupti_range_stop stop = P(cupti_range_stop, all_submitted);
	struct cupti_range_decode decode = P(cupti_range_decode, dropped);
	int came = -1;

	/* The context went meanwhile. */
	if (!session || session->broken)
		return 0;
	session->started = false;
	stop.object = decode.object = session->object;
	if (!CALL(RangeProfilerStop, &stop) && !CALL(RangeProfilerDecodeData, &decode))
		came = are_there(session, kernels, failure);
	if (came < 0)
		session->broken = true;
	return came;
}

static int range_values(void *context, uint32_t which, double *values,
			struct range_failure *failure)
{
	struct session *session = find(context);
	struct cupti_host_evaluate ask =
		P(cupti_host_evaluate, values, .host = set->host, .names = set->metrics,
		  .count = set->count, .values = values);

	if (!session)
		return failed(failure, CUPTI_NOT_SUPPORTED, "the context has gone");
	ask.data = session->data;
	ask.data_size = session->data_size;
	ask.range = session->first + which;
	if (!CALL(ProfilerHostEvaluateToGpuValues, &ask))
		return 0;
	session->broken = true;
	return -1;
}

/* Else the next context would not get the counters. */
static void range_forget(void *context, bool is_quiet)
{
	struct session *session = find(context);

	if (!session)
		return;
	/* CUPTI may be at work there: the memory stays mapped. */
	if (session->started || !is_quiet)
		memset(session, 0, sizeof(*session));
	else
		close_session(session);
}

static const char *range_lack(const struct request *request)
{
	const struct cupti_range *range = cupti_range__get();

	if (!range)
		return "libcupti before 12.6: no range profiler";
	if (request->graphs && (!range->RangeProfilerPushRange || !stream_waits__is_there()))
		return "libcupti without cuptiRangeProfilerPushRange";
	return NULL;
}

static void range_tell(const struct cuda_counters *kernel)
{
}

const struct collector range_profiler = {
	.lack = range_lack,
	.prepare = range_prepare,
	.plan = range_plan,
	.describe = range_describe,
	.use = range_use,
	.start = range_start,
	.end = range_end,
	.opens = range_opens,
	.capacity = range_capacity,
	.stop = range_stop,
	.values = range_values,
	.tell = range_tell,
	.forget = range_forget,
	.close = range_close,
};
