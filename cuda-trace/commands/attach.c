// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace attach: loads the injection library into running programs.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda-trace/attach/agent_files.h"
#include "cuda-trace/attach/privileges.h"
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/options.h"
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/inject/injection.h"
#include "cuda-trace/proc/process_maps.h"

#define ATTEMPTS 5

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

static int attach(uint32_t pid, const char *agent, bool verbose)
{
	struct injection_result result = {.error = -EAGAIN};
	struct injection injection;
	struct inspection seen;

	if (process_maps__process(pid, &seen)) {
		fprintf(stderr, "cuda-trace attach: there is no process %u\n", pid);
		return EXIT_TROUBLE;
	}
	if (seen.agent && !seen.asleep) {
		printf("%u: already has the injection library\n", pid);
		return EXIT_OK;
	}
	for (int i = 0; i < ATTEMPTS && result.error == -EAGAIN; i++) {
		if (injection__start(&injection, pid, agent))
			return EXIT_TROUBLE;
		injection__wait(&injection, &result);
	}
	if (result.error) {
		fprintf(stderr, "cuda-trace attach: process %u: %s\n", pid, result.reason);
		return EXIT_TROUBLE;
	}
	printf("%u: attached\n", pid);
	if (verbose)
		say_how(pid, &result);
	return EXIT_OK;
}

int cmd_attach(int argc, char **argv)
{
	struct attach_options options = {};
	char agent[PATH_MAX];
	int status, operand = options__parse(&usage, &options, argc, argv, &status);

	if (operand < 0)
		return status;
	if (!options.pid && operand == argc)
		return options__misuse(&usage, "needs a process: -p PID");
	if (privileges__check() || agent_files__agent_path(agent, false))
		return EXIT_TROUBLE;
	status = options.pid ? attach(options.pid, agent, options.verbose) : EXIT_OK;
	for (; operand < argc; operand++) {
		char *end;
		unsigned long pid = strtoul(argv[operand], &end, 10);

		if (*end || !pid || pid > UINT32_MAX)
			return options__misuse(&usage, "'%s' is not a process id", argv[operand]);
		if (attach(pid, agent, options.verbose))
			status = EXIT_TROUBLE;
	}
	return status;
}
