// SPDX-License-Identifier: BSD-2-Clause
/*
 * profile --pc: samples of program counters, by kernel, place and what was waited for.
 */
#include <stdio.h>
#include "cuda-trace/commands.h"
#include "cuda-trace/profile.h"

#define AT(field) offsetof(struct profile_options, field)

const struct option_row profile_pc_rows[] = {
	{OPTION_TEXT, 0, "bursts", "ON/PERIOD",
	 "sample for so long in each period, at a random place\nin it (default 20ms/1s)",
	 AT(bursts)},
	{},
};

int profile_pc__run(const struct option_usage *usage, const struct profile_options *options)
{
	fprintf(stderr, "cuda-trace %s: --pc cannot sample yet\n", usage->command);
	return EXIT_TROUBLE;
}
