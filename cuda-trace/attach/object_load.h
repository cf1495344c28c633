/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading an eBPF object into the kernel. For the first thread.
 */
#ifndef CUDA_TRACE_ATTACH_OBJECT_LOAD_H
#define CUDA_TRACE_ATTACH_OBJECT_LOAD_H

struct bpf_object_skeleton;

/* As bpf_object__load_skeleton(), in less time and memory: maps with BPF_F_NO_PREALLOC lose that
 * flag where the kernel is too old for it. 0, or -errno. */
int object_load__skeleton(struct bpf_object_skeleton *skeleton);

#endif
