// SPDX-License-Identifier: BSD-2-Clause
/*
 * profile --device: whole GPUs over time, by PM sampling. No process is touched, and none needs the
 * agent; a PROGRAM only says when it begins and ends.
 */
#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/profile/device/pm_report.h"
#include "cuda-trace/profile/profile.h"
#include "cuda-trace/proc/runner.h"
#include "cuda-trace/base/text.h"

#define AT(field)	 offsetof(struct profile_options, field)
#define DEFAULT_EVERY	 1000000ull /* ns */
#define LEAST_EVERY	 10000ull
#define MAX_EVERY	 1000000000ull
#define DEFAULT_INTERVAL 1000000000ull
#define FINE_INTERVAL	 100000000ull
#define POLL_MS		 100

const struct option_row profile_device_rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Whole GPUs", 0},
	{OPTION_TEXT, 0, "gpus", "LIST", "only these (0,2-3; as nvidia-smi numbers them)",
	 AT(gpus)},
	{OPTION_TIME, 0, "every", "TIME", "sampling interval of the hardware (default 1ms)",
	 AT(every)},
	{OPTION_TIME, 0, "interval", "TIME", "print one line per TIME (default 1s)", AT(interval)},
	{},
};

struct device_run {
	const struct profile_options *options;
	struct pm_request request;
	struct pm_report report;
	struct pm_source *source;
	struct runner runner;
	uint64_t interval;
	unsigned int started, troubles;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = number;
}

static void on_started(void *context, struct pm_device *device)
{
	struct device_run *run = context;

	if (!device->data)
		device->data = calloc(1, sizeof(struct pm_table));
	run->started++;
	if (run->options->shared.verbose)
		fprintf(stderr, "cuda-trace profile: GPU %u: %s, with %s\n", device->number,
			device->started.chip, device->started.cupti);
}

static void on_trouble(void *context, struct pm_device *device, const char *text)
{
	struct device_run *run = context;

	run->troubles++;
	fprintf(stderr, "cuda-trace profile: GPU %u: %s\n", device->number, text);
}

static void end_row(struct device_run *run, struct pm_device *device)
{
	struct pm_table *table = device->data;
	struct pm_row row;

	if (!table || !table->row.samples)
		return;
	pm_table__next(table, device->lost, &row);
	pm_report__row(&run->report, device, &row);
}

static void on_sample(void *context, struct pm_device *device, const struct pm_sample *raw)
{
	struct device_run *run = context;
	struct pm_table *table = device->data;
	struct pm_sample sample = *raw;

	if (!table)
		return;
	if (!run->report.began)
		run->report.began = sample.start;
	/* Rows of all GPUs end at the same times. */
	if (table->row.samples && (sample.start - run->report.began) / run->interval !=
					  (table->row.start - run->report.began) / run->interval)
		end_row(run, device);
	pm_table__scale(&run->request.choice, &sample);
	pm_table__add(table, &run->request.choice, &sample);
}

/* "0,2-3" as bits. */
static int parse_gpus(const char *list, uint64_t *gpus)
{
	*gpus = 0;
	while (list && *list) {
		char *rest;
		unsigned long first = strtoul(list, &rest, 10), last = first;

		if (rest == list)
			return -EINVAL;
		if (*rest == '-') {
			list = rest + 1;
			last = strtoul(list, &rest, 10);
		}
		if (rest == list || first > last || last >= PM_DEVICES || (*rest && *rest != ','))
			return -EINVAL;
		for (; first <= last; first++)
			*gpus |= 1ull << first;
		list = rest + (*rest == ',');
	}
	return 0;
}

static int check(const struct option_usage *usage, const struct profile_options *options,
		 struct device_run *run, uint64_t *gpus)
{
	char unknown[200], shown[820], list[NEAREST_WORDS * (NEAREST_CHARS + 2)];
	struct nearest_words nearest = {};

	if (options->shared.pid || options->shared.comm || options->shared.uid >= 0 ||
	    options->shared.cgroup || options->shared.kernel)
		return options__misuse(
			usage, "--device measures whole GPUs, not single processes or kernels");
	if (options->shared.wait)
		return options__misuse(usage, "--wait does not go with --device");
	if (parse_gpus(options->gpus, gpus))
		return options__misuse(usage, "--gpus: numbers as 0,2-3, up to %d", PM_DEVICES - 1);
	run->request.every = options->every ? options->every : DEFAULT_EVERY;
	if (run->request.every < LEAST_EVERY || run->request.every > MAX_EVERY)
		return options__misuse(usage, "--every: from 10us to 1s");
	run->interval = options->interval ? options->interval : DEFAULT_INTERVAL;
	if (!pm_choice__parse(&run->request.choice, options->device, unknown, sizeof(unknown)))
		return 0;
	pm_choice__nearest(unknown, &nearest);
	fprintf(stderr,
		"cuda-trace profile: %s is neither device, compute, memory or links, nor one of "
		"their columns (similar: %s), nor a metric with its rollup\n",
		text__show(shown, sizeof(shown), unknown, 100),
		suggest__list(&nearest, list, sizeof(list)));
	return EXIT_USAGE;
}

