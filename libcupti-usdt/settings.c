// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every environment variable that the guest looks at. secure_getenv: a setuid program's caller must
 * not choose which library it opens. Strings are copied: the program may change its environment.
 */
#include "libcupti-usdt/settings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define START_MS 1000
#define EXIT_MS	 500
#define MS_MAX	 5000

static struct settings settings = {.prime = true, .start_ms = START_MS, .exit_ms = EXIT_MS};
static char libcupti[PATH_MAX];
static char cuda_home[PATH_MAX];

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

void settings__read(void)
{
	const char *trace = secure_getenv("CUDA_TRACE");

	settings.off = trace && (!strcmp(trace, "off") || !strcmp(trace, "0"));
	settings.prime = read_bool("CUPTI_USDT_PRIME", true);
	settings.force = read_bool("CUPTI_USDT_FORCE", false);
	settings.debug = read_bool("CUPTI_USDT_DEBUG", false);
	settings.start_ms = read_ms("CUPTI_USDT_START_MS", START_MS);
	settings.exit_ms = read_ms("CUPTI_USDT_EXIT_MS", EXIT_MS);
	settings.libcupti = read_path("CUDA_TRACE_LIBCUPTI", libcupti);
	settings.cuda_home = read_path("CUDA_HOME", cuda_home);
	if (!settings.cuda_home)
		settings.cuda_home = read_path("CUDA_PATH", cuda_home);
}
