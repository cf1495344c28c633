// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/cli/start_option.h"

#include <errno.h>
#include <stdio.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/start_time.h"

int start_option__parse(const struct option_usage *usage, const char *text,
			struct start_option *start)
{
	int err = start_time__parse(text, realtime__ns(), &start->utc);
	char shown[64];

	text__show(shown, sizeof(shown), text, 48);
	if (err == -ETIME)
		return options__misuse(usage, "--at: %s is in the past", shown);
	if (err == -ERANGE)
		return options__misuse(usage, "--at: %s is too far away", shown);
	if (err)
		return options__misuse(
			usage,
			"--at wants a time such as 14:30, 14:30:05.5, +10 (seconds), "
			"@1790000000 or 2026-12-24T18:00:00Z, not '%s'",
			shown);
	start_time__utc(start->text, sizeof(start->text), start->utc);
	return EXIT_OK;
}

const char *start_option__wait(const struct start_option *start, char *line, size_t size)
{
	char when[32];

	start_time__local(when, sizeof(when), start->utc, realtime__ns());
	snprintf(line, size, "attached; waiting until %s", when);
	return line;
}

void start_option__say_late(uint64_t ns)
{
	char late[32];

	fprintf(stderr,
		"cuda-trace record: attaching took until %s after the time of --at: recording "
		"begins as late\n",
		text__ns(late, ns));
}
