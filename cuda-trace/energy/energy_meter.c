// SPDX-License-Identifier: BSD-2-Clause
/*
 * NVML is loaded at run time: the tool works without a driver. Only functions that every driver
 * since 410 has, and no structures. Steps wait in a ring until the tool's thread comes for them.
 */
#include "cuda-trace/energy/energy_meter.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/energy/energy_reading.h"

#define SETTLE_MS 150 /* the slowest counters advance every 100 ms */
#define RETRY_NS  100000000ull
#define STEPS	  8192

struct nvml {
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned int *count);
	int (*handle)(unsigned int index, void **device);
	int (*uuid)(void *device, char *text, unsigned int size);
	int (*energy)(void *device, unsigned long long *millijoules);
};

struct gpu {
	void *device;
	uint8_t uuid[16];
	struct energy_reading reading;
};

struct energy_meter {
	void *library;
	struct nvml nvml;
	uint32_t count;
	struct gpu gpus[ENERGY_METERS];
	pthread_mutex_t lock; /* of the ring and of `failed` */
	struct energy_step steps[STEPS];
	uint64_t written, taken, failed;
	pthread_t thread;
	int wake; /* written: end */
	bool runs;
};

static bool find_functions(struct energy_meter *meter)
{
	struct nvml *nvml = &meter->nvml;
	const struct {
		const char *name;
		void *to;
	} wanted[] = {
		{"nvmlInit_v2", &nvml->init},
		{"nvmlShutdown", &nvml->shutdown},
		{"nvmlDeviceGetCount_v2", &nvml->count},
		{"nvmlDeviceGetHandleByIndex_v2", &nvml->handle},
		{"nvmlDeviceGetUUID", &nvml->uuid},
		{"nvmlDeviceGetTotalEnergyConsumption", &nvml->energy},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *found = dlsym(meter->library, wanted[i].name);

		if (!found)
			return false;
		memcpy(wanted[i].to, &found, sizeof(found));
	}
	return true;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool energy_meter__parse_uuid(const char *text, uint8_t uuid[16])
{
	int digits = 0;

	if (strncmp(text, "GPU-", 4))
		return false;
	memset(uuid, 0, 16);
	for (text += 4; *text; text++) {
		if (*text == '-')
			continue;
		if (hex(*text) < 0 || digits == 32)
			return false;
		uuid[digits / 2] = uuid[digits / 2] << 4 | hex(*text);
		digits++;
	}
	return digits == 32;
}

static void list_gpus(struct energy_meter *meter)
{
	const struct nvml *nvml = &meter->nvml;
	unsigned int count = 0;

	if (nvml->count(&count))
		return;
	for (unsigned int i = 0; i < count && meter->count < ENERGY_METERS; i++) {
		struct gpu *gpu = &meter->gpus[meter->count];
		unsigned long long millijoules;
		char text[96] = "";

		if (nvml->handle(i, &gpu->device) ||
		    nvml->uuid(gpu->device, text, sizeof(text) - 1) ||
		    nvml->energy(gpu->device, &millijoules) ||
		    !energy_meter__parse_uuid(text, gpu->uuid))
			continue;
		meter->count++;
	}
}

static void add_step(struct energy_meter *meter, const struct energy_step *step)
{
	pthread_mutex_lock(&meter->lock);
	if (meter->written - meter->taken < STEPS)
		meter->steps[meter->written++ % STEPS] = *step;
	else
		meter->failed++;
	pthread_mutex_unlock(&meter->lock);
}

static void count_failure(struct energy_meter *meter)
{
	pthread_mutex_lock(&meter->lock);
	meter->failed++;
	pthread_mutex_unlock(&meter->lock);
}

/* A counter that cannot be read once is read with the next step. */
static void read_gpu(struct energy_meter *meter, uint32_t index, uint64_t least, bool last)
{
	struct gpu *gpu = &meter->gpus[index];
	uint64_t began = monotonic__ns();
	unsigned long long now;
	struct energy_span step;

	if (meter->nvml.energy(gpu->device, &now)) {
		count_failure(meter);
		gpu->reading.due = monotonic__ns() + RETRY_NS;
		return;
	}
	switch (energy_reading__next(&gpu->reading, began, monotonic__ns(), now, least, last,
				     &step)) {
	case ENERGY_NO_STEP:
		break;
	case ENERGY_BACKWARDS:
		count_failure(meter);
		break;
	case ENERGY_STEP:
		add_step(meter, &(struct energy_step){
					.gpu = index,
					.from = step.from,
					.to = step.to,
					.joules = (double)step.millijoules / 1e3,
				});
		break;
	}
}

/* Those whose time has come, or all. Updates of one at a time are looked for: a reading must not
 * wait for that of another. */
static void read_gpus(struct energy_meter *meter, bool last)
{
	uint64_t cost = 0, least;
	bool looks = false;

	for (uint32_t i = 0; i < meter->count; i++)
		cost += meter->gpus[i].reading.cost;
	least = energy_reading__least(cost);
	for (uint32_t i = 0; i < meter->count; i++) {
		struct energy_reading *reading = &meter->gpus[i].reading;

		reading->waits = looks;
		looks |= reading->updates == ENERGY_UPDATES_UNKNOWN;
		if (last || reading->due <= monotonic__ns())
			read_gpu(meter, i, least, last);
	}
}

/* Until the first of them is due. Rounded up: a reading that is too early is made again. */
static int pause_ms(const struct energy_meter *meter)
{
	uint64_t now = monotonic__ns(), due = meter->gpus[0].reading.due;

	for (uint32_t i = 1; i < meter->count; i++)
		if (meter->gpus[i].reading.due < due)
			due = meter->gpus[i].reading.due;
	return due > now ? (int)((due - now) / 1000000 + 1) : 0;
}

static void *run(void *context)
{
	struct energy_meter *meter = context;
	struct pollfd wake = {.fd = meter->wake, .events = POLLIN};

	do
		read_gpus(meter, false);
	while (!poll(&wake, 1, pause_ms(meter)));
	poll(NULL, 0, SETTLE_MS);
	read_gpus(meter, true);
	return NULL;
}

/* Signals are the first thread's. */
static bool start(struct energy_meter *meter)
{
	sigset_t all, before;

	meter->wake = eventfd(0, EFD_CLOEXEC);
	if (meter->wake < 0)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	meter->runs = !pthread_create(&meter->thread, NULL, run, meter);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return meter->runs;
}

static const char *open_library(struct energy_meter *meter)
{
	meter->library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	if (!meter->library)
		meter->library = dlopen("/usr/local/nvidia/lib64/libnvidia-ml.so.1", RTLD_NOW);
	if (!meter->library)
		return "libnvidia-ml.so.1 (NVML) was not found";
	if (!find_functions(meter))
		return "libnvidia-ml.so.1 (NVML) lacks functions";
	if (meter->nvml.init()) {
		meter->nvml.shutdown = NULL;
		return "NVML could not be initialised";
	}
	list_gpus(meter);
	return meter->count ? NULL : "no GPU here has an energy counter that can be read";
}

struct energy_meter *energy_meter__open(const char **why)
{
	struct energy_meter *meter = calloc(1, sizeof(*meter));

	*why = "out of memory";
	if (!meter)
		return NULL;
	pthread_mutex_init(&meter->lock, NULL);
	meter->wake = -1;
	*why = open_library(meter);
	if (!*why && start(meter))
		return meter;
	if (!*why)
		*why = "no thread could be started";
	energy_meter__close(meter);
	return NULL;
}

void energy_meter__stop(struct energy_meter *meter)
{
	if (!meter || !meter->runs)
		return;
	eventfd_write(meter->wake, 1);
	pthread_join(meter->thread, NULL);
	meter->runs = false;
}

void energy_meter__close(struct energy_meter *meter)
{
	if (!meter)
		return;
	energy_meter__stop(meter);
	if (meter->wake >= 0)
		close(meter->wake);
	if (meter->nvml.shutdown)
		meter->nvml.shutdown();
	if (meter->library)
		dlclose(meter->library);
	pthread_mutex_destroy(&meter->lock);
	free(meter);
}

uint32_t energy_meter__count(const struct energy_meter *meter)
{
	return meter->count;
}

const uint8_t *energy_meter__uuid(const struct energy_meter *meter, uint32_t gpu)
{
	return meter->gpus[gpu].uuid;
}

bool energy_meter__next(struct energy_meter *meter, struct energy_step *step)
{
	bool there;

	pthread_mutex_lock(&meter->lock);
	there = meter->taken < meter->written;
	if (there)
		*step = meter->steps[meter->taken++ % STEPS];
	pthread_mutex_unlock(&meter->lock);
	return there;
}

uint64_t energy_meter__failed(struct energy_meter *meter)
{
	uint64_t failed;

	pthread_mutex_lock(&meter->lock);
	failed = meter->failed;
	pthread_mutex_unlock(&meter->lock);
	return failed;
}
