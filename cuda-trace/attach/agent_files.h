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

/* Path of the guest that PROGRAMs get: $CUDA_TRACE_GUEST, beside the tool's own file (build tree),
 * the installed one. 0, or -ENOENT after a line on stderr (unless quiet). */
int targets__guest_path(char path[PATH_MAX], bool quiet);

struct targets *targets__new(void);
void targets__free(struct targets *targets);
/* Adds one file, unless it is known; found() is called for a new one and may refuse it. */
typedef void (*targets_found)(void *context, const char *path);
void targets__add(struct targets *targets, const char *path, targets_found found, void *context);
/* The same for one that may have a name of its own (CUDA_TRACE_GUEST); copies of it are guests,
 * too. */
void targets__add_named(struct targets *targets, const char *path, targets_found found,
			void *context);
/* Looks through the processes' maps: all of them at the first call; later new processes first and
 * the others in turn, within a few milliseconds. */
/* guest: the one that the process maps, or NULL */
typedef void (*targets_look)(void *context, uint32_t pid, const char *guest);
/* look() is called for each process that is looked at. */
void targets__scan(struct targets *targets, targets_found found, targets_look look, void *context);
/* The same for one process, now. */
void targets__look(struct targets *targets, uint32_t pid, targets_found found, targets_look look,
		   void *context);

#endif
