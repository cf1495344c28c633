// SPDX-License-Identifier: BSD-2-Clause
// PM sampling: a sample for each interval since the start, whose values SIMCUDA_PM_SCRIPT says. The
// GPU's clock is CLOCK_REALTIME here, and as on an H200 the first sample begins at the
// configuration. The structures are the tool's own declarations, which tests/agent/layout compares
// with NVIDIA's headers.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/simcuda/cupti/tracer.h"
#include "tests/simcuda/pm.h"

#define DEVICES 16
#define MAGIC	0x504d534d
#define LEAD_NS 400000000

struct sampler {
	bool enabled, configured, started;
	unsigned int device;
	uint64_t interval, start, next; /* next: the start of the next sample */
	uint64_t first;			/* the end of the one that began when it was configured */
};

struct image {
	uint32_t magic, used, most, device;
	uint64_t start; /* of the sampling */
	uint64_t begin[];
};

static struct sampler samplers[DEVICES];

static int fault_of(const char *function, unsigned int device)
{
	const char *only = getenv("SIMCUDA_PM_DEVICE");

	return !only || (unsigned int)atoi(only) == device ? sim_profiler__fault(function) : 0;
}

#define FAIL_ON_REQUEST(name, device)                                        \
	do {                                                                 \
		int fault = fault_of("cuptiPmSampling" #name, device);       \
		if (fault)                                                   \
			return fault;                                        \
		if (!parameters || !parameters->size || parameters->private) \
			return CUPTI_ERROR_INVALID_PARAMETER;                \
	} while (0)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static bool plays(const char *mode, unsigned int device)
{
	const char *text = getenv("SIMCUDA_PM"), *only = getenv("SIMCUDA_PM_DEVICE");

	return text && !strcmp(text, mode) && (!only || (unsigned int)atoi(only) == device);
}

/* Lines of "DEVICE FROM_MS METRIC VALUE", * for any device; the last that fits counts. */
static double scripted(unsigned int device, double ms, const char *metric)
{
	const char *path = getenv("SIMCUDA_PM_SCRIPT");
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[400], which[8], name[300];
	double from, number, value = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%7s %lf %299s %lf", which, &from, name, &number) == 4 &&
		    (*which == '*' || (unsigned int)atoi(which) == device) && from <= ms &&
		    !strcmp(name, metric))
			value = number;
	if (file)
		fclose(file);
	return value;
}

