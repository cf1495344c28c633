// SPDX-License-Identifier: BSD-2-Clause
// Profiler host and range profiler, as one of an H200 was seen to behave (README.md): a host object
// is spoilt by a metric that it does not have, ranges gather until the image is full, a start
// without configuration crashes, and so does decoding for a context that is gone. Kernels run once;
// each further pass only takes time. Ranges of the caller's own may contain graphs (H200, driver
// 580, 13.0): a replay by kernel crashes there, and no configuration changes what a range is.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tests/simcuda/cupti/tracer.h"
#include "tests/simcuda/cupti_sass.h"
#include "tests/simcuda/pm.h"
#include "tests/simcuda/profiler.h"
#include "tests/simcuda/cupti/ranges.h"

#define CONTEXTS  16
#define PASS_MS	  1
#define SHARED	  8	     /* metrics that one pass collects */
#define PM_SHARED 16	     /* and one of PM sampling */
#define BLIND	  (1U << 31) /* of the passes: automatic ranges stay empty */

struct host {
	bool spoilt, blind;
	uint32_t passes, shared, hash;
};

struct config {
	uint32_t passes, hash; /* of the metrics */
};

struct image {
	uint32_t magic, ranges, most;
	uint32_t gathered; /* ranges that nobody sees before Stop and Decode */
	uint32_t stale;	   /* CUPTI was enabled for another configuration: no value is a number */
	struct range list[];
};
#define MAGIC 0x52414e47

struct profiler {
	/* Other threads ask as their calls return. */
	_Atomic(CUcontext) context; /* NULL: free */
	atomic_bool started, dead;
	struct config config;
	bool by_caller;			 /* replay: nobody launches a kernel again */
	bool user_ranges, was_automatic; /* by its last configuration, by its first */
	bool spoilt;			 /* a graph ran, and nobody replays: its stop fails */
	bool pushed;
	struct range open; /* while pushed */
	bool holds;	   /* the counters, from its first start until it is disabled */
	struct image *image;
};

