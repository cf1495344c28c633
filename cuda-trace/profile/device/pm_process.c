// SPDX-License-Identifier: BSD-2-Clause
/*
 * From a fork of the tool to a CUDA client without a context: PM sampling needs none.
 */
#include "cuda-trace/profile/device/pm_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cuda-trace/inventory/libcupti_open.h"

/* The tool's maps, sockets and files are not this process's business, and would outlive the tool.
 */
static int keep_only(int out)
{
	int null = open("/dev/null", O_RDWR), high;

	for (int fd = 0; null >= 0 && fd < 2; fd++)
		dup2(null, fd);
	high = fcntl(out, F_DUPFD_CLOEXEC, 3);
	if (high != 3)
		high = dup2(out, 3);
	if (syscall(SYS_close_range, 4u, ~0u, 0))
		for (int fd = sysconf(_SC_OPEN_MAX) - 1; fd > 3; fd--)
			close(fd);
	return high;
}

void pm_process__send(struct pm_process *helper, uint32_t kind, const void *frame, size_t size)
{
	struct pm_frame head = {.kind = kind, .size = size};
	char both[sizeof(head) + 1024];
	size_t done = 0, length = sizeof(head) + size;

	memcpy(both, &head, sizeof(head));
	memcpy(both + sizeof(head), frame, size);
	while (done < length && !helper->gone) {
		ssize_t n = send(helper->out, both + done, length - done, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		helper->gone = n <= 0;
		done += n > 0 ? n : 0;
	}
}

static void send_trouble(struct pm_process *helper, int result, const char *where, const char *text,
			 uint32_t again)
{
	struct pm_trouble trouble = {.result = result, .again = again};

	snprintf(trouble.where, sizeof(trouble.where), "%s", where);
	snprintf(trouble.text, sizeof(trouble.text), "%s", text);
	pm_process__send(helper, PM_FRAME_TROUBLE, &trouble, sizeof(trouble));
}

static _Noreturn void fail(struct pm_process *helper, int result, const char *where,
			   const char *text)
{
	send_trouble(helper, result, where, text, 0);
	_exit(1);
}

/* uuid and name are for people: what is missing stays empty. */
static void send_hello(struct pm_process *helper, void *driver)
{
	int (*count)(int *) = dlsym(driver, "cuDeviceGetCount");
	int (*name)(char *, int, int) = dlsym(driver, "cuDeviceGetName");
	int (*pci)(char *, int, int) = dlsym(driver, "cuDeviceGetPCIBusId");
	int (*uuid)(uint8_t *, int) = dlsym(driver, "cuDeviceGetUuid");
	struct pm_hello hello = {};
	int devices = 0;

	if (!count || count(&devices) || devices <= 0)
		fail(helper, 0, "there is no GPU", "");
	hello.devices = devices;
	if (helper->device >= hello.devices)
		fail(helper, 0, "there is no such GPU", "");
	if (name)
		name(hello.name, sizeof(hello.name) - 1, helper->device);
	if (pci)
		pci(hello.pci, sizeof(hello.pci) - 1, helper->device);
	if (uuid)
		uuid(hello.uuid, helper->device);
	pm_process__send(helper, PM_FRAME_HELLO, &hello, sizeof(hello));
}

static void open_driver(struct pm_process *helper)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int) = driver ? dlsym(driver, "cuInit") : NULL;
	int result;
	char text[80];

	if (!init)
		fail(helper, 0, "there is no NVIDIA driver (libcuda.so.1)", "");
	result = init(0);
	snprintf(text, sizeof(text), "cuInit failed with error %d", result);
	if (result)
		fail(helper, 0, text, "");
	send_hello(helper, driver);
}