CUptiResult cuptiPmSamplingGetCounterAvailability(struct pm_availability *parameters)
{
	const char *busy = getenv("SIMCUDA_PM_BUSY");

	FAIL_ON_REQUEST(GetCounterAvailability, parameters->device);
	if (busy && !access(busy, F_OK))
		return CUPTI_HARDWARE_BUSY;
	parameters->image_size = 16;
	if (parameters->image)
		memset(parameters->image, 0, 16);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingEnable(struct pm_enable *parameters)
{
	struct sampler *sampler;

	FAIL_ON_REQUEST(Enable, parameters->device);
	if (parameters->device >= DEVICES || !bridge__get() ||
	    (int)parameters->device >= bridge__get()->device_count())
		return CUPTI_ERROR_INVALID_PARAMETER;
	sampler = &samplers[parameters->device];
	if (sampler->enabled)
		return CUPTI_ERROR_INVALID_OPERATION;
	*sampler = (struct sampler){
		.enabled = true, .device = parameters->device, .start = sampler->start};
	parameters->object = sampler;
	bridge__get()->log("pm_enable device=%u", sampler->device);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDisable(struct pm_plain *parameters)
{
	struct sampler *sampler = parameters->object;

	FAIL_ON_REQUEST(Disable, sampler->device);
	if (sampler->started)
		fault__log("disabled_while_sampling");
	sampler->enabled = false;
	bridge__get()->log("pm_disable device=%u", sampler->device);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingSetConfig(struct pm_config *parameters)
{
	struct sampler *sampler = parameters->object;
	uint32_t passes;

	FAIL_ON_REQUEST(SetConfig, sampler->device);
	memcpy(&passes, parameters->image, sizeof(passes));
	if (passes != 1 || (plays("clocks", sampler->device) && parameters->trigger == PM_EVERY_NS))
		return CUPTI_NOT_SUPPORTED;
	sampler->interval = parameters->interval;
	sampler->configured = true;
	return sampler->interval ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiPmSamplingStart(struct pm_plain *parameters)
{
	struct sampler *sampler = parameters->object;

	FAIL_ON_REQUEST(Start, sampler->device);
	if (!sampler->configured || sampler->started)
		return CUPTI_ERROR_INVALID_OPERATION;
	/* As on an H200: a second start wants all to be made anew. */
	if (sampler->next)
		return CUPTI_ERROR_UNKNOWN;
	if (plays("crash", sampler->device))
		raise(SIGSEGV);
	sampler->started = true;
	sampler->next = now_ns();
	sampler->first = sampler->next + sampler->interval;
	if (!sampler->start)
		sampler->start = sampler->next;
	bridge__get()->log("pm_start device=%u", sampler->device);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStop(struct pm_plain *parameters)
{
	struct sampler *sampler = parameters->object;

	FAIL_ON_REQUEST(Stop, sampler->device);
	if (!sampler->started)
		return CUPTI_ERROR_INVALID_OPERATION;
	sampler->started = false;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataSize(struct pm_data_size *parameters)
{
	FAIL_ON_REQUEST(GetCounterDataSize, ((struct sampler *)parameters->object)->device);
	parameters->data_size = sizeof(struct image) + parameters->samples * sizeof(uint64_t);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(struct pm_data *parameters)
{
	struct sampler *sampler = parameters->object;
	struct image *image = (void *)parameters->data;

	FAIL_ON_REQUEST(CounterDataImageInitialize, sampler->device);
	image->magic = MAGIC;
	image->device = sampler->device;
	image->used = 0;
	image->most = (parameters->data_size - sizeof(*image)) / sizeof(uint64_t);
	return CUPTI_SUCCESS;
}

/* SIMCUDA_PM_GAP=FROM_MS:MS: the hardware's buffer runs over then. */
static bool is_gap(const struct sampler *sampler, uint64_t begin)
{
	const char *text = getenv("SIMCUDA_PM_GAP");
	double from, ms, at = (begin - sampler->start) / 1e6;

	return text && sscanf(text, "%lf:%lf", &from, &ms) == 2 && at >= from && at < from + ms;
}

CUptiResult cuptiPmSamplingDecodeData(struct pm_decode *parameters)
{
	struct sampler *sampler = parameters->object;
	struct image *image = (void *)parameters->data;
	uint64_t now = now_ns();

	FAIL_ON_REQUEST(DecodeData, sampler->device);
	while (plays("hang", sampler->device))
		pause();
	image->start = sampler->start;
	while (sampler->next + sampler->interval <= now && image->used < image->most) {
		if (is_gap(sampler, sampler->next))
			parameters->overflow = 1;
		else
			image->begin[image->used++] = sampler->next;
		sampler->next += sampler->interval;
	}
	parameters->reason = image->used == image->most ? PM_DATA_FULL : 2;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(struct pm_data_info *parameters)
{
	const struct image *image = (const void *)parameters->data;

	FAIL_ON_REQUEST(GetCounterDataInfo, image->device);
	parameters->samples = image->most;
	parameters->populated = parameters->completed = image->used;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(struct pm_sample_info *parameters)
{
	const struct sampler *sampler = parameters->object;
	const struct image *image = (const void *)parameters->data;

	FAIL_ON_REQUEST(CounterDataGetSampleInfo, sampler->device);
	if (parameters->index >= image->used)
		return CUPTI_ERROR_INVALID_PARAMETER;
	parameters->start = image->begin[parameters->index];
	parameters->end = parameters->start + sampler->interval;
	if (parameters->end == sampler->first)
		parameters->start -= LEAD_NS;
	return CUPTI_SUCCESS;
}

bool pm_sampling__evaluate(const struct cupti_host_evaluate *parameters)
{
	const struct image *image = (const void *)parameters->data;

	if (image->magic != MAGIC)
		return false;
	for (size_t i = 0; i < parameters->count; i++)
		parameters->values[i] = scripted(
			image->device, (image->begin[parameters->range] - image->start) / 1e6,
			parameters->names[i]);
	return true;
}
