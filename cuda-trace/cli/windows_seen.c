// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/cli/windows_seen.h"

#include <stdio.h>
#include <string.h>
#include "cuda-trace/base/text.h"

void windows_seen__other(struct windows_seen *seen, const char *name)
{
	for (int i = 0; i < WINDOWS_SEEN_OTHERS; i++) {
		if (!*seen->others[i]) {
			snprintf(seen->others[i], sizeof(seen->others[i]), "%s", name);
			return;
		}
		if (!strncmp(seen->others[i], name, sizeof(seen->others[i]) - 1))
			return;
	}
}

static void say_others(const struct windows_seen *seen)
{
	for (int i = 0; i < WINDOWS_SEEN_OTHERS && *seen->others[i]; i++) {
		char shown[256];

		text__show(shown, sizeof(shown), seen->others[i], 60);
		fprintf(stderr, "%s'%s'", i ? ", " : "; others were: ", shown);
	}
}

void windows_seen__say(const struct windows_seen *seen, const struct windows *wanted,
		       const char *command)
{
	fprintf(stderr, "cuda-trace %s: nothing was collected: ", command);
	if (wanted->by == WINDOWS_PROFILER) {
		fprintf(stderr, "no process called cudaProfilerStart() while it was observed\n");
		return;
	}
	if (seen->begun) {
		fprintf(stderr, "no process began more than the %llu steps of --skip-steps\n",
			(unsigned long long)wanted->skip);
	} else if (!seen->any) {
		fprintf(stderr,
			"no NVTX range was seen at all. Ranges are seen in programs that "
			"cuda-trace starts (cuda-trace %s -- PROGRAM)\n",
			command);
	} else {
		fprintf(stderr, "no NVTX range '%s' was opened", wanted->name);
		if (!wanted->any_domain)
			fprintf(stderr, " in the domain '%s'", wanted->domain);
		say_others(seen);
		fprintf(stderr, "\n");
	}
}
