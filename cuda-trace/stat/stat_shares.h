/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each process's share of the time in which a GPU was busy (docs/reference/sharing.md): the parts
 * of stat_lines.h in which several processes had work are divided as bpf/time_slice.h says. Used by
 * stat_time.c, which has the union of all.
 */
#ifndef CUDA_TRACE_STAT_STAT_SHARES_H
#define CUDA_TRACE_STAT_STAT_SHARES_H

#include "cuda-trace/stat/stat_lines.h"

#define STAT_SHARE_LINES 64 /* processes on GPUs that others use, too, at a time */

struct stat_user {
	uint32_t pid; /* 0 = those for which there is no space */
	char comm[32], cgroup[256];
};

struct stat_share {
	uint32_t gpu; /* its index in the set of GPUs */
	struct stat_user user;
	uint64_t share_ns, alone_ns; /* the second: no other had work meanwhile */
};

struct stat_shares;
struct stat_sharer; /* a process on a GPU */

struct stat_shares *stat_shares__new(struct stat_lines *lines, uint32_t gpus);
void stat_shares__free(struct stat_shares *shares);
/* What says whether an MPS server runs: then work of several processes runs at once, and all of it
 * is divided equally from there on. Requested whenever a further process begins to use a GPU. */
void stat_shares__set_mps(struct stat_shares *shares, bool (*is_mps)(void));
/* Whether it ever said so. */
bool stat_shares__mps(const struct stat_shares *shares);
/* A process begins to use a GPU, whose work until now is in two lines. NULL = no space. */
struct stat_sharer *stat_shares__add(struct stat_shares *shares, uint32_t gpu,
				     const struct stat_line *kernels,
				     const struct stat_line *copies);
/* After the same was marked in a line of the GPU. `old`: from then on it may have been interrupted.
 * Accepts NULL. */
void stat_shares__mark(struct stat_shares *shares, struct stat_sharer *sharer, uint64_t start,
		       uint64_t end, uint64_t old);
/* The process has ended; accepts NULL. */
void stat_shares__end(struct stat_shares *shares, struct stat_sharer *sharer,
		      const struct stat_user *user);
/* A slice of the GPU goes: when it was busy in it. */
void stat_shares__close(struct stat_shares *shares, uint32_t gpu, uint64_t slice, uint64_t busy);
/* All slices are closed: what is known of the GPU, to be scaled to its busy time. */
void stat_shares__finish(struct stat_shares *shares, uint32_t gpu, uint64_t busy_ns);
/* Largest first, of all GPUs; valid until the free. */
const struct stat_share *stat_shares__list(struct stat_shares *shares, uint32_t *count);
/* ns of the GPU that are in no share, after its finish. */
uint64_t stat_shares__nobodys(const struct stat_shares *shares, uint32_t gpu);

#endif
