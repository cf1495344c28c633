/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files libcupti-usdt.so that are to be watched: the installed one, and every other copy that
 * some process maps (containers, other users' builds), each once.
 */
#ifndef CUDA_TRACE_ATTACH_AGENT_FILES_H
#define CUDA_TRACE_ATTACH_AGENT_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct targets;

/* Path of the agent that PROGRAMs get: $CUDA_TRACE_AGENT, beside the tool's own file (build tree),
 * the installed one. 0, or -ENOENT after a line on stderr (unless quiet). */
int agent_files__agent_path(char path[PATH_MAX], bool quiet);

/* What becomes of what is found. A path leads to the very file ("/proc/self/fd/N") until gone() has
 * been called for it. */
struct targets_sink {
	void *context;
	void (*found)(void *context, const char *path);
	/* Nobody maps it any more: what is attached to it must go, or its file system stays busy.
	 */
	void (*gone)(void *context, const char *path);
	/* For each process that is looked at; the library that it maps, or NULL. */
	void (*look)(void *context, uint32_t pid, const char *path);
};

struct left_out;

struct targets *agent_files__new(const struct targets_sink *sink, struct left_out *left_out);
void agent_files__free(struct targets *targets);
/* The library that programs get, which may have a name of its own (CUDA_TRACE_AGENT); copies of it
 * are libraries, too. Its path for the sink, or NULL: it is not one. */
const char *agent_files__add_named(struct targets *targets, const char *path);
/* Looks through the processes' maps: all of them at the first call; later new processes first and
 * the others in turn, within a few milliseconds. */
void agent_files__scan(struct targets *targets);
/* The same for one process, now. */
void agent_files__look(struct targets *targets, uint32_t pid);

#endif
