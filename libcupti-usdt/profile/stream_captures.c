// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure mode: a capture failed while a launch into it was counted, on an H200 in a run that a PC
 * sampler disturbed as well: the program was harmed, by one of the two. And while any thread
 * captures in the global mode, calls like an allocation, which CUPTI makes for itself, break that
 * capture unless the calling thread has said that it knows.
 */
#include "libcupti-usdt/profile/stream_captures.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "libcupti-usdt/base/threads.h"

#define STRICT	-1 /* nothing was changed */
#define RELAXED 2  /* CU_STREAM_CAPTURE_MODE_RELAXED */
#define TURN_MS 20
#define TURNS	15

static int (*is_capturing)(void *stream, int *status);
static int (*exchange)(int *mode);
static _Atomic(uint32_t) under_way;
static _Atomic(uint32_t) paused; /* futex */

void stream_captures__open(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (!library)
		return;
	*(void **)&is_capturing = dlsym(library, "cuStreamIsCapturing");
	*(void **)&exchange = dlsym(library, "cuThreadExchangeStreamCaptureMode");
	dlclose(library);
}

/* The default stream answers with an error while another stream is captured that waits for it. */
bool stream_captures__takes(void *stream)
{
	int status = 0;

	return is_capturing && (is_capturing(stream, &status) || status);
}

int stream_captures__relax(void)
{
	int mode = RELAXED;

	return exchange && !exchange(&mode) ? mode : STRICT;
}

void stream_captures__restore(int mode)
{
	if (mode != STRICT && exchange)
		exchange(&mode);
}

void stream_captures__begins(void)
{
	atomic_fetch_add(&under_way, 1);
}

/*
 * It may have begun before anybody listened, and then nobody knows of it until it ends. There is no
 * call that lists captures: a stream is queried by its handle, and those come with launches, each
 * of which is checked (stream_captures__takes()). The legacy stream would report captures on
 * streams that wait for it, but not those on others, where PyTorch captures; and it would have to
 * be queried in each context, made current on a thread of ours while the program may destroy it.
 */
void stream_captures__ends(void)
{
	uint32_t some = atomic_load(&under_way);

	while (some && !atomic_compare_exchange_weak(&under_way, &some, some - 1))
		;
}

void stream_captures__forget(void)
{
	atomic_store(&under_way, 0);
}

bool stream_captures__any(void)
{
	return atomic_load(&under_way);
}

void stream_captures__pause(bool on)
{
	atomic_store(&paused, on);
	if (!on)
		futex__wake(&paused);
}

void stream_captures__wait(void)
{
	for (int turn = 0; turn < TURNS && atomic_load(&paused); turn++)
		futex__wait(&paused, 1, TURN_MS);
}
