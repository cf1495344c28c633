/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The modes of `profile`. Each is one profile_NAME.c with the rows of its options and a function
 * that does it all; cmd_profile.c picks the one that was requested. The tool's one thread.
 */
#ifndef CUDA_TRACE_PROFILE_PROFILE_H
#define CUDA_TRACE_PROFILE_PROFILE_H

#include "cuda-trace/cli/options.h"

struct profile_options {
	struct options shared;			  /* first: the shared rows mean its fields */
	bool pc;				  /* --pc */
	const char *bursts;			  /* of --pc: ON/PERIOD, NULL = the default */
	const char *stacks;			  /* -g[=N] of --pc, NULL = none of the host */
	const char *call_graph;			  /* how to find them; NULL = the default */
	bool disassemble;			  /* --disassemble */
	const char *flamegraph, *folded, *record; /* files of --pc, NULL = none */
	const char *counters;	  /* --counters: presets and metrics, NULL = not that mode */
	const char *replay;	  /* of --counters: kernel or application, NULL = kernel */
	bool graphs;		  /* of --counters: launches of graphs instead of kernels */
	bool sass;		  /* --sass */
	uint64_t kernels;	  /* of --counters and --sass: so many at most, 0 = all */
	uint64_t skip;		  /* likewise */
	const char *list_metrics; /* --list-metrics: a regular expression, "" = all, NULL = no */
	const char *device;	  /* --device: presets, "" = the default, NULL = not that mode */
	const char *gpus;	  /* of --device: a list of numbers, NULL = all */
	uint64_t every, interval; /* of --device, ns, 0 = the default */
	const char *chip;	  /* of --list-metrics, NULL = that of the first GPU */
};

/* Options of --pc alone. */
extern const struct option_row profile_pc_rows[];
/* `profile --pc`; targets and options were checked, but for its own. The exit status. */
int profile_pc__run(const struct option_usage *usage, const struct profile_options *options);

/* Options of --counters and --list-metrics. */
extern const struct option_row profile_counters_rows[];
int profile_counters__run(const struct option_usage *usage, const struct profile_options *options);
int profile_sass__run(const struct option_usage *usage, const struct profile_options *options);
/* `profile --list-metrics`: no targets are needed. */
int profile_metrics__list(const struct option_usage *usage, const struct profile_options *options);

/* Options of --device alone. */
extern const struct option_row profile_device_rows[];
/* `profile --device`: no target is needed. */
int profile_device__run(const struct option_usage *usage, const struct profile_options *options);

#endif
