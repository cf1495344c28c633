/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the files that write `stat --json`.
 */
#ifndef CUDA_TRACE_STAT_STAT_JSON_H
#define CUDA_TRACE_STAT_STAT_JSON_H

#include "cuda-trace/base/json_text.h"
#include "cuda-trace/stat/stat_report.h"

struct json_object;

/* copies, memory, syncs, api, graphs, errors, ranges, unified, overhead, jit, time, advice */
void stat_json__put_events(struct json_object *object, const struct stat_report *report);
/* kernel_ranges */
void stat_json__put_ranges(struct json_object *object, const struct stat_report *report);
/* communicators, collectives_without_kernel, communicators_left_out */
void stat_json__put_collectives(struct json_object *object, const struct stat_report *report);
/* devices, contexts, streams, pools, left_out */
void stat_json__put_objects(struct json_object *object, const struct stat_report *report);

#endif