static bool find_calls(struct pm_calls *calls, void *library)
{
	bool all = true;

#define PM_CALL(field, type, function)                       \
	*(void **)&calls->field = dlsym(library, #function); \
	all &= calls->field != NULL;
	PM_CALLS(PM_CALL)
#undef PM_CALL
	return all;
}

static void open_library(struct pm_process *helper)
{
	char path[sizeof(helper->started.cupti)];
	void *library = libcupti_open__open(path, sizeof(path));
	int (*initialize)(struct cupti_profiler_initialize *), (*chip)(struct cupti_chip_name *),
		result;
	struct cupti_profiler_initialize begin = {
		.size = CUPTI_SIZE_OF(cupti_profiler_initialize, private)};
	struct cupti_chip_name ask = {.size = CUPTI_SIZE_OF(cupti_chip_name, name),
				      .device = helper->device};

	if (!library)
		fail(helper, 0, "no libcupti was found", "");
	memcpy(helper->started.cupti, path, sizeof(path));
	if (!metric_library_calls__find(&helper->library, library) ||
	    !find_calls(&helper->calls, library))
		fail(helper, 0, "libcupti is older than CUDA 12.6, it has no PM sampling", path);
	initialize = dlsym(library, "cuptiProfilerInitialize");
	chip = dlsym(library, "cuptiDeviceGetChipName");
	result = initialize ? initialize(&begin) : CUPTI_NOT_SUPPORTED;
	if (result)
		fail(helper, result, "cuptiProfilerInitialize", path);
	result = chip ? chip(&ask) : CUPTI_NOT_SUPPORTED;
	if (result || !ask.name)
		fail(helper, result, "cuptiDeviceGetChipName", path);
	snprintf(helper->started.chip, sizeof(helper->started.chip), "%s", ask.name);
}

/*
 * What this board has of its chip's counters. It is required: on an H200 without NVLink no sample
 * was ever completed when NVLink's counters were requested.
 */
static const char *ask_availability(struct pm_process *helper, int *result)
{
	struct pm_availability ask = {.size = CUPTI_SIZE_OF(pm_availability, image),
				      .device = helper->device};

	free(helper->availability);
	helper->availability = NULL;
	*result = helper->calls.availability(&ask);
	if (!*result) {
		helper->availability = ask.image = calloc(1, ask.image_size + 1);
		*result = ask.image ? helper->calls.availability(&ask) : CUPTI_OUT_OF_MEMORY;
	}
	return *result ? "cuptiPmSamplingGetCounterAvailability" : NULL;
}

/* True: requested to stop meanwhile. */
static bool wait_seconds(struct pm_process *helper, unsigned int seconds)
{
	struct pollfd other = {.fd = helper->out, .events = POLLIN | POLLRDHUP};

	return poll(&other, 1, seconds * 1000) > 0;
}

void pm_process__run(int out, unsigned int device, const struct pm_request *request)
{
	static struct pm_process helper;
	const char *failed;
	int result;
	uint32_t pause = 1;

	/* Ctrl-C reaches the tool, which says when to stop. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	/* The agent must not start in this process; numbers are nvidia-smi's. */
	setenv("CUDA_TRACE", "off", 1);
	unsetenv("CUDA_INJECTION64_PATH");
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
	helper = (struct pm_process){.out = keep_only(out), .device = device, .request = request};
	open_driver(&helper);
	open_library(&helper);
	for (;;) {
		failed = ask_availability(&helper, &result);
		if (!failed)
			failed = pm_config__make(&helper, &result);
		if (!failed)
			failed = pm_sampling__run(&helper, &result);
		if (!failed)
			break;
		if (pause > request->try_again)
			pause = request->try_again;
		/* No further try makes it known. */
		if (result == CUPTI_UNKNOWN_METRIC)
			fail(&helper, result, failed, helper.unknown);
		send_trouble(&helper, result, failed, helper.started.cupti, pause);
		if (!pause || wait_seconds(&helper, pause))
			_exit(1);
		pause *= 2;
	}
	pm_process__send(&helper, PM_FRAME_END, "", 0);
	/* Not exit(): NVIDIA's libraries would clean up. */
	_exit(0);
}
