// SPDX-License-Identifier: BSD-2-Clause
// cuInit and its injection library, versions, errors, fork and the end of the process; and the
// table that the simulated CUPTI finds by name.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include "tests/simcuda/cuda/driver.h"

enum { STATE_NEW, STATE_READY, STATE_FORKED, STATE_ENDED };

static _Atomic int state = STATE_NEW;
static pthread_mutex_t lock; /* recursive: the injection library may call cuInit itself */
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct simcuda_bridge simcuda_bridge = {
	.enter = call__enter,
	.leave = call__leave,
	.log = log__line,
	.wait_no_launch = starving__wait,
	.wait_no_graph = graph__wait_lock,
	.device_count = device__count,
	.has_context = context__was_any,
	.context_ids = context__ids,
	.stream_id = stream__id,
	.graph_node_id = graph__node_id,
	.graph_id = graph__id,
	.graph_exec_id = graph__exec_id,
	.dump = context__dump,
	.current = context__peek,
	.intern = name__intern,
	.kernel_name = function__name,
	.break_captures = stream__break_captures,
};

/* Which calls work in which state; CUDA is unusable in a forked child. */
CUresult init__error(uint32_t cbid)
{
	int now = atomic_load_explicit(&state, memory_order_acquire);

	if (__builtin_expect(now == STATE_READY, 1))
		return CUDA_SUCCESS;
	if (cbid == 2 || cbid == 372 || cbid == 373 || cbid == 626 || cbid == 677)
		return CUDA_SUCCESS;
	if (now == STATE_ENDED)
		return CUDA_ERROR_DEINITIALIZED;
	if (now == STATE_FORKED || cbid != 1)
		return CUDA_ERROR_NOT_INITIALIZED;
	return CUDA_SUCCESS;
}

static void in_child(void)
{
	if (atomic_load(&state) == STATE_READY)
		atomic_store(&state, STATE_FORKED);
	atomic_store(&simcuda_bridge.forked, true);
}

static void prepare(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	pthread_atfork(NULL, NULL, in_child);
}

/* The real driver starts nvidia-modprobe this way: other libraries' atfork handlers run in it. */
static void fork_helper(void)
{
	pid_t child = fork();

	if (!child) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

/*
 * As the real driver does: dlopen's own rules for the path, silence about whatever does not work,
 * one call, and a library that returns 0 is unloaded at once.
 */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*initialize)(void), kept;
	void *library;

	if (!path || !*path)
		return;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		log__line("injection path=%s loaded=0", path);
		return;
	}
	initialize = (int (*)(void))dlsym(library, "InitializeInjection");
	kept = initialize ? initialize() : 0;
	log__line("injection path=%s loaded=1 called=%d kept=%d", path, initialize != NULL, kept);
	if (!kept)
		dlclose(library);
}

CUresult sim_cuInit(unsigned int flags)
{
	const struct simcuda_hooks *hooks;
	const char *fail = getenv("SIMCUDA_INIT");

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (atomic_load(&state) == STATE_READY)
		return CUDA_SUCCESS;
	if (fail && *fail)
		return atoi(fail);
	pthread_once(&once, prepare);
	pthread_mutex_lock(&lock);
	if (atomic_load(&state) == STATE_NEW) {
		if (settings__get()->fork_in_init & 1)
			fork_helper();
		atomic_store(&state, STATE_READY);
		inject();
		if (settings__get()->fork_in_init & 2)
			fork_helper();
		if (record__wanted(KIND_DEVICE))
			device__dump();
		hooks = atomic_load(&simcuda_bridge.hooks);
		if (hooks)
			hooks->resource(RESOURCE_INIT_FINISHED, NULL, NULL, NULL);
	}
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

/* The real driver is gone too when late destructors and threads still call it. */
static void __attribute__((destructor)) end(void)
{
	int ready = STATE_READY;

	atomic_compare_exchange_strong(&state, &ready, STATE_ENDED);
}

CUresult sim_cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = settings__get()->version;
	return CUDA_SUCCESS;
}

CUresult sim_cuProfilerStart(void)
{
	return CUDA_SUCCESS;
}

CUresult sim_cuProfilerStop(void)
{
	return CUDA_SUCCESS;
}

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
#define ERROR(code, text)         \
	{                         \
		code, #code, text \
	}
	ERROR(CUDA_SUCCESS, "no error"),
	ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
	ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
	ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
	ERROR(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
	ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
	ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
	ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
	ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
	ERROR(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
	ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
	ERROR(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
	ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
	ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
	ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
	ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
	ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
	ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "memory is already registered"),
	ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "memory is not registered"),
	ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
	ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
	ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "not permitted when stream is capturing"),
	ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
#undef ERROR
};

CUresult sim_cuGetErrorName(CUresult error, const char **text)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].code == error) {
			*text = errors[i].name;
			return CUDA_SUCCESS;
		}
	*text = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGetErrorString(CUresult error, const char **text)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].code == error) {
			*text = errors[i].text;
			return CUDA_SUCCESS;
		}
	*text = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}
