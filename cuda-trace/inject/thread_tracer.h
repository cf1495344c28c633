/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seizes the threads of one process (ptrace). That stops none of them; each that enters libcuda
 * stops. Other signals and stops have their usual effect. One thread, in a process that traces
 * nothing else.
 */
#ifndef CUDA_TRACE_INJECT_THREAD_TRACER_H
#define CUDA_TRACE_INJECT_THREAD_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cuda-trace/inject/remote_call.h"

struct injection_target;

enum thread_state {
	THREAD_RUNS,
	THREAD_AT_ENTRY, /* stopped where it entered libcuda */
	THREAD_IN_CALL,	 /* stopped inside a system call, by thread_tracer__interrupt() */
	THREAD_BORROWED, /* makes the remote call: never stopped again */
};

struct traced_thread {
	pid_t id;
	enum thread_state state;
	uint64_t cpu; /* ns that it had used when it was seized */
	struct remote_sleep sleep;
};

struct thread_tracer {
	const struct injection_target *target;
	struct traced_thread *threads;
	uint32_t count, capacity;
	uint32_t stopped;     /* at entries */
	uint64_t first_stop;  /* ns; 0 = none yet */
	uint64_t latest_stop; /* ns */
};

/* Seizes all threads that there are, and those that they start. 0 or -errno. */
int thread_tracer__seize(struct thread_tracer *tracer, const struct injection_target *target);
/* Handles what has happened; returns at once. False: the process has ended. */
bool thread_tracer__serve(struct thread_tracer *tracer);
/* Stops a thread that sleeps in a system call, within 50 ms. 0, or -errno: it goes on then. */
int thread_tracer__interrupt(struct thread_tracer *tracer, struct traced_thread *thread);
/* Continues a stopped thread, which is left alone from now on. */
void thread_tracer__lend(struct thread_tracer *tracer, struct traced_thread *thread);
/* Lets all stopped threads go on. Those that run are detached when this process ends: to detach
 * them now would interrupt their system calls. */
void thread_tracer__release(struct thread_tracer *tracer);
void thread_tracer__free(struct thread_tracer *tracer);

#endif
