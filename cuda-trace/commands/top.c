// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace top: what the GPUs are doing now, by device, process and kernel.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/capture/watch.h"
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/cli/event_groups.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/cli/options.h"
#include "cuda-trace/top/top_page.h"
#include "cuda-trace/top/top_screen.h"

#define DEFAULT_INTERVAL 1000000000ull
#define LEAST_INTERVAL	 100000000ull
#define BATCH_COLUMNS	 120
#define LOOK_MS		 100

struct top_options {
	struct options shared; /* first: the shared rows mean its fields */
	uint64_t interval;
	bool batch;
	bool once;
	bool json;
	bool no_colour;
	bool idle;
	const char *sort;
	const char *events;
};

#define AT(field) offsetof(struct top_options, field)

static const struct option_row rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "What to show", 0},
	{OPTION_WORD, 's', "sort", "COLUMN", "gpu, launches, copy, memory, wait, errors, pid, name",
	 AT(sort)},
	{OPTION_VALUES, 0, NULL, NULL, TOP_SORT_WORDS, 0},
	{OPTION_TEXT, 'e', "events", "LIST",
	 "kernels,copies,memory,sync (the default) and\nerrors,unified,overhead", AT(events)},
	{OPTION_VALUES, 0, NULL, NULL, GROUPS_SUMMED_WORDS, 0},
	{OPTION_TEXT, 0, "sample", "ON/PERIOD",
	 "collect GPU times only in windows: 10ms/1s = for 10\nms in every second; all launches "
	 "are counted, GPU\nfigures are estimates",
	 AT(shared.sample)},
	{OPTION_TEXT, 0, "max-overhead", "PERCENT",
	 "like --sample, with windows that make launches slower\nby at most PERCENT",
	 AT(shared.max_overhead)},
	{OPTION_FLAG, 0, "idle", NULL,
	 "also why each GPU was idle in the last seconds: the\nmain cause as a column, all with "
	 "the "
	 "key i",
	 AT(idle)},
	{OPTION_HEADING, 0, NULL, NULL, "How", 0},
	{OPTION_TIME, 'd', "delay", "TIME", "between two updates (default 1s)", AT(interval)},
	{OPTION_COUNT, 'n', "count", "COUNT", "stop after COUNT updates", AT(shared.count)},
	{OPTION_FLAG, 'b', "batch", NULL, "print pages one after the other; no screen control",
	 AT(batch)},
	{OPTION_FLAG, '1', "once", NULL, "the same, one page", AT(once)},
	{OPTION_FLAG, 'j', "json", NULL, "like --batch, one JSON object per update", AT(json)},
	{OPTION_FLAG, 0, "no-colour", NULL, "no colours (like NO_COLOR in the environment)",
	 AT(no_colour)},
	{OPTION_FLAG, 'v', "verbose", NULL, "print what is attached", AT(shared.verbose)},
	{},
};

static const struct option_usage usage = {
	.command = "top",
	.summary = "Shows live what CUDA programs do on each GPU (by default, all programs).",
	.synopsis = (const char *const[]){"[OPTIONS] [-p PID | -c NAME | -u USER | --cgroup PATH]",
					  NULL},
	.tables = (const struct option_row *const[]){options_targets, rows, NULL},
	.examples = "  cuda-trace top\n"
		    "  cuda-trace top -u alice -s memory\n"
		    "  cuda-trace top -b -d 10s -n 6\n"
		    "  cuda-trace top --idle\n"
		    "  cuda-trace top --once --json | jq '.processes[] | {pid, gpu_percent}'\n",
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = 1;
}

/* Waits for the end of an interval, taking names and ends meanwhile. */
static int wait_interval(struct top_model *model, uint64_t until)
{
	while (!stopped && monotonic__ns() < until) {
		uint64_t left = (until - monotonic__ns()) / 1000000 + 1;
		int err = live__poll(model->live, left < LOOK_MS ? left : LOOK_MS);

		if (err && err != -EINTR)
			return err;
	}
	return 0;
}

static int print_pages(struct top_model *model, struct top_view *view,
		       const struct top_options *options)
{
	uint64_t count = options->once ? 1 : options->shared.count, shown = 0, next;
	struct page page = {.columns = BATCH_COLUMNS};
	int err = 0;

	/* What came while the probes were being attached is no rate. */
	top_model__collect(model);
	next = monotonic__ns();
	while (!err && !(count && shown >= count)) {
		next += options->interval;
		top_model__forget_ended(model, NULL);
		err = wait_interval(model, next);
		if (err || (stopped && !options->once))
			break;
		if (top_model__collect(model))
			continue;
		if (options->json) {
			top_json__write(stdout, model, view);
		} else {
			top_page__draw(&page, model, view);
			page__print(&page, stdout);
			if (!count || shown + 1 < count)
				putchar('\n');
		}
		/* A reader that is gone ends it quietly. */
		if (fflush(stdout))
			break;
		shown++;
		if (stopped)
			break;
	}
	page__free(&page);
	return err;
}

static int check(struct top_options *options, struct top_view *view, uint32_t *groups)
{
	struct options *shared = &options->shared;

	if (shared->all && (shared->pid || shared->comm || shared->uid >= 0 || shared->cgroup))
		return options__misuse(&usage, "either -a or -p, -c, -u, --cgroup");
	if (event_groups__parse_summed(&usage, options->events, groups))
		return EXIT_USAGE;
	if (top_sort__parse(options->sort, &view->sort))
		return EXIT_USAGE;
	if (options->interval < LEAST_INTERVAL)
		return options__misuse(&usage, "--delay: 100ms at least");
	if (shared->comm && strlen(shared->comm) > 15)
		return options__misuse(&usage, "a command name has 15 characters at most");
	if (shared->pid && kill(shared->pid, 0) && errno == ESRCH) {
		fprintf(stderr, "cuda-trace top: there is no process %u\n", shared->pid);
		return EXIT_TROUBLE;
	}
	if (options->json || options->once)
		options->batch = true;
	if (!options->batch && (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))) {
		fprintf(stderr, "cuda-trace top: the output is not a terminal: use -b\n");
		return EXIT_TROUBLE;
	}
	return 0;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = stop};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

int cmd_top(int argc, char **argv)
{
	struct top_options options = {
		.shared = OPTIONS_INIT,
		.interval = DEFAULT_INTERVAL,
		.sort = "gpu",
		.events = GROUPS_SUMMED_DEFAULT,
	};
	struct live_options live = {.by_name = true, .command = "top"};
	struct sample sample;
	struct top_view view = {};
	struct top_model *model;
	int status, err;

	if (!options__parse_alone(&usage, &options, argc, argv, &status))
		return status;
	status = check(&options, &view, &live.session.groups);
	if (!status)
		status = sample_options__choose(&usage, &options.shared, live.session.groups,
						&sample);
	if (status)
		return status;
	live.idle = options.idle;
	live__sample(&live, &sample);
	setlocale(LC_CTYPE, "");
	view.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	live.session.pid = options.shared.pid;
	live.session.comm = options.shared.comm;
	live.session.uid = options.shared.uid;
	live.session.cgroup = options.shared.cgroup;
	live.session.verbose = options.shared.verbose;
	live.session.attach = watch__attaches(&options.shared);
	catch_signals();
	model = top_model__open(&live);
	if (!model)
		return EXIT_TROUBLE;
	if (options.batch)
		err = print_pages(model, &view, &options);
	else
		err = top_screen__run(model, &view, options.interval, options.shared.count,
				      !options.no_colour && !getenv("NO_COLOR"), &stopped);
	top_model__close(model);
	return err ? EXIT_TROUBLE : EXIT_OK;
}
