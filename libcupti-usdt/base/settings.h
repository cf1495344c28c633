/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent's environment variables. Read once, in InitializeInjection, before any thread. */
#ifndef LIBCUPTI_USDT_BASE_SETTINGS_H
#define LIBCUPTI_USDT_BASE_SETTINGS_H

#include <stdbool.h>

struct settings {
	bool off;	       /* CUDA_TRACE=off */
	bool start;	       /* CUPTI_USDT_START, default 0: prepare in cuInit() */
	bool force;	       /* CUPTI_USDT_FORCE: use a libcupti that is known to be faulty */
	bool debug;	       /* CUPTI_USDT_DEBUG: print on stderr what happens */
	unsigned int start_ms; /* CUPTI_USDT_START_MS: how long the program's cuInit() may wait */
	unsigned int start_wait_ms; /* CUPTI_USDT_AWAIT_MS: part of it, for tools attached to
				       cuda:start */
	unsigned int exit_ms;	    /* CUPTI_USDT_EXIT_MS: how long the program's exit may wait */
	const char *libcupti;	    /* CUDA_TRACE_LIBCUPTI: this libcupti and no other, or NULL */
	const char *cuda_home;	    /* CUDA_HOME or CUDA_PATH, or NULL */
	const char *nvtx_library;   /* NVTX_INJECTION64_PATH, which NVTX itself reads, or NULL */
	/* Of hardware counters: CUPTI_USDT_COUNTERS, metrics separated by commas, or NULL */
	const char *counters;
	const char
		*counters_kernels; /* CUPTI_USDT_COUNTERS_KERNELS: a regular expression, or NULL */
	unsigned long counters_skip;  /* CUPTI_USDT_COUNTERS_SKIP: so many kernels first */
	unsigned long counters_limit; /* CUPTI_USDT_COUNTERS_LIMIT: so many at most, 0 = all */
	bool counters_graphs; /* CUPTI_USDT_COUNTERS_GRAPHS: of graphs, and not of kernels */
};

void settings__read(void);
const struct settings *settings__get(void);

#endif
