/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uprobes on NCCL's exported functions (bpf/nccl.h), in every file of that name that a process
 * maps: libnccl.so, or a libtorch_cuda.so into which it was linked. A link is one of all processes
 * that map the file, so that the ranks which start later are observed from their first call. Called
 * by the session.
 */
#ifndef CUDA_TRACE_DRIVER_NCCL_PROBES_H
#define CUDA_TRACE_DRIVER_NCCL_PROBES_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct left_out;
struct nccl_probes;

/* Before the object is loaded: prepares its programs, or leaves them out (then NULL): not wanted,
 * or the kernel is older than Linux 6.6, which is said on stderr if it matters. */
struct nccl_probes *nccl_probes__new(struct bpf_object *object, bool wanted, bool verbose,
				     struct left_out *left_out);
/* Accepts NULL, as all of these. */
void nccl_probes__free(struct nccl_probes *probes);
/* For an observed process: attaches to its NCCL, if that file is new. */
void nccl_probes__look(struct nccl_probes *probes, uint32_t pid);
/* After a scan of processes: releases files that no process maps any more. */
void nccl_probes__prune(struct nccl_probes *probes);

#endif
