// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace attach: loads the injection library into running programs.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cuda-trace/attach/agent_files.h"
#include "cuda-trace/attach/privileges.h"
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/options.h"
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/inject/injection.h"
#include "cuda-trace/inject/injections.h"
#include "cuda-trace/proc/process_maps.h"

struct attach_options {
	uint32_t pid;
	bool verbose;
};

static const struct option_row rows[] = {
	{OPTION_PID, 'p', "pid", "PID", "the process; others may follow as operands",
	 offsetof(struct attach_options, pid)},
	{OPTION_FLAG, 'v', "verbose", NULL, "print how long its threads were stopped",
	 offsetof(struct attach_options, verbose)},
	{},
};

static const struct option_usage usage = {
	.command = "attach",
	.summary = "Loads the injection library into running programs, for tools such as bpftrace.",
	.synopsis = (const char *const[]){"[OPTIONS] -p PID [PID...]", NULL},
	.tables = (const struct option_row *const[]){rows, NULL},
	.examples = "  sudo cuda-trace attach -p 4711\n"
		    "  sudo cuda-trace attach -v 4711 4712\n"
		    "\nThe other commands do this themselves with -p.\n",
};

static void say_how(uint32_t pid, const struct injection_result *result)
{
	fprintf(stderr,
		"cuda-trace: process %u: %u threads, %u stopped for up to %.1f ms (%.1f ms of it "
		"to load "
		"the library%s%s)\n",
		pid, result->threads, result->stopped + result->idle, result->stop_us / 1e3,
		result->call_us / 1e3, result->copied ? ", from a copy in memory" : "",
		result->idle ? ", by a thread that slept" : "");
}

struct attaching {
	bool verbose;
	int status;
};

static void attach_ended(void *context, uint32_t pid, const struct injection_result *result)
{
	struct attaching *attaching = context;

	if (result->error) {
		fprintf(stderr, "cuda-trace attach: process %u: %s\n", pid, result->reason);
		attaching->status = EXIT_TROUBLE;
		return;
	}
	if (result->met) {
		printf("%u: already has the injection library\n", pid);
		return;
	}
	printf("%u: attached\n", pid);
	if (attaching->verbose)
		say_how(pid, result);
}

static int start(struct injections *injections, uint32_t pid)
{
	struct inspection seen;

	if (process_maps__process(pid, &seen)) {
		fprintf(stderr, "cuda-trace attach: there is no process %u\n", pid);
		return EXIT_TROUBLE;
	}
	if (seen.agent && !seen.asleep) {
		printf("%u: already has the injection library\n", pid);
		return EXIT_OK;
	}
	if (injections__includes(injections, pid))
		return EXIT_OK; /* it is named twice */
	return injections__start(injections, pid, INJECTION_LOADS) ? EXIT_OK : EXIT_TROUBLE;
}

static int attach(const uint32_t *pids, uint32_t count, const char *agent, bool verbose)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct attaching attaching = {.verbose = verbose, .status = EXIT_OK};
	struct injections *injections =
		injections__new(agent, true, verbose, attach_ended, &attaching);

	if (!injections)
		return EXIT_TROUBLE;
	for (uint32_t i = 0; i < count; i++)
		if (start(injections, pids[i]))
			attaching.status = EXIT_TROUBLE;
	for (uint32_t i = 0; i < count; i++)
		while (injections__includes(injections, pids[i])) {
			nanosleep(&pause, NULL);
			injections__poll(injections);
		}
	injections__free(injections);
	return attaching.status;
}

/* The option's and the operands, into pids[], which has space for argc of them. Their number, or
 * -1. */
static int read_pids(const struct attach_options *options, int argc, char **argv, uint32_t *pids)
{
	int count = 0;

	if (options->pid)
		pids[count++] = options->pid;
	for (int i = 0; i < argc; i++) {
		char *end;
		unsigned long pid = strtoul(argv[i], &end, 10);

		if (*end || !pid || pid > UINT32_MAX) {
			options__misuse(&usage, "'%s' is not a process id", argv[i]);
			return -1;
		}
		pids[count++] = pid;
	}
	if (!count) {
		options__misuse(&usage, "needs a process: -p PID");
		return -1;
	}
	return count;
}

int cmd_attach(int argc, char **argv)
{
	struct attach_options options = {};
	uint32_t pids[argc];
	char agent[PATH_MAX];
	int status, count, operand = options__parse(&usage, &options, argc, argv, &status);

	if (operand < 0)
		return status;
	count = read_pids(&options, argc - operand, argv + operand, pids);
	if (count < 0)
		return EXIT_USAGE;
	if (privileges__check() || agent_files__agent_path(agent, false))
		return EXIT_TROUBLE;
	return attach(pids, count, agent, options.verbose);
}
