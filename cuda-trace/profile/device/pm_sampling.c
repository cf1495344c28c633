// SPDX-License-Identifier: BSD-2-Clause
/*
 * The hardware writes samples into a buffer, which is decoded every 50 ms. What is missing between
 * two samples is lost and counted, whatever the reason.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/profile/device/pm_process.h"

#define DECODE_MS     50
#define SAMPLE_BYTES  (24u << 10) /* in the hardware's buffer, on an H200 */
#define BUFFER_LEAST  (32u << 20)
#define BUFFER_MAX    (256u << 20)
#define SAMPLES_LEAST 64
#define SAMPLES_MAX   1024
#define BEAT	      100 /* decodings */

static struct pm_plain plain(const struct pm_process *helper)
{
	return (struct pm_plain){.size = CUPTI_SIZE_OF(pm_plain, object), .object = helper->object};
}

/* What comes in a second. */
static size_t buffer_size(uint64_t every)
{
	uint64_t bytes = 1000000000ull / every * SAMPLE_BYTES;

	if (bytes < BUFFER_LEAST)
		return BUFFER_LEAST;
	return bytes < BUFFER_MAX ? bytes : BUFFER_MAX;
}

static int configure(struct pm_process *helper, int trigger)
{
	struct pm_config config = {
		.size = CUPTI_SIZE_OF(pm_config, append),
		.object = helper->object,
		.image_size = helper->config_size,
		.image = helper->config,
		.buffer_size = buffer_size(helper->request->every),
		.interval = helper->request->every,
		.trigger = trigger,
		.append = PM_KEEP_OLDEST,
	};

	return helper->calls.config(&config);
}

static int clear_data(struct pm_process *helper)
{
	struct pm_data data = {.size = CUPTI_SIZE_OF(pm_data, data),
			       .object = helper->object,
			       .data_size = helper->data_size,
			       .data = helper->data};

	return helper->calls.data(&data);
}

/*
 * Capacity for twice what comes between two decodings. Each sample takes some 32 KiB of it on an
 * H200, and all of it is written whenever it is cleared: 20 ms for 2,000.
 */
static uint32_t samples_of(uint64_t every)
{
	uint64_t samples = 2 * DECODE_MS * 1000000ull / every;

	if (samples < SAMPLES_LEAST)
		return SAMPLES_LEAST;
	return samples < SAMPLES_MAX ? samples : SAMPLES_MAX;
}

static int make_data(struct pm_process *helper)
{
	struct pm_data_size ask = {.size = CUPTI_SIZE_OF(pm_data_size, data_size),
				   .object = helper->object,
				   .names = helper->names,
				   .count = helper->count,
				   .samples = samples_of(helper->request->every)};
	int result = helper->calls.data_size(&ask);

	if (result)
		return result;
	free(helper->data);
	helper->data_size = ask.data_size;
	helper->data = malloc(ask.data_size + 1);
	return helper->data ? clear_data(helper) : CUPTI_OUT_OF_MEMORY;
}

/* Turing and GA100 count clocks only: some are as long as a nanosecond, none is much longer. */
static const char *prepare(struct pm_process *helper, int *result)
{
	*result = configure(helper, PM_EVERY_NS);
	if (*result == CUPTI_NOT_SUPPORTED || *result == CUPTI_BAD_PARAMETER) {
		*result = configure(helper, PM_EVERY_CLOCKS);
		helper->started.clocks = helper->request->every;
	}
	if (*result)
		return "cuptiPmSamplingSetConfig";
	*result = make_data(helper);
	return *result ? "cuptiPmSamplingGetCounterDataSize" : NULL;
}

static void send_lost(struct pm_process *helper, uint64_t samples, uint64_t ns, bool overflow)
{
	struct pm_lost lost = {.samples = samples, .ns = ns, .overflows = overflow};

	pm_process__send(helper, PM_FRAME_LOST, &lost, sizeof(lost));
}

static void note_gap(struct pm_process *helper, uint64_t start)
{
	uint64_t gap = start - helper->last_end, length = helper->last_length;

	if (!helper->last_end || start <= helper->last_end || !length || gap < length / 2)
		return;
	send_lost(helper, (gap + length / 2) / length, gap, false);
}

static int send_sample(struct pm_process *helper, size_t index)
{
	struct pm_sample_info info = {.size = CUPTI_SIZE_OF(pm_sample_info, end),
				      .object = helper->object,
				      .data = helper->data,
				      .data_size = helper->data_size,
				      .index = index};
	double values[PM_COLUMNS];
	struct cupti_host_evaluate evaluate = {.size = CUPTI_SIZE_OF(cupti_host_evaluate, values),
					       .host = helper->host,
					       .data = helper->data,
					       .data_size = helper->data_size,
					       .range = index,
					       .names = helper->names,
					       .count = helper->count,
					       .values = values};
	struct pm_sample sample = {};
	int result = helper->calls.sample_info(&info);

	if (!result)
		result = helper->calls.evaluate(&evaluate);
	if (result || info.end <= info.start)
		return result;
	/* The first one began when the sampling was configured. */
	if (helper->is_first) {
		helper->is_first = false;
		helper->last_end = helper->last_end ? helper->last_end : info.end;
		return 0;
	}
	note_gap(helper, info.start);
	helper->last_end = info.end;
	helper->last_length = info.end - info.start;
	sample.start = info.start + helper->offset;
	sample.end = info.end + helper->offset;
	for (size_t i = 0; i < helper->count; i++)
		sample.values[helper->columns[i]] = values[i];
	pm_process__send(helper, PM_FRAME_SAMPLE, &sample, sizeof(sample));
	return 0;
}

