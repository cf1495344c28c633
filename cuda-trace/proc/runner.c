// SPDX-License-Identifier: BSD-2-Clause
/*
 * fork, hold, exec, wait. Called by watch__run(); one thread.
 */
#include "cuda-trace/proc/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/proc/priority.h"
#include "libcupti-usdt/probes.h"

#define INJECTION "CUDA_INJECTION64_PATH"
#define WAIT	  "CUPTI_USDT_AWAIT_MS"
#define WAIT_MS	  "2000"

static void set_environment(const char *agent)
{
	const char *given = getenv(INJECTION), *off = getenv("CUDA_TRACE");
	const char *name = given ? strrchr(given, '/') : NULL;
	char shown[256];

	name = name ? name + 1 : given;
	if (given && *given && strcmp(name, CUDA_AGENT_NAME))
		fprintf(stderr, "cuda-trace: " INJECTION "=%s is replaced for this program\n",
			text__show(shown, sizeof(shown), given, 200));
	if (off && !strcmp(off, "off"))
		fprintf(stderr,
			"cuda-trace: CUDA_TRACE=off is set: the program will not be traced\n");
	if (!agent)
		return;
	setenv(INJECTION, agent, 1);
	/* Programs that it starts are traced as well: they wait until the tool has attached. */
	setenv(WAIT, WAIT_MS, 0);
}

static void be_the_program(struct runner *runner, char **program, int held)
{
	char go;
	int err;

	/* The end of file means that the tool is gone or gave up. */
	if (read(held, &go, 1) != 1)
		_exit(125);
	/* PROGRAM may be run again, after the tool has raised its own. */
	priority__restore();
	execvp(program[0], program);
	err = errno;
	if (write(runner->trouble, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(err == ENOENT || err == ENOTDIR ? 127 : 126);
}

int runner__start(struct runner *runner, char **program, const char *agent)
{
	int hold[2], trouble[2], err;

	memset(runner, 0, sizeof(*runner));
	if (pipe2(hold, O_CLOEXEC))
		return -errno;
	if (pipe2(trouble, O_CLOEXEC)) {
		err = -errno;
		goto close_hold;
	}
	set_environment(agent);
	runner->pid = fork();
	if (runner->pid < 0) {
		err = -errno;
		close(trouble[0]);
		close(trouble[1]);
		goto close_hold;
	}
	if (!runner->pid) {
		close(hold[1]);
		runner->trouble = trouble[1];
		be_the_program(runner, program, hold[0]);
	}
	close(hold[0]);
	close(trouble[1]);
	runner->hold = hold[1];
	runner->trouble = trouble[0];
	return 0;
close_hold:
	close(hold[0]);
	close(hold[1]);
	return err;
}

int runner__release(struct runner *runner, const char *program)
{
	char shown[256];
	int err = 0;
	ssize_t n = write(runner->hold, "g", 1);

	close(runner->hold);
	/* Ends at the exec, which closes the other end. */
	do
		n = read(runner->trouble, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	close(runner->trouble);
	if (n != sizeof(err))
		return 0;
	runner__ended(runner, true);
	fprintf(stderr, "cuda-trace: %s: %s\n", text__show(shown, sizeof(shown), program, 200),
		err == ENOENT ? "not found" : strerror(err));
	return err == ENOENT || err == ENOTDIR ? 127 : 126;
}

bool runner__ended(struct runner *runner, bool wait)
{
	pid_t pid;

	if (runner->ended)
		return true;
	do
		pid = waitpid(runner->pid, &runner->status, wait ? 0 : WNOHANG);
	while (pid < 0 && errno == EINTR && wait);
	/* ECHILD: somebody ignores SIGCHLD for us; then nothing is known. */
	if (pid == runner->pid || (pid < 0 && errno == ECHILD))
		runner->ended = true;
	return runner->ended;
}

void runner__signal(const struct runner *runner, int signal)
{
	if (runner->pid > 0 && !runner->ended)
		kill(runner->pid, signal);
}

void runner__cancel(struct runner *runner)
{
	close(runner->hold);
	close(runner->trouble);
	runner__ended(runner, true);
}

int runner__pass_on(const struct runner *runner)
{
	struct rlimit none = {0, 0};
	int signal_number;

	if (WIFEXITED(runner->status))
		return WEXITSTATUS(runner->status);
	signal_number = WTERMSIG(runner->status);
	fflush(NULL);
	/* The program has left its core already; ours would tell nothing. */
	setrlimit(RLIMIT_CORE, &none);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
	return 128 + signal_number;
}

char *runner__command_line(char **program)
{
	char *line = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&line, &size);

	if (!file)
		return NULL;
	for (int i = 0; program[i] && size < 3000; i++) {
		bool plain = !strpbrk(program[i], " \t\n'\"\\$") && *program[i];

		fprintf(file, plain ? "%s%s" : "%s'%s'", i ? " " : "", program[i]);
		fflush(file);
	}
	fclose(file);
	return line;
}
