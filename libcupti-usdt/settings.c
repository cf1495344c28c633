// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every environment variable that the guest looks at. secure_getenv: a setuid program's caller must
 * not choose which library it opens. Strings are copied: the program may change its environment.
 */
#include "libcupti-usdt/settings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_MS	    500
#define EXIT_MS_MAX 5000

static struct settings settings = {.prime = true, .exit_ms = EXIT_MS};
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
	const char *exit_ms = secure_getenv("CUPTI_USDT_EXIT_MS");

	settings.off = trace && (!strcmp(trace, "off") || !strcmp(trace, "0"));
	settings.prime = read_bool("CUPTI_USDT_PRIME", true);
	settings.force = read_bool("CUPTI_USDT_FORCE", false);
	settings.debug = read_bool("CUPTI_USDT_DEBUG", false);
	if (exit_ms && *exit_ms) {
		unsigned long ms = strtoul(exit_ms, NULL, 10);

		settings.exit_ms = ms < EXIT_MS_MAX ? ms : EXIT_MS_MAX;
	}
	settings.libcupti = read_path("CUDA_TRACE_LIBCUPTI", libcupti);
	settings.cuda_home = read_path("CUDA_HOME", cuda_home);
	if (!settings.cuda_home)
		settings.cuda_home = read_path("CUDA_PATH", cuda_home);
}
