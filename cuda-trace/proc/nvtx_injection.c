// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/proc/nvtx_injection.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE  "NVTX_INJECTION64_PATH"
#define COMPANION "libcupti-usdt-nvtx.so"

void nvtx_injection__offer(const char *agent)
{
	const char *slash = strrchr(agent, '/');
	char path[PATH_MAX];
	int n;

	if (getenv(VARIABLE))
		return;
	n = snprintf(path, sizeof(path), "%.*s" COMPANION, slash ? (int)(slash + 1 - agent) : 0,
		     agent);
	if (n < (int)sizeof(path) && !access(path, R_OK)) {
		setenv(VARIABLE, path, 1);
		return;
	}
	fprintf(stderr, "cuda-trace: " COMPANION
			" is not beside the injection library: NVTX reaches CUPTI only "
			"if " VARIABLE " is the path of the program's libcupti.so\n");
}
