// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every environment variable that the agent reads. secure_getenv: a setuid program's caller must
 * not choose which library it opens. Strings are copied: the program may change its environment.
 */
#include "libcupti-usdt/base/settings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define START_MS      1000
#define EXIT_MS	      500
#define START_WAIT_MS 50
#define MS_MAX	      5000

#define COUNTERS_MAX  (32 << 10) /* bytes of all names of metrics */

static struct settings settings = {
	.start_ms = START_MS,
	.start_wait_ms = START_WAIT_MS,
	.exit_ms = EXIT_MS,
};
static char libcupti[PATH_MAX];
static char cuda_home[PATH_MAX];
static char nvtx_library[PATH_MAX];
static char counters[COUNTERS_MAX];
static char counters_kernels[1024];

const struct settings *settings__get(void)
{
	return &settings;
}

static bool read_bool(const char *name, bool otherwise)
{
	const char *value = secure_getenv(name);

	return value && *value ? strcmp(value, "0") != 0 : otherwise;
}

static unsigned int read_ms(const char *name, unsigned int otherwise)
{
	const char *value = secure_getenv(name);
	unsigned long ms = value && *value ? strtoul(value, NULL, 10) : otherwise;

	return ms < MS_MAX ? ms : MS_MAX;
}

static const char *read_path(const char *name, char *copy)
{
	const char *value = secure_getenv(name);

	if (!value || value[0] != '/' || strlen(value) >= PATH_MAX)
		return NULL;
	return strcpy(copy, value);
}

static const char *read_text(const char *name, char *copy, size_t size)
{
	const char *value = secure_getenv(name);

	if (!value || !*value || strlen(value) >= size)
		return NULL;
	return strcpy(copy, value);
}

static unsigned long read_count(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? strtoul(value, NULL, 10) : 0;
}

static void read_counters(void)
{
	settings.counters = read_text("CUPTI_USDT_COUNTERS", counters, sizeof(counters));
	settings.counters_kernels = read_text("CUPTI_USDT_COUNTERS_KERNELS", counters_kernels,
					      sizeof(counters_kernels));
	settings.counters_skip = read_count("CUPTI_USDT_COUNTERS_SKIP");
	settings.counters_limit = read_count("CUPTI_USDT_COUNTERS_LIMIT");
	settings.counters_graphs = read_bool("CUPTI_USDT_COUNTERS_GRAPHS", false);
}

void settings__read(void)
{
	const char *trace = secure_getenv("CUDA_TRACE");

	settings.off = trace && (!strcmp(trace, "off") || !strcmp(trace, "0"));
	settings.start = read_bool("CUPTI_USDT_START", false);
	settings.force = read_bool("CUPTI_USDT_FORCE", false);
	settings.debug = read_bool("CUPTI_USDT_DEBUG", false);
	settings.start_ms = read_ms("CUPTI_USDT_START_MS", START_MS);
	settings.start_wait_ms = read_ms("CUPTI_USDT_AWAIT_MS", START_WAIT_MS);
	settings.exit_ms = read_ms("CUPTI_USDT_EXIT_MS", EXIT_MS);
	settings.libcupti = read_path("CUDA_TRACE_LIBCUPTI", libcupti);
	settings.cuda_home = read_path("CUDA_HOME", cuda_home);
	if (!settings.cuda_home)
		settings.cuda_home = read_path("CUDA_PATH", cuda_home);
	settings.nvtx_library = read_path("NVTX_INJECTION64_PATH", nvtx_library);
	read_counters();
}
