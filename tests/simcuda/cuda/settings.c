// SPDX-License-Identifier: BSD-2-Clause
// The environment of the simulated driver, read once at its first call. tests/simcuda/README.md
// says what each variable does.
#include <stdlib.h>
#include <string.h>
#include "tests/simcuda/cuda/driver.h"

static struct settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool ready; /* so that most calls cost one load */

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void read_environment(void)
{
	settings = (struct settings){
		.kernel_ns = number("SIMCUDA_KERNEL_NS", 0),
		.latency_ns = number("SIMCUDA_LATENCY_NS", 1000),
		.graph_ms = number("SIMCUDA_GRAPH_MS", 0),
		.graph_fault = number("SIMCUDA_GRAPH_FAULT", 0),
		.launch_ns = number("SIMCUDA_LAUNCH_NS", 0),
		.return_ns = number("SIMCUDA_RETURN_NS", 0),
		.wake_ns = number("SIMCUDA_WAKE_NS", 0),
		.record_ns = number("SIMCUDA_RECORD_NS", 0),
		.copy_bytes_per_us = number("SIMCUDA_COPY_MBPS", 20000),
		.memory_bytes = number("SIMCUDA_MEMORY_BYTES", 80ULL << 30),
		.devices = number("SIMCUDA_DEVICES", 1),
		.peer_access = number("SIMCUDA_PEER_ACCESS", 1),
		.version = number("SIMCUDA_DRIVER_VERSION", 13000),
		.fail_launch = number("SIMCUDA_FAIL_LAUNCH", 0),
		.fail_wait = number("SIMCUDA_FAIL_WAIT", 0),
		.gone_after = number("SIMCUDA_GONE_AFTER", 0),
		.fork_in_init = number("SIMCUDA_FORK_IN_INIT", 0),
		.names_reused = number("SIMCUDA_NAMES_REUSED", 0),
		.starve = number("SIMCUDA_STARVE_MS", 0),
	};
	if (settings.devices > 16)
		settings.devices = 16;
	if (!settings.copy_bytes_per_us)
		settings.copy_bytes_per_us = 1;
}

const struct settings *settings__get(void)
{
	if (!atomic_load_explicit(&ready, memory_order_acquire)) {
		pthread_once(&once, read_environment);
		atomic_store_explicit(&ready, true, memory_order_release);
	}
	return &settings;
}
