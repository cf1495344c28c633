/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tracing session: open → attach → poll … → close. Commands request events and get them through
 * a sink; the session hides where they come from (ring buffer, library file, namespace). One
 * thread.
 */
#ifndef CUDA_TRACE_CAPTURE_SESSION_H
#define CUDA_TRACE_CAPTURE_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "cuda-trace/capture/process.h"

struct driver_source;
struct left_out;
struct session;
struct unobserved;

/* Why records were lost after they had left the process; the reasons inside it are enum
 * cuda_lost_reason. X(enumerator, stable key, text) */
#define SESSION_LOST_REASONS(X)                                                                    \
	X(RING_FULL, "ring_full", "the ring buffer was full: this tool read too slowly")           \
	X(RING_FULL_NAMES, "ring_full_names",                                                      \
	  "names, states, devices and ends of processes: the ring buffer was full, or they were "  \
	  "unreadable")                                                                            \
	X(UNREADABLE, "unreadable", "the kernel could not read the batch")                         \
	X(MISSED, "missed", "numbered by the injection library, but never arrived")                \
	X(MALFORMED, "malformed", "malformed records")                                             \
	X(KILLED, "killed",                                                                        \
	  "processes that ended without reporting it: their last 100 ms are unknown")              \
	X(STACKS, "stacks",                                                                        \
	  "stacks of launches: there was no space for them, or no frame was readable")             \
	X(DRIVER_UNKNOWN, "driver_unknown",                                                        \
	  "calls of libcuda that are counted without bytes and kernel names: their arguments are " \
	  "not known (-v names the functions)")                                                    \
	X(NAMES, "names",                                                                          \
	  "names that are shown as numbers: they never arrived, or there were too many")           \
	X(UNSENT, "unsent", "launches and calls that killed processes had not sent")               \
	X(YIELDED, "yielded",                                                                      \
	  "times that a process yielded CUPTI to another client: work in that time has no GPU "    \
	  "times, and no total is complete")                                                       \
	X(FILES, "files_left_out",                                                                 \
	  "files with the library's name that are not attached to (named above)")                  \
	X(DRIVERS, "drivers_left_out",                                                             \
	  "files with the driver's name that are not attached to (named above)")                   \
	X(PROCESSES, "processes_left_out", "processes that are not seen (named above)")            \
	X(UNOBSERVED, "unobserved",                                                                \
	  "processes that should have been observed and were not (named above): nobody knows "     \
	  "how many calls they made")                                                              \
	X(LATE, "observed_late",                                                                   \
	  "processes that may have made calls before they were observed (named above)")

enum session_lost {
#define SESSION_LOST_ENUMERATOR(name, key, text) SESSION_LOST_##name,
	SESSION_LOST_REASONS(SESSION_LOST_ENUMERATOR)
#undef SESSION_LOST_ENUMERATOR
		SESSION_LOST_COUNT
};

struct recorded_kernel;

struct session_lost_counts {
	uint64_t agent[CUDA_LOST_COUNT];
	uint64_t session[SESSION_LOST_COUNT];
	uint64_t total; /* records: see losses__total() */
};

/* Called from session__poll(), in arrival order: batches of threads and of the GPU interleave. */
struct sink {
	void *context;
	void (*process_start)(void *context, struct process *process);
	void (*record)(void *context, struct process *process, const struct cuda_record *record);
	/* The agent's state changed or was reported again: process->status. May be NULL. */
	void (*process_status)(void *context, struct process *process);
	/* An error that the agent reported; the texts are untrusted. May be NULL. */
	void (*process_error)(void *context, struct process *process, int code,
			      const char *component, const char *message);
	/* A stack (EVENT_STACK, EVENT_STACK_COPY) or a description of its frames (EVENT_CODE); its
	 * lengths have been checked, its contents are untrusted. May be NULL. */
	void (*stack)(void *context, struct process *process, const struct event *event);
	/* A call of NCCL; the contents are untrusted. `kernel`: of a recording, NULL = live. May be
	 * NULL. */
	void (*collective)(void *context, struct process *process,
			   const struct event_collective *call,
			   const struct recorded_kernel *kernel);
	/* After it, nothing more comes from this process. */
	void (*process_end)(void *context, struct process *process);
	/* Call process_end only after all available events were read: names of other processes may
	 * still be behind it. */
	bool ends_last;
};

/* Where events come from: only from agents; also from libcuda's entry points for processes without
 * a working agent; or from these for all processes. */
enum session_source { SESSION_AGENTS, SESSION_AUTO, SESSION_DRIVER };

/* In which running processes the agent is loaded or activated: none; those that have loaded it and
 * are dormant; all selected ones. */
enum session_attach { SESSION_ATTACH_NONE, SESSION_ATTACH_PREPARED, SESSION_ATTACH_ALL };

