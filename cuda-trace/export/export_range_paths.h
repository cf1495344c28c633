/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NVTX ranges that were open on the thread when it launched a kernel, as paths with a number
 * each.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_RANGE_PATHS_H
#define CUDA_TRACE_EXPORT_EXPORT_RANGE_PATHS_H

#include "cuda-trace/export/export_names.h"
#include "cuda-trace/export/export_origins.h"

struct range_paths;

/*
 * Makes temp.launch_ranges (correlation, pid, path) of the calls that were in a range; pid as in
 * globalPid / 0x1000000. With `graphs`, also fills in the paths of temp.graph_origins. The names
 * must live as long. 0 or -errno, printed.
 */
int range_paths__open(struct range_paths **paths, const struct report_file *file,
		      const struct names_of_file *names, bool graphs);
void range_paths__get(const struct range_paths *paths, int64_t number, struct origin_path *path);
void range_paths__close(struct range_paths *paths);
/* An SQL expression: the path of the row of table alias k, or NULL. */
#define RANGE_OF_K                                                                         \
	"(SELECT path FROM temp.launch_ranges AS l WHERE l.correlation = k.correlationId " \
	"AND l.pid = k.globalPid / 0x1000000)"

#endif