static struct profiler profilers[CONTEXTS];
static atomic_bool used; /* anything was started yet */
static atomic_bool
	held_by_dead; /* a context that went before it was disabled: nobody has them now */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define FAIL_ON_REQUEST(name)                                                \
	do {                                                                 \
		int fault = sim_profiler__fault("cupti" #name);              \
		if (fault)                                                   \
			return fault;                                        \
		if (!parameters || !parameters->size || parameters->private) \
			return CUPTI_ERROR_INVALID_PARAMETER;                \
	} while (0)

CUptiResult cuptiProfilerInitialize(struct cupti_profiler_initialize *parameters)
{
	FAIL_ON_REQUEST(ProfilerInitialize);
	/* The host functions work without a driver nevertheless. */
	return bridge__get() ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

CUptiResult cuptiDeviceGetChipName(struct cupti_chip_name *parameters)
{
	const char *chip = getenv("SIMCUDA_CHIP");

	FAIL_ON_REQUEST(DeviceGetChipName);
	parameters->name = chip ? chip : "GH100";
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(struct cupti_availability *parameters)
{
	FAIL_ON_REQUEST(ProfilerGetCounterAvailability);
	parameters->image_size = 16;
	if (parameters->image)
		memset(parameters->image, 0, 16);
	return CUPTI_SUCCESS;
}

/* 12.8 and 12.9 with driver 580: whoever does not ask for the availability gets one pass, and no
 * automatic range has values. */
static uint32_t passes_of(const struct host *host)
{
	if (settings__get()->version >= 1300 || host->shared == PM_SHARED)
		return host->passes;
	return (host->blind ? 1 : host->passes) | (getenv("SIMCUDA_RANGES") ? 0 : BLIND);
}

CUptiResult cuptiProfilerHostInitialize(struct cupti_host_initialize *parameters)
{
	FAIL_ON_REQUEST(ProfilerHostInitialize);
	if (!parameters->chip || strcmp(parameters->chip, "GH100"))
		return CUPTI_NOT_SUPPORTED;
	parameters->host = calloc(1, sizeof(struct host));
	((struct host *)parameters->host)->shared =
		parameters->type == CUPTI_TYPE_PM_SAMPLING ? PM_SHARED : SHARED;
	((struct host *)parameters->host)->blind = !parameters->availability;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(struct cupti_host_deinitialize *parameters)
{
	FAIL_ON_REQUEST(ProfilerHostDeinitialize);
	free(parameters->host);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetBaseMetrics(struct cupti_host_base_metrics *parameters)
{
	static const char *names[3][128];
	const struct sim_metric *metric;
	size_t count = 0;

	FAIL_ON_REQUEST(ProfilerHostGetBaseMetrics);
	if (parameters->type < 0 || parameters->type > 2)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; (metric = sim_metric__at(i)); i++)
		if (metric->type == parameters->type && sim_metric__find(metric->name, false))
			names[parameters->type][count++] = metric->name;
	parameters->names = names[parameters->type];
	parameters->count = count;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetSubMetrics(struct cupti_host_sub_metrics *parameters)
{
	FAIL_ON_REQUEST(ProfilerHostGetSubMetrics);
	if (!sim_metric__find(parameters->metric, false))
		return CUPTI_UNKNOWN_METRIC;
	parameters->names =
		(const char **)sim_metric__rollups(parameters->type, &parameters->count);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMetricProperties(struct cupti_host_properties *parameters)
{
	const struct sim_metric *metric;

	FAIL_ON_REQUEST(ProfilerHostGetMetricProperties);
	metric = sim_metric__find(parameters->metric, false);
	if (!metric || (getenv("SIMCUDA_BARE_METRICS") && !strchr(parameters->metric, '.')))
		return CUPTI_UNKNOWN_METRIC;
	parameters->unit = metric->unit;
	parameters->description = "a metric of the simulated GPU";
	parameters->hardware_unit = "sim";
	parameters->type = metric->type;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(struct cupti_host_metrics *parameters)
{
	struct host *host = parameters->host;
	bool alone = false;

	FAIL_ON_REQUEST(ProfilerHostConfigAddMetrics);
	if (host->spoilt)
		return CUPTI_ERROR_UNKNOWN;
	for (size_t i = 0; i < parameters->count; i++) {
		alone |= !strncmp(parameters->names[i], "sim__alone.", 11);
		host->spoilt |= !sim_metric__find(parameters->names[i], true);
		for (const char *at = parameters->names[i]; *at; at++)
			host->hash = host->hash * 31 + (unsigned char)*at;
		/* Two passes even by itself. */
		host->passes += !strncmp(parameters->names[i], "sim__heavy.", 11);
	}
	host->spoilt |= alone && parameters->count > 1;
	if (host->spoilt)
		return CUPTI_ERROR_INVALID_PARAMETER;
	host->passes += (parameters->count + host->shared - 1) / host->shared;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(struct cupti_host_image_size *parameters)
{
	FAIL_ON_REQUEST(ProfilerHostGetConfigImageSize);
	parameters->image_size = sizeof(struct config);
	return ((struct host *)parameters->host)->spoilt ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(struct cupti_host_image *parameters)
{
	const struct host *host = parameters->host;
	const struct config config = {passes_of(host), host->hash};

	FAIL_ON_REQUEST(ProfilerHostGetConfigImage);
	memcpy(parameters->image, &config, sizeof(config));
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(struct cupti_host_passes *parameters)
{
	struct config config;

	FAIL_ON_REQUEST(ProfilerHostGetNumOfPasses);
	memcpy(&config, parameters->image, sizeof(config));
	parameters->passes = config.passes & ~BLIND;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(struct cupti_host_evaluate *parameters)
{
	const struct image *image = (const void *)parameters->data;

	FAIL_ON_REQUEST(ProfilerHostEvaluateToGpuValues);
	if (pm_sampling__evaluate(parameters))
		return CUPTI_SUCCESS;
	if (parameters->range >= image->ranges)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < parameters->count; i++)
		parameters->values[i] = image->stale ? NAN
						     : range__value(&image->list[parameters->range],
								    parameters->names[i]);
	return CUPTI_SUCCESS;
}

static struct profiler *find(CUcontext context)
{
	for (int i = 0; i < CONTEXTS; i++)
		if (profilers[i].context == context)
			return &profilers[i];
	return NULL;
}

CUptiResult cuptiRangeProfilerEnable(struct cupti_range_enable *parameters)
{
	struct profiler *profiler;

	FAIL_ON_REQUEST(RangeProfilerEnable);
	pthread_mutex_lock(&lock);
	profiler = find(parameters->context);
	if (!profiler)
		profiler = find(NULL);
	if (profiler) {
		profiler->started = profiler->dead = false;
		profiler->config = (struct config){0};
		profiler->holds = profiler->pushed = profiler->spoilt = false;
		profiler->image = NULL;
		profiler->context = parameters->context;
	}
	pthread_mutex_unlock(&lock);
	parameters->object = profiler;
	bridge__get()->log("profiler_enable");
	return profiler ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
}

CUptiResult cuptiRangeProfilerDisable(struct cupti_range_plain *parameters)
{
	FAIL_ON_REQUEST(RangeProfilerDisable);
	((struct profiler *)parameters->object)->context = NULL;
	((struct profiler *)parameters->object)->holds = false;
	bridge__get()->log("profiler_disable");
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(struct cupti_range_data_size *parameters)
{
	FAIL_ON_REQUEST(RangeProfilerGetCounterDataSize);
	parameters->data_size = sizeof(struct image) + parameters->ranges * sizeof(struct range);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(struct cupti_range_data *parameters)
{
	struct image *image = (void *)parameters->data;

	FAIL_ON_REQUEST(RangeProfilerCounterDataImageInitialize);
	*image = (struct image){
		MAGIC, 0, (parameters->data_size - sizeof(*image)) / sizeof(struct range), 0, 0};
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(struct cupti_range_config *parameters)
{
	struct profiler *profiler = parameters->object;
	struct config config;

	FAIL_ON_REQUEST(RangeProfilerSetConfig);
	profiler->image = (void *)parameters->data;
	memcpy(&config, parameters->image, sizeof(config));
	profiler->user_ranges = parameters->range == CUPTI_RANGE_USER;
	if (!profiler->config.passes) {
		profiler->config = config;
		profiler->was_automatic = !profiler->user_ranges;
	}
	profiler->image->stale = profiler->config.hash != config.hash;
	profiler->by_caller = parameters->replay == CUPTI_REPLAY_USER;
	if ((parameters->range != CUPTI_RANGE_AUTO && !profiler->user_ranges) ||
	    profiler->image->magic != MAGIC || parameters->levels != 1)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return profiler->by_caller || parameters->replay == CUPTI_REPLAY_KERNEL
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_INVALID_PARAMETER;
}

static bool is_held_by_another(const struct profiler *profiler)
{
	uint32_t device = 0, other = 0;

	cuptiGetDeviceId(profiler->context, &device);
	for (int i = 0; i < CONTEXTS; i++) {
		if (!profilers[i].holds || &profilers[i] == profiler)
			continue;
		cuptiGetDeviceId(profilers[i].context, &other);
		if (other == device)
			return true;
	}
	return held_by_dead;
}

CUptiResult cuptiRangeProfilerStart(struct cupti_range_plain *parameters)
{
	struct profiler *profiler = parameters->object;

	FAIL_ON_REQUEST(RangeProfilerStart);
	if (!profiler || !profiler->image || profiler->dead) {
		fault__log("start_unconfigured");
		abort();
	}
	if (profiler->user_ranges && !profiler->by_caller) {
		fault__log("user_ranges_replayed_by_kernel");
		abort();
	}
	if (is_held_by_another(profiler))
		return CUPTI_ERROR_HARDWARE_BUSY;
	used = profiler->started = true;
	profiler->holds = true;
	bridge__get()->log("profiler_start");
	/* As on an H200, whoever captures. */
	bridge__get()->break_captures();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(struct cupti_range_stop *parameters)
{
	struct profiler *profiler = parameters->object;

	/* Also where it fails: nobody knows what goes on then. */
	profiler->started = false;
	FAIL_ON_REQUEST(RangeProfilerStop);
	bridge__get()->log("profiler_stop");
	parameters->all_submitted = 1;
	if (profiler->pushed)
		fault__log("stop_in_range");
	if (profiler->spoilt)
		return CUPTI_ERROR_UNKNOWN;
	return profiler->dead ? CUPTI_ERROR_INVALID_CONTEXT : CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerPushRange(struct cupti_range_push *parameters)
{
	struct profiler *profiler = parameters->object;

	FAIL_ON_REQUEST(RangeProfilerPushRange);
	if (!profiler->started || !profiler->user_ranges || profiler->was_automatic ||
	    profiler->pushed || !parameters->name)
		return CUPTI_ERROR_INVALID_PARAMETER;
	profiler->open = (struct range){0};
	profiler->pushed = true;
	return CUPTI_SUCCESS;
}

/* The counters are read now: what still runs is not in them. */
CUptiResult cuptiRangeProfilerPopRange(struct cupti_range_plain *parameters)
{
	struct profiler *profiler = parameters->object;
	struct image *image;

	FAIL_ON_REQUEST(RangeProfilerPopRange);
	if (!profiler->pushed)
		return CUPTI_ERROR_INVALID_PARAMETER;
	profiler->pushed = false;
	image = profiler->image;
	if (image->gathered == image->most || (profiler->config.passes & ~BLIND) > 1)
		return CUPTI_SUCCESS;
	if (profiler->open.end > clock__now())
		profiler->open.kinds = 0;
	image->list[image->gathered++] = profiler->open;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDecodeData(struct cupti_range_decode *parameters)
{
	struct profiler *profiler = parameters->object;

	FAIL_ON_REQUEST(RangeProfilerDecodeData);
	if (profiler->dead) {
		fault__log("decode_without_context");
		abort();
	}
	if (!profiler->started)
		profiler->image->ranges = profiler->image->gathered;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(struct cupti_range_info *parameters)
{
	FAIL_ON_REQUEST(RangeProfilerGetCounterDataInfo);
	parameters->ranges = ((const struct image *)parameters->data)->ranges;
	return CUPTI_SUCCESS;
}

void range_profiler__context_ends(CUcontext context)
{
	struct profiler *profiler = find(context);

	if (!profiler)
		return;
	profiler->dead = true;
	held_by_dead |= profiler->holds;
}

static _Thread_local bool runs;

void range_profiler__runs(void)
{
	runs = true;
}

/* Of the launch call that this thread is in. */
static _Thread_local struct range launched;

void range_profiler__ran(const char *kernel, uint64_t end)
{
	if (!used)
		return;
	range__add(&launched, kernel, 1);
	launched.end = end > launched.end ? end : launched.end;
}

static bool is_graph(const struct simcuda_call *call)
{
	return call->cbid == 514 || call->cbid == 515;
}

static void pass(const struct profiler *profiler)
{
	uint64_t milliseconds = settings__get()->pass_ms ? settings__get()->pass_ms : PASS_MS;
	struct timespec pause = {0};

	milliseconds *= profiler->config.passes & ~BLIND;
	pause.tv_sec = milliseconds / 1000;
	pause.tv_nsec = milliseconds % 1000 * 1000000;
	nanosleep(&pause, NULL);
	bridge__get()->break_captures();
}

/* What a launch outside of any range does was never tried. */
static void launched_in_range(struct profiler *profiler, const struct range *one)
{
	if (!profiler->pushed) {
		fault__log("launch_outside_range");
		return;
	}
	pass(profiler);
	range__join(&profiler->open, one);
}

static void launched_automatically(struct profiler *profiler, const struct range *one)
{
	struct image *image = profiler->image;

	pass(profiler);
	/* A pass that nobody repeats is no measurement. */
	if (image->gathered == image->most || profiler->config.passes & BLIND ||
	    (profiler->by_caller && profiler->config.passes > 1))
		return;
	image->list[image->gathered++] = *one;
	if (!profiler->by_caller)
		image->ranges = image->gathered;
}

void range_profiler__launched(const struct simcuda_call *call)
{
	struct profiler *profiler = call->context ? find(call->context) : NULL;
	struct range one = launched;
	bool ran = runs;

	runs = false;
	launched = (struct range){0};
	sass__launched(call, ran);
	if (!profiler || !profiler->started || call->domain != SIMCUDA_DRIVER || call->result ||
	    (!call->symbol && !is_graph(call)))
		return;
	/* A real one makes the capture fail. */
	if (!one.kinds && !(is_graph(call) && profiler->pushed))
		fault__log("capture_while_profiled");
	else if (profiler->user_ranges)
		launched_in_range(profiler, &one);
	else if (!is_graph(call))
		launched_automatically(profiler, &one);
	/* A real one loses what the graph did. */
	if (is_graph(call) && !profiler->user_ranges) {
		fault__log("graph_while_profiled");
		profiler->spoilt = profiler->by_caller;
	}
}