static int open_output(struct device_run *run)
{
	const struct options *shared = &run->options->shared;
	bool to_file = shared->output && strcmp(shared->output, "-");
	int fd = shared->program && !shared->output ? STDERR_FILENO : STDOUT_FILENO;

	run->report.file = to_file ? output_file__open_stream("profile", shared->output, NULL)
				   : fdopen(dup(fd), "w");
	run->report.lines = !to_file && isatty(fd) && !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (run->report.file)
		return 0;
	if (!to_file)
		fprintf(stderr, "cuda-trace profile: cannot write the output: %s\n",
			strerror(errno));
	return EXIT_TROUBLE;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Each GPU that was requested has said whether it can. */
static void wait_for_start(struct device_run *run)
{
	bool any = true;

	while (any && !stopped) {
		struct pm_device *device;
		unsigned int known = 0;

		any = pm_source__poll(run->source, POLL_MS);
		while ((device = pm_source__device(run->source, known)))
			known++;
		if (run->started + run->troubles >= known)
			return;
	}
}

static bool is_over(struct device_run *run, uint64_t until)
{
	if (run->options->shared.program) {
		/* The terminal's signals reach PROGRAM as well. */
		if (stopped == SIGTERM || stopped == SIGHUP)
			runner__signal(&run->runner, stopped);
		stopped = 0;
		if (runner__ended(&run->runner, false))
			return true;
	}
	return stopped || (until && monotonic__ns() >= until) || ferror(run->report.file);
}

static void summarize(struct device_run *run)
{
	struct pm_device *device;

	for (unsigned int i = 0; (device = pm_source__device(run->source, i)); i++)
		end_row(run, device);
	for (unsigned int i = 0; (device = pm_source__device(run->source, i)); i++) {
		if (device->data && device->samples)
			pm_report__summary(&run->report, device, device->data);
		free(device->data);
	}
}

static void watch(struct device_run *run)
{
	uint64_t duration = run->options->shared.duration;
	uint64_t until = duration ? monotonic__ns() + duration : 0;

	while (!is_over(run, until) && pm_source__poll(run->source, POLL_MS))
		fflush(run->report.file);
	pm_source__finish(run->source);
	summarize(run);
}

static int run_it(struct device_run *run, uint64_t gpus)
{
	const struct pm_sink sink = {
		.context = run, .started = on_started, .sample = on_sample, .trouble = on_trouble};
	char **program = run->options->shared.program;
	int status = EXIT_TROUBLE;

	catch_signals();
	if (program && runner__start(&run->runner, program, NULL))
		return EXIT_TROUBLE;
	run->source = pm_source__open(&run->request, gpus, &sink);
	if (run->source)
		wait_for_start(run);
	if (!run->source || !run->started) {
		if (program)
			runner__cancel(&run->runner);
		pm_source__close(run->source);
		return EXIT_TROUBLE;
	}
	if (program)
		status = runner__release(&run->runner, program[0]);
	if (!program || !status)
		watch(run);
	pm_source__close(run->source);
	if (program && !status) {
		runner__ended(&run->runner, true);
		return runner__pass_on(&run->runner);
	}
	return program ? status : run->troubles ? EXIT_TROUBLE : EXIT_OK;
}

int profile_device__run(const struct option_usage *usage, const struct profile_options *options)
{
	struct device_run run = {.options = options, .report.json = options->shared.json};
	uint64_t gpus = 0;
	int status = check(usage, options, &run, &gpus);

	if (status)
		return status;
	run.report.choice = &run.request.choice;
	run.report.fine = run.interval < FINE_INTERVAL;
	status = open_output(&run);
	if (!status) {
		status = run_it(&run, gpus);
		if (fclose(run.report.file) && errno != EPIPE && status == EXIT_OK) {
			fprintf(stderr, "cuda-trace profile: cannot write the output: %s\n",
				strerror(errno));
			status = EXIT_TROUBLE;
		}
	}
	pm_choice__free(&run.request.choice);
	return status;
}
