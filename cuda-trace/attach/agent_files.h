/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the files libcupti-usdt.so to attach to: the installed one, and every other copy that a
 * process maps (containers, other users' builds), each once.
 */
#ifndef CUDA_TRACE_ATTACH_AGENT_FILES_H
#define CUDA_TRACE_ATTACH_AGENT_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct targets;

/* Path of the agent that a PROGRAM loads: $CUDA_TRACE_AGENT, the one beside the tool's own file
 * (build tree), or the installed one. 0, or -ENOENT after a line on stderr (unless quiet). */
int agent_files__agent_path(char path[PATH_MAX], bool quiet);

/* Receives what is found. A path ("/proc/self/fd/N") leads to that file until gone() is called for
 * it. */
struct targets_sink {
	void *context;
	void (*found)(void *context, const char *path);
	/* No process maps it any more: detach from it, or its file system stays busy. */
	void (*gone)(void *context, const char *path);
	/* For each process that is scanned: the library that it maps, or NULL. */
	void (*look)(void *context, uint32_t pid, const char *path);
};

struct left_out;

struct targets *agent_files__new(const struct targets_sink *sink, struct left_out *left_out);
void agent_files__free(struct targets *targets);
/* The library that programs load, which may have another name (CUDA_TRACE_AGENT); files of that
 * name are then found as well. Returns its path for the sink, or NULL: it is no such library. */
const char *agent_files__add_named(struct targets *targets, const char *path);
/* When a file that the sink knows was attached to: ns, monotonic. */
uint64_t agent_files__since(const struct targets *targets, const char *path);
/* Scans the maps of processes: of all at the first call; later of new processes first and of the
 * others in turn, within a few milliseconds. */
void agent_files__scan(struct targets *targets);
/* The same for one process, now. */
void agent_files__look(struct targets *targets, uint32_t pid);

#endif
