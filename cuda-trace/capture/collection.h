/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows of a process in which a command collects: while an NVTX range is open, or between
 * cuProfilerStart() and cuProfilerStop(). A sink before that of the command; passes on what was
 * called in a window, and what the GPU did because of it, also after the window. One thread.
 */
#ifndef CUDA_TRACE_CAPTURE_COLLECTION_H
#define CUDA_TRACE_CAPTURE_COLLECTION_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/base/interval_set.h"
#include "cuda-trace/capture/session.h"
#include "cuda-trace/cli/window_options.h"
#include "cuda-trace/cli/windows_section.h"

struct collection;

/* Between the session and this sink, which must stay, as `windows`. NULL = no memory. */
struct collection *collection__new(const struct windows *windows, const struct sink *sink);
void collection__free(struct collection *collection);
/* What the session is to be opened with. */
const struct sink *collection__sink(const struct collection *collection);
/* The observed time ends (ns, monotonic): windows that are open do so then, too. */
void collection__close(struct collection *collection, uint64_t end);
/* The windows of a process, from its start to its end; NULL = everything is collected. */
const struct interval_set *collection__windows(const struct process *process);
void collection__count(const struct collection *collection, struct collection_counts *counts);
/* Why there was no window, and what to do about it, on stderr; nothing if there was one. */
void collection__say(const char *command, const struct collection *collection);

#endif
