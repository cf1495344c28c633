// SPDX-License-Identifier: BSD-2-Clause
// The environment of the simulated CUPTI, read once; tests/simcuda/README.md says what each does.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/simcuda/cupti/tracer.h"

static struct settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool ready; /* so that most calls cost one load */

static const char *text_of(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

static uint64_t number(const char *name)
{
	const char *text = text_of(name);

	return text ? strtoull(text, NULL, 0) : 0;
}

/* "12.8", "13.0", or the very number that cuptiGetVersion shall give: "130000". */
static void read_version(const char *text)
{
	static const uint8_t numbers[] = {18, 18, 20, 21, 22, 23, 24, 25, 26, 28};
	unsigned int major = 13, minor = 0;

	if (sscanf(text, "%u.%u", &major, &minor) == 1 && major >= 130000) {
		settings.number = major;
		settings.version = major / 10000 * 100 + major / 100 % 100;
		return;
	}
	settings.version = major * 100 + minor;
	if (major >= 13)
		settings.number = major * 10000 + minor * 100 + (major == 13 && !minor);
	else if (major == 12)
		settings.number = numbers[minor < 10 ? minor : 9];
	else
		settings.number = minor >= 8 ? 18 : 14;
}

/* A copy named libcupti.so.12 is a 12.8, libcupti.so.11.8 is that. */
static const char *own_version(void)
{
	Dl_info info;

	if (dladdr((void *)own_version, &info) && info.dli_fname) {
		if (strstr(info.dli_fname, "libcupti.so.12"))
			return "12.8";
		if (strstr(info.dli_fname, "libcupti.so.11.8"))
			return "11.8";
	}
	return "13.0";
}

static enum fault_mode read_mode(const char *text, uint64_t *ms)
{
	if (!text)
		return FAULT_NONE;
	if (!strcmp(text, "hang"))
		return FAULT_HANG;
	if (!strcmp(text, "race"))
		return FAULT_RACE;
	if (strncmp(text, "slow:", 5))
		return FAULT_NONE;
	*ms = strtoull(text + 5, NULL, 0);
	return FAULT_SLOW;
}

static void read_environment(void)
{
	const char *version = text_of("SIMCUDA_CUPTI_VERSION"), *text;
	char *rest;

	read_version(version ? version : own_version());
	text = text_of("SIMCUDA_SUBSCRIBE");
	settings.subscribe = read_mode(text, &settings.subscribe_ms);
	if (text && settings.subscribe == FAULT_NONE) {
		settings.subscribe_error = strtol(text, &rest, 0);
		if (*rest == ':')
			settings.subscribe_errors = strtoull(rest + 1, NULL, 0);
	}
	settings.flush = read_mode(text_of("SIMCUDA_FLUSH"), &settings.flush_ms);
	settings.disable = read_mode(text_of("SIMCUDA_DISABLE"), &(uint64_t){0});
	settings.starve_ms = number("SIMCUDA_STARVE_MS");
	settings.table_ms = number("SIMCUDA_TABLE_MS");
	settings.inversion_ms = number("SIMCUDA_INVERSION_MS");
	settings.unified_error = number("SIMCUDA_UNIFIED");
	settings.pass_ms = number("SIMCUDA_PASS_MS");
	settings.drop = number("SIMCUDA_DROP");
	settings.bad_times = number("SIMCUDA_BAD_TIMES");
	settings.state_fatal = number("SIMCUDA_STATE_FATAL");
	settings.no_records = number("SIMCUDA_NO_RECORDS");
	text = text_of("SIMCUDA_CLOCK");
	if (text && !strncmp(text, "offset:", 7))
		settings.clock_offset = strtoll(text + 7, NULL, 0);
	text = text_of("SIMCUDA_OTHER_SUBSCRIBER");
	if (text)
		snprintf(settings.other_subscriber, sizeof(settings.other_subscriber), "%s", text);
}

const struct settings *settings__get(void)
{
	if (!atomic_load_explicit(&ready, memory_order_acquire)) {
		pthread_once(&once, read_environment);
		atomic_store_explicit(&ready, true, memory_order_release);
	}
	return &settings;
}
