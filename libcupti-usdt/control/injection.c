// SPDX-License-Identifier: BSD-2-Clause
/*
 * The entry. libcuda opens this library and calls InitializeInjection() inside the program's
 * cuInit(); if nobody listens, that is all that ever happens: no thread, no libcupti, nothing in
 * the way of other tools. If somebody listens, CUPTI is switched on there, so that the program's
 * first launch is seen. Later, cuda-trace calls the same function while no thread of the program is
 * inside the driver. The end: atexit in this process only, the agent's thread finishes, then
 * nothing is called any more.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "libcupti-usdt/profile/stream_captures.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/control/control.h"
#include "libcupti-usdt/control/start_handshake.h"
#include "libcupti-usdt/control/exit_hook.h"
#include "libcupti-usdt/control/sandbox.h"
#include "libcupti-usdt/trace/kernel_shape.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/trace/python_frames.h"
#include "libcupti-usdt/profile/counter_requests.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/profile/stream_waits.h"
#include "libcupti-usdt/base/settings.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/base/timestamps.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/control/watcher.h"
#include "libcupti-usdt/trace/nvtx_payloads.h"

/* What libcuda looks for. */
__attribute__((visibility("default"))) int InitializeInjection(void);

static pid_t home;

/* CUDA does not work in a forked child, and the agent's thread is not there. Nothing else: the
 * program may fork at any moment, with any of our locks "held". */
static void forked(void)
{
	launch_state__detour(DETOUR_DEAF, true);
}

/* Nothing is on and nobody listens, or no system call may be made: the program's exit costs
 * nothing. Also called in a child of vfork(), which shares our memory. */
static void finish(void)
{
	int saved = errno;

	if (!launch_state__is_listening() || site_wanted(sandboxed) ||
	    (!status__is_busy() && !(probe_sites__up() & probe_sites__name_bits())) ||
	    getpid() != home)
		return;
	watcher__stop(settings__get()->exit_ms);
	control__say_end();
	launch_state__detour(DETOUR_DEAF, true);
	errno = saved;
}

static void at_exit(void)
{
	finish();
	launch_state__detour(DETOUR_DEAF, true);
}

static enum cuda_inert_reason unwelcome(void)
{
	if (getauxval(AT_SECURE))
		return CUDA_INERT_SECURE;
	return settings__get()->off ? CUDA_INERT_OFF : CUDA_INERT_NONE;
}

/*
 * The driver calls from inside cuInit(), when the program has made no CUDA call yet. Anyone else
 * (cuda-trace attach) calls while the program runs.
 */
static bool is_called_by_driver(const void *caller)
{
	Dl_info library;
	const char *name;

	if (!dladdr(caller, &library) || !library.dli_fname)
		return false;
	name = strrchr(library.dli_fname, '/');
	return !strncmp(name ? name + 1 : library.dli_fname, "libcuda.so", 10);
}

/* Other threads stand still meanwhile. */
#define LATE_MS 300

static unsigned int patience(bool late)
{
	unsigned int milliseconds = settings__get()->start_ms;

	return late && milliseconds > LATE_MS ? LATE_MS : milliseconds;
}

static bool somebody_listens(void)
{
	return probe_sites__up() || probe_sites__readable_up();
}

/* Everything that costs something: memory, libcupti, a thread. */
static void wake(bool late)
{
	int error;

	counter_requests__open();
	timestamps__open();
	kernel_shape__open();
	stream_waits__open();
	stream_captures__open();
	python_frames__find();
	error = rings__prepare();
	if (!error)
		error = -pthread_atfork(NULL, NULL, forked);
	if (!error && atexit(at_exit))
		error = -ENOMEM;
	exit_hook__prepare(finish);
	if (!error) {
		control__open(late);
		nvtx_payloads__find();
		error = watcher__start();
	}
	if (!error)
		watcher__wait_for_start(patience(late));
	if (error) {
		status__trouble(CUDA_AGENT_NO_THREAD, "start", "no thread, or no memory");
		control__finish();
	}
}

static enum { LOADED, AWAKE, INERT } condition;

static void start(bool late)
{
	enum cuda_inert_reason reason;

	home = getpid();
	clock__open();
	settings__read();
	status__open();
	reason = unwelcome();
	if (reason) {
		condition = INERT;
		control__go_inert(reason);
		launch_state__detour(DETOUR_DEAF, true);
		status__send();
		return;
	}
	sandbox__note();
	start_handshake__wait();
	if (!late && !settings__get()->start && !somebody_listens())
		return;
	condition = AWAKE;
	wake(late);
}

/* cuda-trace attach, while no other thread of the program is inside the driver. */
static void start_again(void)
{
	if (getpid() != home || condition == INERT)
		return;
	if (condition == AWAKE) {
		watcher__prepare(patience(true));
		return;
	}
	condition = AWAKE;
	wake(true);
}

int InitializeInjection(void)
{
	static atomic_flag called = ATOMIC_FLAG_INIT, busy = ATOMIC_FLAG_INIT;
	int saved = errno;

	if (!atomic_flag_test_and_set(&busy)) {
		if (!atomic_flag_test_and_set(&called))
			start(!is_called_by_driver(__builtin_return_address(0)));
		else
			start_again();
		atomic_flag_clear(&busy);
	}
	errno = saved;
	/* 0 would unload this library at once, under the thread that it has just started. */
	return 1;
}
