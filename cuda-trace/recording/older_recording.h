/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A new recording takes the name of an older one, which is kept as FILE.old, as perf does.
 */
#ifndef CUDA_TRACE_RECORDING_OLDER_RECORDING_H
#define CUDA_TRACE_RECORDING_OLDER_RECORDING_H

/* 0, or -EEXIST after a message: FILE.old is there, and is something that nobody may replace. */
int older_recording__check(const char *command, const char *path);
/* Gives `partial` the name `path`; what had that name is FILE.old from then on. 0 or -errno. */
int older_recording__replace(const char *partial, const char *path);

#endif
