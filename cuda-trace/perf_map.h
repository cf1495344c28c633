/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /tmp/perf-PID.map: functions that a program compiled at run time, CPython's trampolines among
 * them (python -X perf).
 */
#ifndef CUDA_TRACE_PERF_MAP_H
#define CUDA_TRACE_PERF_MAP_H

#include <stdint.h>

struct perf_map;

/* Remembers the file's place; the process must live. NULL = there is none. */
struct perf_map *perf_map__open(uint32_t pid);
/* The function at that address as the file has it now, to be freed; NULL = none. */
char *perf_map__at(struct perf_map *map, uint64_t address);
void perf_map__free(struct perf_map *map);

#endif
