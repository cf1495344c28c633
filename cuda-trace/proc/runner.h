/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PROGRAM that a command runs: it is started and stopped, so that tracing is in place before
 * its first instruction; its terminal, standard files and signals are its own.
 */
#ifndef CUDA_TRACE_PROC_RUNNER_H
#define CUDA_TRACE_PROC_RUNNER_H

#include <stdbool.h>
#include <sys/types.h>

struct runner {
	pid_t pid;
	int hold;    /* writing here releases it */
	int trouble; /* errno of a failed exec comes here */
	bool ended;
	int status; /* as of wait(2) */
};

/* Forks; the child waits. `agent` goes into CUDA_INJECTION64_PATH. 0 or -errno. */
int runner__start(struct runner *runner, char **program, const char *agent);
/* Releases it. 0, or the exit status (126, 127) if it could not be executed, said on stderr. */
int runner__release(struct runner *runner, const char *program);
/* True once it has ended; with `wait` not before. */
bool runner__ended(struct runner *runner, bool wait);
void runner__signal(const struct runner *runner, int signal);
/* Ends a child that was not released. */
void runner__cancel(struct runner *runner);
/* The exit status to return; if a signal ended the program, ends the tool by the same signal. */
int runner__pass_on(const struct runner *runner);
/* "prog 'arg 1' arg2"; only what fits. To be freed; NULL = no memory. */
char *runner__command_line(char **program);

#endif
