/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver source: uprobes on libcuda for processes without a working agent.
 */
#ifndef CUDA_TRACE_DRIVER_DRIVER_SOURCE_H
#define CUDA_TRACE_DRIVER_DRIVER_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct driver_source;
struct left_out;

struct driver_options {
	const char *comm; /* which processes are traced; NULL = any */
	int64_t uid;	  /* the same; -1 = any */
	bool each;	  /* links of single processes, not of all that map the library */
	bool stays;	  /* the command runs for days: no notices */
	/* The command does not need how long launches take: they may be reported at their entry,
	 * which costs less. */
	bool at_entry;
	bool verbose;
	struct left_out *left_out; /* what is not traced because of a limit */
};

/* 0, or -EOPNOTSUPP and a line that says what is missing. Not needed before the following. */
int driver_source__check(void);
/* Before the object is loaded: prepares its programs, or leaves them out (then NULL). */
struct driver_source *driver_source__new(struct bpf_object *object, bool wanted,
					 const struct driver_options *options);
/* Accepts NULL. */
void driver_source__free(struct driver_source *source);
/* The system's libcuda, for programs that have not loaded it yet. */
void driver_source__prepare(struct driver_source *source);
/* A process was scanned: traces it if it uses CUDA without an agent (or `force`). True: its calls
 * are traced from now on. */
bool driver_source__look(struct driver_source *source, uint32_t pid, bool force);
/* The process's calls are traced. Accepts NULL. */
bool driver_source__watches(const struct driver_source *source, uint32_t pid);
/* Its agent was loaded after the scan: stops tracing it, or its calls would be reported twice.
 * True: it was traced. Accepts NULL. */
bool driver_source__leave(struct driver_source *source, uint32_t pid);
/* How the launches of the libraries that are watched are reported. NULL: there are none. */
const char *driver_source__launches(const struct driver_source *source);
/* driver_source__look() while a thread of the process waits for the tool. True: the calls are
 * traced, maybe already before. */
bool driver_source__look_waiting(struct driver_source *source, uint32_t pid, bool force);
/* Before threads may wait: finds out in the background what the kernel's links can do. Accepts
 * NULL. */
void driver_source__try(struct driver_source *source);
/* Waits until that is known. Accepts NULL. */
void driver_source__end_trial(struct driver_source *source);
/* A traced process has initialised CUDA: only now it is known that it loaded no agent. Accepts
 * NULL. */
void driver_source__note_use(struct driver_source *source);
/* After a scan of processes: releases those that have ended, and prints one line on stderr about
 * those that are new, once. */
void driver_source__prune(struct driver_source *source);

#endif
