// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/recording/store_session.h"
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"

int store_session__describe(struct spool_session *session, char *facts, int size,
			    const struct store_options *options)
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
	if (options->windows)
		n += snprintf(facts + n, size - n, "windows=%s%c", options->windows, 0);
	if (options->collectives)
		n += snprintf(facts + n, size - n, "collectives=1%c", 0);
	if (options->windows || options->sampled)
		n += snprintf(facts + n, size - n, "gaps=1%c", 0);
	if (options->at)
		n += snprintf(facts + n, size - n, "at=%s%c", options->at, 0);
	if (options->command)
		n += snprintf(facts + n, size - n, "command=%s", options->command);
	return (n > size - 1 ? size - 1 : n) + 1;
}
