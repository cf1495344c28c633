/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /tmp/perf-PID.map: functions that a program compiled at run time, CPython's trampolines among
 * them (python -X perf).
 */
#ifndef CUDA_TRACE_SYMBOLS_PERF_MAP_H
#define CUDA_TRACE_SYMBOLS_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

struct perf_map;

/* Remembers the file's place; the process must live. NULL = there is none. */
struct perf_map *perf_map__open(uint32_t pid);
/* Of a file that is open; closes it in the end, or now where it returns NULL. */
struct perf_map *perf_map__of(int fd);
void perf_map__free(struct perf_map *map);

struct perf_map_wish {
	uint64_t address;
	uint32_t number; /* the caller's, for found() */
};

/*
 * Calls found() for each wish whose function the file has now, in one pass, and sorts the wishes.
 * `left`: bytes that may still be read, of this and other maps.
 */
void perf_map__names(const struct perf_map *map, struct perf_map_wish *wishes, size_t count,
		     size_t *left, void (*found)(void *context, uint32_t number, const char *name),
		     void *context);

/* What runs in a process without rights, and what takes its answer, for tests. The wishes are
 * sorted by address. */
struct foreign_output;
struct perf_map_job {
	struct perf_map_wish *wishes;
	size_t count, left;
};

int perf_map__send(int fd, uint64_t size, const void *job, struct foreign_output *output);
void perf_map__take(struct perf_map_job *job, const uint8_t *answer, size_t size,
		    void (*found)(void *context, uint32_t number, const char *name), void *context);

#endif
