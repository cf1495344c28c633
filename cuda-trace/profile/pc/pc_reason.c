// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/pc/pc_reason.h"

#include <string.h>

#define PREFIX	     "smsp__pcsamp_warps_issue_stalled_"
#define SUFFIX	     "_not_issued"
#define SUFFIX_BYTES (sizeof(SUFFIX) - 1)

bool pc_reason__split(const char *name, char word[PC_REASON_BYTES])
{
	size_t length;
	bool idle;

	if (!strncmp(name, PREFIX, sizeof(PREFIX) - 1))
		name += sizeof(PREFIX) - 1;
	length = strnlen(name, PC_REASON_BYTES - 1);
	memcpy(word, name, length);
	word[length] = '\0';
	idle = length > SUFFIX_BYTES && !strcmp(word + length - SUFFIX_BYTES, SUFFIX);
	if (idle)
		word[length - SUFFIX_BYTES] = '\0';
	return idle;
}
