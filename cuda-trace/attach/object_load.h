/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading an eBPF object into the kernel. For the first thread.
 */
#ifndef CUDA_TRACE_ATTACH_OBJECT_LOAD_H
#define CUDA_TRACE_ATTACH_OBJECT_LOAD_H

struct bpf_object_skeleton;

/* As bpf_object__load_skeleton(), in less time. 0, or -errno. */
int object_load(struct bpf_object_skeleton *skeleton);

#endif