struct session_options {
	bool yields;	    /* other CUPTI clients in the processes are admitted: yield_gate.h */
	uint32_t groups;    /* bits (1 << enum cuda_group): what is switched on */
	uint32_t pid;	    /* 0 = any; its children are included */
	const char *comm;   /* NULL = any */
	int64_t uid;	    /* -1 = any */
	const char *cgroup; /* path below /sys/fs/cgroup or absolute; NULL = any */
	const char *agent;  /* library file to watch beside those found; NULL = the installed one */
	enum session_source source;
	uint32_t ring_mib;			/* 0 = default */
	uint32_t sample_on_ms, sample_every_ms; /* of the sampled groups; 0 = the agents' own */
	bool by_link; /* with pid: leave agents of other processes dormant, where the kernel can */
	enum session_attach attach;
	bool watches; /* the command only watches from now on: drop capabilities not needed for it
		       */
	bool held;    /* pid is stopped before the exec of its program, which loads the agent */
	bool stacks;  /* session__set_stack_period() will be called */
	bool stacks_timed;  /* session__stack_ns() will */
	bool stacks_copied; /* for unwinding; else they are walked by frame pointers alone */
	bool collectives;   /* NCCL's calls, see nccl_probes.h */
	/* Launches that the driver source sees have no length, and one that fails is reported
	 * twice: see DRIVER_LAUNCH_FAILED. */
	bool launches_at_entry;
	bool ranges_at_once; /* NVTX ranges come before what begins in them: see NVTX_OPEN */
	bool verbose;	     /* print what is attached, and libbpf's messages */
};

/* NULL after an error, which is printed on stderr (one line with the remedy). */
struct session *session__open(const struct session_options *options, const struct sink *sink);
int session__attach(struct session *session);
/*
 * For a second set of eBPF programs beside the session's (live.c): found() is called for each
 * library file once names and states of its processes arrive (call this before session__attach());
 * session__filter() returns the session's filter and the map of the processes for filter->by_pid,
 * session__interpreters() that of bpf/interpreters.h.
 */
struct session_files {
	void *context;
	void (*found)(void *context, const char *path);
	void (*gone)(void *context, const char *path); /* nobody maps it any more */
};
void session__on_file(struct session *session, const struct session_files *files);
/* What the session ignores because of a limit; valid as long as the session. */
struct left_out *session__left_out(struct session *session);
int session__filter(const struct session *session, struct stream_settings *filter);
int session__interpreters(const struct session *session);
/* For a driver source that was made outside: the session owns it from now on (NULL = none). Its map
 * of processes must be the session's, which removes those that end. */
int session__driver_pids(const struct session *session);
void session__set_driver(struct session *session, struct driver_source *driver);
/* How the driver source reports launches, a stable key; NULL: it watches no library. */
const char *session__driver_launches(const struct session *session);
/* Stacks of one in `period` launches from now on; see attachments__set_stack_period(). */
void session__set_stack_period(struct session *session, uint32_t period);
/* The average time of the eBPF program for a stack, without the trap; 0 = there was none yet. */
uint64_t session__stack_ns(const struct session *session);
/* Adds a process tree to a session that was opened with options.pid (before the child runs). */
int session__add_pid(struct session *session, uint32_t pid);
/* Handles available events, waits at most timeout_ms; 0, or -errno (-EINTR: a signal came). */
int session__poll(struct session *session, int timeout_ms);
/* Returns when session__poll() should follow at once: a process has loaded the agent, changed its
 * state, or sent much. 0, or -EINTR. */
int session__wait(const struct session *session, int timeout_ms);
/* Ends the observed time: requests from the agents all that they recorded in it, waits for that
 * (bounded), delivers it, ends the processes. What begins later is neither delivered nor counted as
 * missing. Nothing is delivered afterwards, and the agents are switched off: what a command does
 * before session__close() may take long. */
void session__finish(struct session *session);
/* Requests names and states from the agents again. session__poll() does so where one is missing. */
void session__say_hello(struct session *session);
/* Window and period of sampling from now on, 0 = as it is; 0 or -errno. */
int session__set_cycle(struct session *session, uint32_t on_ms, uint32_t every_ms);
void session__each_process(struct session *session,
			   void (*handle)(void *context, struct process *process), void *context);
/* The n-th process whose calls are missing, see observations.h; NULL = there are no more. */
/* A line for each process that should have been observed and was not, or only late. Called by
 * session__finish(). */
void session__say_unobserved(const struct session *session, FILE *file);
const struct unobserved *session__missed(const struct session *session, uint32_t n);
void session__lost(const struct session *session, struct session_lost_counts *counts);
void session__close(struct session *session);

#endif
