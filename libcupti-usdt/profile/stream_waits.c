// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure mode: a kernel may wait for what its launching thread does next, which is held here. So
 * this queries, and does not wait in the driver, from where nobody comes back.
 */
#include "libcupti-usdt/profile/stream_waits.h"

#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#include "libcupti-usdt/base/clock.h"

#define WAIT_NS	   60000000000ULL
#define AWAKE_NS   200000
#define LONGEST_NS 10000000

static int (*query_stream)(void *stream); /* cuStreamQuery */

void stream_waits__open(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (!library)
		return;
	*(void **)&query_stream = dlsym(library, "cuStreamQuery");
	dlclose(library);
}

bool stream_waits__is_there(void)
{
	return query_stream;
}

/* What is late here is in the measured time of a graph: a sixteenth at most, if the thread wakes up
 * when it should, and where that does not pay, no sleep. */
int stream_waits__wait(void *stream)
{
	uint64_t start = clock__now(), passed = 0;
	int result = query_stream(stream);

	while (result == STREAM_WAITS_NOT_READY && passed < WAIT_NS) {
		struct timespec pause = {.tv_nsec = passed / 16 < LONGEST_NS ? passed / 16
									     : LONGEST_NS};

		if (passed > AWAKE_NS)
			nanosleep(&pause, NULL);
		result = query_stream(stream);
		passed = clock__now() - start;
	}
	return result;
}
