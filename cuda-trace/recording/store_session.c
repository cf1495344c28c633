// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/recording/store_session.h"
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"

int store_session__describe(struct spool_session *session, char *facts, int size,
			    const char *command, const char *windows, const char *at)
{
	struct utsname name;
	int n;

	*session = (struct spool_session){
		.version = SPOOL_VERSION,
		.probes_version = CUDA_PROBES_VERSION,
		.monotonic = monotonic__ns(),
		.utc = realtime__ns(),
		.boottime = boottime__ns(),
	};
	uname(&name);
	n = snprintf(facts, size,
		     "version=" VERSION "%cHostname=%s%cKernelVersion=%s%cCpuCores=%ld%c", 0,
		     name.nodename, 0, name.release, 0, sysconf(_SC_NPROCESSORS_ONLN), 0);
	if (windows)
		n += snprintf(facts + n, size - n, "windows=%s%c", windows, 0);
	if (at)
		n += snprintf(facts + n, size - n, "at=%s%c", at, 0);
	if (command)
		n += snprintf(facts + n, size - n, "command=%s", command);
	return (n > size - 1 ? size - 1 : n) + 1;
}
