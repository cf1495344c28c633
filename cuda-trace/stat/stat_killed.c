// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/stat/stat_killed.h"

#include "cuda-trace/capture/process.h"
#include "cuda-trace/stat/stat_table.h"

bool stat_killed__is_unknown(const struct process *process, const struct stat_sums *sums)
{
	return process__lost_kernels(process, sums->launches - sums->launch_errors, sums->kernels);
}
