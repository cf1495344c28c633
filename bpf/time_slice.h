/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long the driver lets one process have a GPU before the next one's turn, when several
 * processes have work (time slicing): 2.14 ms, measured on an H100, and 0.14 ms to change. A kernel
 * that began less than a slice ago is young: it has not been interrupted, so its process has run
 * since it began. What an older kernel's span has may be the slices of others. Whoever divides a
 * GPU's time among processes (cuda-trace/base/gpu_turns.h) gives a moment
 * 1. to those whose work is young there, in equal parts;
 * 2. where no work is young, to the process whose turn it is: it has one slice, then comes who has
 *    waited longest. A turn ends where its process has no work any more, or where somebody's kernel
 *    begins. The change at the beginning of a turn or of a kernel is divided in proportion.
 * Copies and memsets are young until they end: engines of their own do them. bpf/gpu_shares.h and
 * cuda-trace/stat/stat_shares.c tell young from old.
 *
 * Three ways to go wrong:
 * 1. The slice is not as long on that GPU (another model, `nvidia-smi compute-policy`, a vGPU). Too
 *    long here: kernels that wait count as young beside the one that runs. Too short: kernels that
 *    run are taken for ones that may wait. Either way, no share can be further off than the spans
 *    allow, and each kernel that begins is a new start for the turns.
 * 2. Kernels of several processes do run at once (MPS): each new one would take all of the moment
 *    from a long one beside it. So nothing has turns while an MPS server runs
 *    (cuda-trace/proc/mps_server.h).
 * 3. A kernel begins in the middle of its process's slice, and is interrupted before it is a slice
 *    old: it is young while it waits. Such moments are divided equally
 *    (docs/reference/sharing.md has the size of the error).
 */
#ifndef BPF_TIME_SLICE_H
#define BPF_TIME_SLICE_H

#define TIME_SLICE_NS  2140000ull
#define TIME_CHANGE_NS 140000ull

#endif
