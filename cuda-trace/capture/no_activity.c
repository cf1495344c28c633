// SPDX-License-Identifier: BSD-2-Clause
/*
 * Used by commands and reports that would otherwise print nothing but zeros.
 */
#include "cuda-trace/capture/no_activity.h"

#include <stdlib.h>
#include <string.h>

const char *no_activity__reason(bool started, const struct session_lost_counts *lost)
{
	const char *off = getenv("CUDA_TRACE");

	/* Files that are left out are no events. */
	if (lost->total || lost->session[SESSION_LOST_KILLED])
		return "all that there was is lost";
	if (!started)
		return "no selected process made a CUDA call in this time (see cuda-trace list)";
	if (off && !strcmp(off, "off"))
		return "CUDA_TRACE=off is set";
	return "neither PROGRAM nor any process that it started made a CUDA call";
}