static int64_t monotonic_less_real(void)
{
	struct timespec real;
	uint64_t now = monotonic__ns();

	clock_gettime(CLOCK_REALTIME, &real);
	return now - (real.tv_sec * 1000000000ull + real.tv_nsec);
}

/*
 * Without a context the GPU's clock cannot be read. On an H200 it is CLOCK_REALTIME but for 0.1 ms.
 * That is believed as far as decodings bear it out: the last sample ended before the decoding did,
 * and, if it is the last one there was, not more than two samples before the decoding began.
 */
static void note_clock(struct pm_process *helper, size_t samples, uint64_t before, bool has_more)
{
	struct pm_sample_info info = {.size = CUPTI_SIZE_OF(pm_sample_info, end),
				      .object = helper->object,
				      .data = helper->data,
				      .data_size = helper->data_size,
				      .index = samples - 1};
	int64_t most, least;

	if (helper->calls.sample_info(&info))
		return;
	most = monotonic__ns() - info.end;
	least = before - info.end - 2 * (info.end - info.start);
	helper->offset = monotonic_less_real();
	if (helper->offset > most)
		helper->offset = most;
	if (helper->offset < least && !has_more)
		helper->offset = least;
}

/* What was decoded into our image. */
static const char *send_samples(struct pm_process *helper, uint64_t before, bool has_more,
				int *result)
{
	struct pm_data_info info = {.size = CUPTI_SIZE_OF(pm_data_info, completed),
				    .data = helper->data,
				    .data_size = helper->data_size};

	*result = helper->calls.data_info(&info);
	if (*result)
		return "cuptiPmSamplingGetCounterDataInfo";
	if (info.completed)
		note_clock(helper, info.completed, before, has_more);
	for (size_t i = 0; i < info.completed; i++) {
		*result = send_sample(helper, i);
		if (*result)
			return "cuptiProfilerHostEvaluateToGpuValues";
	}
	*result = info.completed ? clear_data(helper) : 0;
	return *result ? "cuptiPmSamplingCounterDataImageInitialize" : NULL;
}

/* Just stopped, it does not start again: error 999 on an H200. So all of it is made anew. */
static const char *restart(struct pm_process *helper, int *result)
{
	struct pm_enable enable = {.size = CUPTI_SIZE_OF(pm_enable, object),
				   .device = helper->device};
	struct pm_plain old = plain(helper), start;
	const char *failed;

	helper->calls.stop(&old);
	helper->calls.disable(&old);
	*result = helper->calls.enable(&enable);
	if (*result)
		return "cuptiPmSamplingEnable";
	helper->object = enable.object;
	failed = prepare(helper, result);
	if (failed)
		return failed;
	helper->is_first = true;
	start = plain(helper);
	*result = helper->calls.start(&start);
	return *result ? "cuptiPmSamplingStart" : NULL;
}

/* All that is there, which may be more than the image holds at once. */
static const char *decode(struct pm_process *helper, int *result)
{
	struct pm_decode decode = {.size = CUPTI_SIZE_OF(pm_decode, overflow),
				   .object = helper->object,
				   .data = helper->data,
				   .data_size = helper->data_size};
	const char *failed = NULL;
	uint64_t before;

	do {
		before = monotonic__ns();
		decode.overflow = 0;
		decode.reason = 0;
		*result = helper->calls.decode(&decode);
		if (*result && *result != CUPTI_OUT_OF_MEMORY)
			return "cuptiPmSamplingDecodeData";
		failed = send_samples(helper, before, decode.reason == PM_DATA_FULL, result);
		if (!failed && decode.overflow) {
			send_lost(helper, 0, 0, true);
			return restart(helper, result);
		}
	} while (!failed && decode.reason == PM_DATA_FULL);
	return failed;
}

/* The other end shuts its half when it has seen enough, and is gone when it crashed. */
static bool is_over(struct pm_process *helper)
{
	struct pollfd other = {.fd = helper->out, .events = POLLIN | POLLRDHUP};

	return helper->gone || poll(&other, 1, DECODE_MS) > 0;
}

static const char *sample(struct pm_process *helper, int *result)
{
	struct pm_plain start = plain(helper), stop;
	const char *failed = NULL;

	helper->is_first = true;
	*result = helper->calls.start(&start);
	if (*result)
		return "cuptiPmSamplingStart";
	pm_process__send(helper, PM_FRAME_STARTED, &helper->started, sizeof(helper->started));
	for (int n = 1; !failed && !is_over(helper); n++) {
		failed = decode(helper, result);
		/* A sign of life, should there be no samples. */
		if (n % BEAT == 0)
			send_lost(helper, 0, 0, false);
	}
	stop = plain(helper);
	if (failed)
		helper->calls.stop(&stop);
	else {
		*result = helper->calls.stop(&stop);
		failed = decode(helper, result);
	}
	return failed;
}

const char *pm_sampling__run(struct pm_process *helper, int *result)
{
	struct pm_enable enable = {.size = CUPTI_SIZE_OF(pm_enable, object),
				   .device = helper->device};
	struct pm_plain disable;
	const char *failed;

	*result = helper->calls.enable(&enable);
	if (*result)
		return "cuptiPmSamplingEnable";
	helper->object = enable.object;
	helper->last_end = 0;
	failed = prepare(helper, result);
	if (!failed)
		failed = sample(helper, result);
	disable = plain(helper);
	helper->calls.disable(&disable);
	return failed;
}
