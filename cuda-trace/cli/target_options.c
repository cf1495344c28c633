// SPDX-License-Identifier: BSD-2-Clause
/*
 * The options that trace, stat and their like share, and the rule for naming a target.
 */
#include "cuda-trace/cli/options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/cli/output_pattern.h"

#define AT(field) offsetof(struct options, field)

const struct option_row options_targets[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Which processes", 0},
	{OPTION_PID, 'p', "pid", "PID", "this process and its descendants", AT(pid)},
	{OPTION_TEXT, 'c', "comm", "NAME", "processes whose command name is NAME", AT(comm)},
	{OPTION_USER, 'u', "user", "USER", "processes of this user", AT(uid)},
	{OPTION_TEXT, 0, "cgroup", "PATH", "processes below this cgroup (a container, a unit)",
	 AT(cgroup)},
	{OPTION_FLAG, 'a', "all", NULL, "every process of the system", AT(all)},
	{OPTION_FLAG, 0, "attach", NULL,
	 "load the injection library into running programs, for\nGPU times (-p and PROGRAM do so "
	 "by default)",
	 AT(attach)},
	{OPTION_FLAG, 0, "no-attach", NULL, "never load it into running programs", AT(no_attach)},
	{},
};

const struct option_row options_kernels[] = {
	{OPTION_HEADING, 0, NULL, NULL, "What to keep", 0},
	{OPTION_TEXT, 'k', "kernel", "REGEX",
	 "kernels whose name matches (extended regular\nexpression, demangled name)", AT(kernel)},
	{OPTION_TIME, 0, "min-duration", "TIME", "kernels that took at least this long on the GPU",
	 AT(min_duration)},
	{OPTION_FLAG, 0, "runtime", NULL,
	 "also launch calls of the runtime API, some of which\nfail before they reach the driver "
	 "(costs more)",
	 AT(runtime)},
	{},
};

const struct option_row options_output[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Output", 0},
	{OPTION_TEXT, 'o', "output", "FILE",
	 "write to FILE (default: stdout; with a PROGRAM, which\nkeeps its stdout, stderr)",
	 AT(output)},
	{OPTION_FLAG, 'j', "json", NULL, "JSON instead of text", AT(json)},
	{OPTION_FLAG, 'v', "verbose", NULL, "print what is attached, and libbpf's messages",
	 AT(verbose)},
	{},
};

const struct option_row options_source[] = {
	{OPTION_WORD, 0, "source", "SOURCE",
	 "cupti (the injection library), driver (libcuda's\nentry points: no GPU times), or auto: "
	 "driver for\nprocesses without a working injection library",
	 AT(source)},
	{OPTION_VALUES, 0, NULL, NULL, "auto,cupti,driver", 0},
	{},
};

const struct option_row options_sampling[] = {
	{OPTION_TEXT, 0, "sample", "ON/PERIOD",
	 "collect GPU times only in windows: 10ms/1s = for 10\nms in every second; all launches "
	 "are reported, sums\nof GPU time are estimates with an error",
	 AT(sample)},
	{},
};

const struct option_row options_overhead[] = {
	{OPTION_TEXT, 0, "max-overhead", "PERCENT",
	 "like --sample, with windows that make launches slower\nby at most PERCENT",
	 AT(max_overhead)},
	{},
};

const struct option_row options_limits[] = {
	{OPTION_HEADING, 0, NULL, NULL, "When to stop (Ctrl-C always does)", 0},
	{OPTION_TIME, 'd', "duration", "TIME", "after this time (10 = 10s, 500ms, 2m)",
	 AT(duration)},
	{OPTION_FLAG, 0, "wait", NULL,
	 "continue after PROGRAM has ended, until all processes\nthat it started have ended",
	 AT(wait)},
	{OPTION_COUNT, 0, "buffer", "MIB", "ring buffer between kernel and tool (default 16)",
	 AT(ring_mib)},
	{},
};

int options__parse_targets(const struct option_usage *usage, struct options *options, int argc,
			   char **argv, int operand)
{
	bool filtered = options->pid || options->comm || options->uid >= 0 || options->cgroup;

	if (operand < argc)
		options->program = argv + operand;
	if (options->all && filtered)
		return options__misuse(usage, "either -a or -p, -c, -u, --cgroup");
	if (options->program && (filtered || options->all))
		return options__misuse(usage, "either PROGRAM or -p, -c, -u, --cgroup, -a");
	/* Not the whole system by default: being watched leaves a cost behind in a process. */
	if (!options->program && !filtered && !options->all)
		return options__misuse(
			usage,
			"nothing to watch: give -- PROGRAM, -p PID, or -a for all processes");
	if (options->attach && options->no_attach)
		return options__misuse(usage, "either --attach or --no-attach");
	if (options->wait && !options->program)
		return options__misuse(usage, "--wait goes with a PROGRAM");
	if (options->comm && strlen(options->comm) > 15)
		return options__misuse(usage, "a command name has 15 characters at most");
	if (output_pattern__expand(usage, options, &options->output) ||
	    output_file__check(usage->command, options->output, NULL))
		return EXIT_USAGE;
	if (options->pid && kill(options->pid, 0) && errno == ESRCH) {
		fprintf(stderr, "cuda-trace %s: there is no process %u\n", usage->command,
			options->pid);
		return EXIT_TROUBLE;
	}
	return 0;
}

bool options__parse_with_targets(const struct option_usage *usage, struct options *options,
				 int argc, char **argv, int *status)
{
	int operand = options__parse(usage, options, argc, argv, status);

	if (operand < 0)
		return false;
	*status = options__parse_targets(usage, options, argc, argv, operand);
	return !*status;
}
