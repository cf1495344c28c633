// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/idle/idle_budget.h"

#include <stdio.h>
#include "cuda-trace/capture/overhead_limit.h"
#include "cuda-trace/idle/idle.h"

void idle_budget__tick(struct idle *idle, struct overhead *overhead, const char *command)
{
	struct overhead_finding finding;
	double part;

	if (!idle || !overhead_limit__finding(overhead, &finding))
		return;
	if (idle__limit(idle, finding.limit, &part))
		fprintf(stderr,
			"cuda-trace %s: --idle: scheduler events cost %.2g%% of the time, more "
			"than --max-overhead %g%%: idle time from now on is not explained\n",
			command, 100 * part, 100 * finding.limit);
	overhead_limit__besides(overhead, part);
}
