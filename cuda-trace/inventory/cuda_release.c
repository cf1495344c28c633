// SPDX-License-Identifier: BSD-2-Clause
/*
 * The CUDA release of a libcupti. Its SONAME has had no minor since 12.0 and its version function
 * counts in a way of its own until 13.0 (18 is 11.8, 12.0 and 12.1), so all that is known is
 * weighed. Called by doctor_libraries and doctor_root; no state.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/inventory/cuda_release.h"

/* Real names carry the year and number of the CUPTI release. */
static const struct {
	unsigned short year, number;
	unsigned char major, minor;
} years[] = {
	{2020, 2, 11, 1}, {2020, 3, 11, 2}, {2021, 1, 11, 3}, {2021, 2, 11, 4}, {2021, 3, 11, 5},
	{2022, 1, 11, 6}, {2022, 2, 11, 7}, {2022, 3, 11, 8}, {2022, 4, 12, 0}, {2023, 1, 12, 1},
	{2023, 2, 12, 2}, {2023, 3, 12, 3}, {2024, 1, 12, 4}, {2024, 2, 12, 5}, {2024, 3, 12, 6},
	{2025, 1, 12, 8}, {2025, 2, 12, 9}, {2025, 3, 13, 0}, {2025, 4, 13, 1}, {2026, 1, 13, 2},
	{2026, 2, 13, 3}, {2026, 3, 13, 4},
};

/* cuptiGetVersion() values that belong to one release only. */
static const struct {
	unsigned char api, major, minor;
} numbers[] = {
	{22, 12, 4}, {24, 12, 6}, {26, 12, 8}, {27, 12, 9}, {28, 12, 9},
};

static bool two_numbers(const char *text, char separator, unsigned int *major, unsigned int *minor)
{
	unsigned long a, b;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	a = strtoul(text, &end, 10);
	if (*end != separator || end[1] < '0' || end[1] > '9')
		return false;
	b = strtoul(end + 1, &end, 10);
	if (a > 9999 || b > 9999)
		return false;
	*major = a;
	*minor = b;
	return true;
}

bool release__after(const char *text, const char *before, char separator, unsigned int *major,
		    unsigned int *minor)
{
	bool found = false;

	while ((text = strstr(text, before))) {
		text += strlen(before);
		found |= two_numbers(text, separator, major, minor);
	}
	return found;
}

static bool by_year(const char *real, unsigned int *major, unsigned int *minor)
{
	unsigned int year, number;
	size_t i;

	if (!release__after(real, "libcupti.so.", '.', &year, &number))
		return false;
	for (i = 0; i < sizeof(years) / sizeof(years[0]); i++) {
		if (years[i].year != year || years[i].number != number)
			continue;
		*major = years[i].major;
		*minor = years[i].minor;
		return true;
	}
	return false;
}

/* "cuda-cupti-12-4 12.4.127-1", "nvidia-cuda-cupti-cu12 12.4.127", "cuda-cupti 12.4.127" */
static bool by_owner(const char *owner, unsigned int *major, unsigned int *minor)
{
	const char *version;

	if (!strstr(owner, "cupti"))
		return false;
	version = strchr(owner, ' ');
	return version && two_numbers(version + 1, '.', major, minor) && *major >= 7 &&
	       *major < 100;
}

static bool by_number(uint32_t api, unsigned int *major, unsigned int *minor)
{
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i].api != api)
			continue;
		*major = numbers[i].major;
		*minor = numbers[i].minor;
		return true;
	}
	return false;
}

bool release__of(const struct release_hints *hints, unsigned int *major, unsigned int *minor)
{
	unsigned int soname = 0;

	*major = *minor = 0;
	if (hints->api >= 130000) {
		*major = hints->api / 10000;
		*minor = hints->api / 100 % 100;
		return true;
	}
	if (release__after(hints->soname, "libcupti.so.", '.', major, minor))
		return true;
	sscanf(hints->soname, "libcupti.so.%4u", &soname);
	if (by_year(hints->real, major, minor) || by_owner(hints->owner, major, minor) ||
	    release__after(hints->path, "/cuda-", '.', major, minor) ||
	    release__after(hints->real, "/cuda-", '.', major, minor) ||
	    by_number(hints->api, major, minor)) {
		/* A name may lie, the SONAME is what the loader believes. */
		if (!soname || soname == *major)
			return true;
	}
	*major = soname;
	*minor = 0;
	return false;
}
