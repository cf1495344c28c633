/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What top shows: processes, devices and kernels, with what they did in the last interval. Filled
 * by live.c's sink, read by the pages and by JSON. One thread.
 */
#ifndef CUDA_TRACE_TOP_TOP_MODEL_H
#define CUDA_TRACE_TOP_TOP_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/live/live.h"
#include "cuda-trace/live/live_sums.h"
#include "cuda-trace/top/top_idle.h"

struct top_kernel {
	uint32_t id; /* of its name in the process */
	uint32_t device;
	char *name;		/* demangled, untrusted */
	bool named;		/* the name has come */
	struct histogram total; /* ns */
	uint64_t max_ns;
	uint64_t now_ns; /* in the last interval */
	uint64_t now_count;
};

struct top_process {
	uint32_t pid;
	char comm[16]; /* untrusted */
	char user[24];
	char container[16];
	struct origin origin;
	struct rank rank;
	const char *source;
	bool profiled; /* PC samples are taken of it, and no times of kernels meanwhile */
	bool no_gpu;   /* seen at libcuda's entry points: what the GPU does is not known */
	struct sums total;
	struct sums now;
	uint64_t busy_ns[AGGREGATE_DEVICES]; /* in the last interval */
	uint64_t copy_ns[AGGREGATE_DEVICES];
	/* Rows of struct top_model that its devices are in. */
	uint8_t row_of[AGGREGATE_DEVICES];
	uint64_t live_bytes;
	uint64_t peak_bytes;
	struct top_kernel *kernels;
	uint32_t kernel_count;
	bool ended;
	struct live_process *live; /* NULL once it has ended */
	struct top_process *next;
};

struct top_device {
	bool seen;
	uint32_t number; /* as the first process numbered it that reported it */
	char uuid[48];	 /* "" = not known */
	char name[72];	 /* untrusted */
	/* In the last interval, with all processes: the union, where it is known. */
	uint64_t busy_ns;
	uint64_t copy_ns;
	uint64_t launches;
	uint64_t live_bytes;
};

/* GPUs, then devices of processes that have not reported which GPU that is. */
#define TOP_ROWS (2 * AGGREGATE_DEVICES)

struct top_model {
	struct live *live;
	struct top_process *processes;
	struct top_device devices[TOP_ROWS];
	struct live_state state;
	struct top_idle idle;
	uint64_t busy_before[AGGREGATE_DEVICES], copy_before[AGGREGATE_DEVICES];
	uint64_t interval_ns;			/* how long the last interval really was */
	uint64_t collected;			/* ns, when it ended */
	uint32_t sample_on_ms, sample_every_ms; /* 0 = GPU records come all the time */
};

/* Figures of one process in the last interval, as the pages show them. */
struct top_figures {
	double gpu;	 /* percent */
	double copy;	 /* percent */
	double wait;	 /* threads that wait for the GPU, on average */
	double launches; /* a second */
	double graphs;	 /* a second */
	double copied;	 /* bytes a second */
	uint64_t errors; /* since we look */
};

/* NULL: said on stderr. */
struct top_model *top_model__open(const struct live_options *options);
/* Ends the interval; -EAGAIN when it must go on. */
int top_model__collect(struct top_model *model);
void top_model__figures(const struct top_model *model, const struct top_process *process,
			struct top_figures *figures);
struct top_process *top_model__find(struct top_model *model, uint32_t pid);
uint64_t top_model__lost(const struct top_model *model);
/* Keeps a process that has ended for as long as it is looked at. */
void top_model__forget_ended(struct top_model *model, const struct top_process *keep);
void top_model__close(struct top_model *model);

#endif
