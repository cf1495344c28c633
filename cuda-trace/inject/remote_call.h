/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Has one stopped thread of another process load the agent and call InitializeInjection(). The
 * thread returns by itself to where it was, with its registers, signal mask and errno unchanged: a
 * signal frame on its stack holds them, and the call ends with rt_sigreturn. The tool need not
 * finish anything, so it may be killed at any moment. One thread, the tracer's.
 */
#ifndef CUDA_TRACE_INJECT_REMOTE_CALL_H
#define CUDA_TRACE_INJECT_REMOTE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct injection_target;

/* How much of the thread's stack the call needs, with dlopen() and CUPTI. */
#define REMOTE_CALL_STACK (160 * 1024)
#define REMOTE_CALL_PATH  256

struct remote_call {
	pid_t thread;
	uint64_t block; /* address of struct call_block in the process */
	int copy; /* the agent's file, to be copied into the process; -1 = `path` is valid there */
};

/* The system call in which a thread slept; arm64 overwrites its first argument with the result. */
struct remote_sleep {
	uint64_t number, argument, instruction;
};

enum remote_call_state {
	REMOTE_CALL_RUNS,
	REMOTE_CALL_DONE,
	REMOTE_CALL_NO_LIBRARY, /* dlopen() failed */
	REMOTE_CALL_NO_ENTRY,	/* not our library */
	REMOTE_CALL_NO_COPY,	/* its copy of the agent did not come in time */
	REMOTE_CALL_LOST,	/* the process's memory cannot be read any more */
};

/* Whether these bytes of a process are free for the code of a call: unused, or such code of an
 * earlier call, which stays there. */
bool remote_call__can_overwrite(const uint8_t bytes[], size_t size);
/* Whether this word of a stack is a return address into the code [start, end), behind a call that
 * may lead out of it. */
bool remote_call__is_return_into(const struct injection_target *target, uint64_t stored,
				 uint64_t start, uint64_t end);
/* Before a thread continues that was stopped inside a system call: a call that the kernel ended
 * with EINTR only because of the stop is restarted, unless a signal is pending for the thread. */
void remote_call__resume(pid_t thread, const struct remote_sleep *sleep);
/*
 * Prepares the thread, which must be stopped, and starts the call when the thread is continued.
 * `sleep`: it was interrupted in a system call, which will be restarted; else NULL. 0, or -errno:
 * the thread can go on as if nothing had been tried. -EAGAIN: the system call must not be
 * restarted.
 */
int remote_call__begin(struct remote_call *call, const struct injection_target *target,
		       pid_t thread, const char *path, int copy, const struct remote_sleep *sleep);
/* Serves the call; to be called every millisecond or so. */
enum remote_call_state remote_call__state(struct remote_call *call,
					  const struct injection_target *target);

/* For the machine's part. 0 or -EFAULT. */
int remote_call__write(const struct injection_target *target, uint64_t address, const void *data,
		       size_t size);

#endif
