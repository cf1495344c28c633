// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace: the table of commands and their dispatch, nothing else.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "cuda-trace/commands/command_mistake.h"
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/commands/guide_pages.h"

/* A line each, in the order of --help; cmd_NAME() is in cmd_NAME.c. */
static const struct {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"trace", "print each event as a line, live", cmd_trace},
	{"stat", "print totals at the end of a program or of an interval", cmd_stat},
	{"record", "write all events to a file", cmd_record},
	{"report", "tables, pictures and other formats from a recording", cmd_report},
	{"top", "live view of GPUs, processes and kernels", cmd_top},
	{"profile", "inside kernels: stall reasons, hardware counters", cmd_profile},
	{"metrics", "exporter for Prometheus", cmd_metrics},
	{"push", "send profiles to Pyroscope, Parca or OTLP", cmd_push},
	{"attach", "load the injection library into running programs", cmd_attach},
	{"list", "CUDA processes and how each can be traced", cmd_list},
	{"doctor", "find out why something is missing, and how to fix it", cmd_doctor},
	{"enable", "load the injection library into all CUDA programs", cmd_enable},
	{"disable", "undo enable", cmd_disable},
	{"status", "show who has opted in, and whether it works here", cmd_status},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *file)
{
	fprintf(file, "Usage: cuda-trace COMMAND [OPTIONS] [-- PROGRAM [ARGUMENTS]]\n"
		      "strace, perf and top for CUDA.\n\nCommands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(file, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fprintf(file, "\nPages of the guide (cuda-trace help TOPIC):\n");
	guide_pages__list(file);
	fprintf(file, "\nOptions:\n  -h, --help this text; cuda-trace COMMAND --help for details\n"
		      "  --version  the version\n"
		      "\nEXAMPLES\n"
		      "  cuda-trace stat -- python3 train.py\n"
		      "  cuda-trace trace -p 4711\n"
		      "  cuda-trace list\n"
		      "  cuda-trace help first-steps\n"
		      "\nManual page: cuda-trace(1)\n");
}

static bool is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* help TOPIC: a page of the guide, or what COMMAND --help says; for completion, what there is. */
static int show_topic(char *topic)
{
	char *arguments[] = {topic, "--help", NULL};
	struct nearest_words nearest = {};
	int status;

	if (!strcmp(topic, "--complete")) {
		for (size_t i = 0; i < COMMANDS; i++)
			puts(commands[i].name);
		for (size_t i = 0; guide_pages__topic(i); i++)
			puts(guide_pages__topic(i));
		return EXIT_OK;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(topic, commands[i].name))
			return commands[i].run(2, arguments);
	status = guide_pages__show(topic);
	if (status != -ENOENT)
		return status;
	for (size_t i = 0; i < COMMANDS; i++)
		suggest__consider(&nearest, commands[i].name, topic, strlen(topic));
	for (size_t i = 0; guide_pages__topic(i); i++)
		suggest__consider(&nearest, guide_pages__topic(i), topic, strlen(topic));
	return command_mistake__explain_topic(topic, &nearest);
}

int main(int argc, char **argv)
{
	struct nearest_words nearest = {};

	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (argc == 3 && is_help(argv[1]) && !is_help(argv[2]))
		return show_topic(argv[2]);
	if (is_help(argv[1])) {
		print_help(stdout);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("cuda-trace " VERSION);
		return EXIT_OK;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	for (size_t i = 0; i < COMMANDS; i++)
		suggest__consider(&nearest, commands[i].name, argv[1], strlen(argv[1]));
	return command_mistake__explain(argv + 1, &nearest);
}
