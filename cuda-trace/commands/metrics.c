// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace metrics: an exporter for Prometheus, over HTTP or into a file.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/cli/event_groups.h"
#include "cuda-trace/metrics/metrics_device.h"
#include "cuda-trace/live/live_energy.h"
#include "cuda-trace/metrics/metrics_exporter.h"
#include "cuda-trace/metrics/metrics_http.h"
#include "cuda-trace/metrics/metrics_listen.h"
#include "cuda-trace/metrics/metrics_textfile.h"
#include "cuda-trace/metrics/metrics_web.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/base/sd_notify.h"
#include "cuda-trace/cli/options.h"
#include "cuda-trace/cli/sample_options.h"
#include "cuda-trace/attach/privileges.h"

/* "1CUDA" on a telephone: outside of 9100-9999, which the exporters have used up. */
#define DEFAULT_LISTEN	   "127.0.0.1:12832"
#define DEFAULT_LABEL_SETS 500
#define DEFAULT_FORGET	   3600000000000ull /* ns */
#define DEFAULT_INTERVAL   15000000000ull
#define MAX_LABEL_SETS	   10000
#define MAX_KERNELS	   1000
#define LOOK_MS		   100

struct metrics_options {
	const char *listen;
	const char *web_config;
	const char *textfile;
	uint64_t interval;
	bool by_pid;
	uint64_t by_kernel;
	uint64_t label_sets;
	uint64_t forget;
	bool no_created;
	const char *events;
	const char *sample, *max_overhead;
	const char *counters;
	uint64_t duration;
	bool idle, collectives, energy;
	uint32_t pid;
	bool attach, no_attach;
	bool verbose;
};

#define AT(field) offsetof(struct metrics_options, field)

static const struct option_row rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Output", 0},
	{OPTION_TEXT, 'l', "listen", "ADDRESS:PORT",
	 "listen there (default " DEFAULT_LISTEN "; [::1]:PORT;\n:PORT = on all addresses)",
	 AT(listen)},
	{OPTION_TEXT, 0, "web-config", "FILE",
	 "TLS and passwords, in the format of Prometheus's\nexporters", AT(web_config)},
	{OPTION_TEXT, 0, "textfile", "FILE",
	 "write FILE for node_exporter instead (- = stdout,\nonce, at the end)", AT(textfile)},
	{OPTION_TIME, 0, "interval", "TIME", "how often FILE is written (default 15s)",
	 AT(interval)},
	{OPTION_HEADING, 0, NULL, NULL, "Which processes", 0},
	{OPTION_PID, 'p', "pid", "PID", "only this process and its descendants", AT(pid)},
	{OPTION_FLAG, 0, "attach", NULL,
	 "load the injection library into all running CUDA\nprograms (otherwise only those that "
	 "have "
	 "it get GPU\ntimes)",
	 AT(attach)},
	{OPTION_FLAG, 0, "no-attach", NULL,
	 "do not touch running programs, even if the library is\nloaded there already",
	 AT(no_attach)},
	{OPTION_HEADING, 0, NULL, NULL, "What to show", 0},
	{OPTION_TEXT, 'e', "events", "LIST",
	 "kernels,copies,memory,sync (the default) and\nerrors,unified,overhead", AT(events)},
	{OPTION_VALUES, 0, NULL, NULL, GROUPS_SUMMED_WORDS, 0},
	{OPTION_TEXT, 0, "sample", "ON/PERIOD",
	 "collect GPU times only in windows: 10ms/1s = for 10\nms in every second; all launches "
	 "are counted, GPU\nfigures are estimates and labelled so",
	 AT(sample)},
	{OPTION_TEXT, 0, "max-overhead", "PERCENT",
	 "like --sample, with windows that make launches slower\nby at most PERCENT",
	 AT(max_overhead)},
	{OPTION_TEXT, 0, "counters", "PRESET|METRIC,...",
	 "hardware counters of whole GPUs, whatever runs there:\ndevice, compute, memory, links",
	 AT(counters)},
	{OPTION_VALUES, 0, NULL, NULL, "device,compute,memory,links", 0},
	{OPTION_FLAG, 0, "idle", NULL,
	 "why GPUs were idle, by cause, from scheduler events\nand CUDA calls", AT(idle)},
	{OPTION_FLAG, 0, "collectives", NULL,
	 "NCCL's collectives by communicator and rank: which\nrank is late, also across hosts",
	 AT(collectives)},
	{OPTION_FLAG, 0, "energy", NULL,
	 "joules by label set, and by kernel with --by-kernel,\nfrom the GPUs' energy meters "
	 "(NVML)",
	 AT(energy)},
	{OPTION_FLAG, 0, "by-pid", NULL, "one label set per process, with its pid", AT(by_pid)},
	{OPTION_COUNT, 0, "by-kernel", "N",
	 "GPU time by kernel: the N that take most time, the\nrest as \"other\"", AT(by_kernel)},
	{OPTION_COUNT, 0, "label-sets", "N", "at most N label sets, the rest as \"other\" (500)",
	 AT(label_sets)},
	{OPTION_TIME, 0, "forget", "TIME", "drop label sets TIME after their last process (1h)",
	 AT(forget)},
	{OPTION_FLAG, 0, "no-created", NULL, "OpenMetrics without the _created samples",
	 AT(no_created)},
	{OPTION_HEADING, 0, NULL, NULL, "Other", 0},
	{OPTION_TIME, 'd', "duration", "TIME", "stop after TIME", AT(duration)},
	{OPTION_FLAG, 'v', "verbose", NULL, "print what is attached", AT(verbose)},
	{},
};

static const struct option_usage usage = {
	.command = "metrics",
	.summary = "Exports counters of all CUDA programs on this machine to Prometheus.",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.tables = (const struct option_row *const[]){rows, NULL},
	.examples = "  cuda-trace metrics\n"
		    "  cuda-trace metrics --listen :12832 --web-config web.yml --by-kernel 20\n"
		    "  cuda-trace metrics --textfile /var/lib/prometheus/node-exporter/cuda.prom\n"
		    "  cuda-trace metrics --textfile - -d 10s\n"
		    "  cuda-trace metrics --counters device\n"
		    "  cuda-trace metrics --idle --collectives\n",
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = 1;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = stop};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* A client that goes away in the middle, and a terminal that does. */
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

struct outlets {
	const struct metrics_options *options;
	struct exporter *exporter;
	struct device_metrics *counters;
	struct live_energy *energy;
	struct web_config *config;
	struct http *http;
};

static bool serves(const struct metrics_options *options)
{
	return !options->textfile || options->listen;
}

/* Server threads leave signals to the main loop. */
static int open_http(struct outlets *outlets)
{
	const struct metrics_options *options = outlets->options;
	sigset_t all, before;

	if (!serves(options))
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	outlets->http = http__start(options->listen ? options->listen : DEFAULT_LISTEN,
				    outlets->exporter, outlets->config);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!outlets->http)
		return -EIO;
	fprintf(stderr, "cuda-trace metrics: listening on %s://%s/metrics\n",
		outlets->config && web_config__certificate(outlets->config) ? "https" : "http",
		http__address(outlets->http));
	return 0;
}

static int run(struct outlets *outlets)
{
	const struct metrics_options *options = outlets->options;
	bool to_stdout = options->textfile && !strcmp(options->textfile, "-");
	uint64_t began = monotonic__ns(), next_file = began, next_second = began;
	int err = 0;

	while (!stopped && !err &&
	       !(options->duration && monotonic__ns() - began >= options->duration)) {
		uint64_t now = monotonic__ns();

		device_metrics__poll(outlets->counters);
		err = exporter__poll(outlets->exporter);
		if (outlets->http)
			http__sweep(outlets->http);
		if (outlets->http && now >= next_second) {
			notify__send("WATCHDOG=1");
			next_second = now + 1000000000;
		}
		if (options->textfile && !to_stdout && now >= next_file) {
			err = textfile__write(outlets->exporter, options->textfile);
			next_file = now + options->interval;
		}
		exporter__wait(outlets->exporter, LOOK_MS);
	}
	if (!err && options->textfile)
		err = textfile__write(outlets->exporter, options->textfile);
	return err;
}

static int check(struct metrics_options *options, uint32_t *groups)
{

	if (event_groups__parse_summed(&usage, options->events, groups))
		return EXIT_USAGE;
	if (options->listen && listen__check(options->listen))
		return EXIT_USAGE;
	if (output_file__check("metrics", options->textfile, NULL))
		return EXIT_USAGE;
	if (options->by_kernel > MAX_KERNELS)
		return options__misuse(&usage, "--by-kernel: %d at most", MAX_KERNELS);
	if (options->label_sets > MAX_LABEL_SETS)
		return options__misuse(&usage, "--label-sets: %d at most", MAX_LABEL_SETS);
	if (options->web_config && options->textfile && !options->listen)
		return options__misuse(&usage, "--web-config is for --listen, not for --textfile");
	return 0;
}

/* Before the server's threads are there, as it forks. */
static int open_counters(struct outlets *outlets)
{
	struct nearest_words nearest = {};
	struct pm_choice choice;
	char unknown[200], list[NEAREST_WORDS * (NEAREST_CHARS + 2)];

	if (outlets->options->counters)
		privileges__need_admin();
	if (!outlets->options->counters)
		return 0;
	if (pm_choice__parse(&choice, outlets->options->counters, unknown, sizeof(unknown))) {
		pm_choice__nearest(unknown, &nearest);
		return options__misuse(
			&usage,
			"--counters: '%s' is neither device, compute, memory or links, nor one of "
			"their columns (similar: %s), nor a metric",
			unknown, suggest__list(&nearest, list, sizeof(list)));
	}
	outlets->counters = device_metrics__open(&choice);
	return outlets->counters ? 0 : EXIT_TROUBLE;
}

/* Without meters all else is exported nevertheless. */
static struct live_energy *open_energy(void)
{
	const char *why;
	struct live_energy *energy = live_energy__open(&why);

	if (!energy)
		fprintf(stderr, "cuda-trace metrics: no energy: %s\n", why);
	return energy;
}

int cmd_metrics(int argc, char **argv)
{
	struct metrics_options options = {
		.label_sets = DEFAULT_LABEL_SETS,
		.forget = DEFAULT_FORGET,
		.interval = DEFAULT_INTERVAL,
		.events = GROUPS_SUMMED_DEFAULT,
	};
	struct exporter_options exporter = {.live.session.uid = -1};
	struct outlets outlets = {.options = &options};
	struct sample sample;
	int status, err;

	if (!options__parse_alone(&usage, &options, argc, argv, &status))
		return status;
	status = check(&options, &exporter.live.session.groups);
	if (!status)
		status = sample_options__parse(&usage, options.sample, options.max_overhead,
					       &sample);
	if (status)
		return status;
	if (options.collectives && sample.on_ms)
		return options__misuse(&usage, "--collectives needs all kernels: not with --sample "
					       "or --max-overhead");
	if (options.energy && sample.on_ms)
		return options__misuse(&usage, "--energy needs all kernels: not with --sample or "
					       "--max-overhead");
	if (options.energy && !(exporter.live.session.groups & 1u << CUDA_GROUP_KERNEL))
		return options__misuse(&usage, "--energy needs kernels");
	if (options.pid && kill(options.pid, 0) && errno == ESRCH) {
		fprintf(stderr, "cuda-trace metrics: there is no process %u\n", options.pid);
		return EXIT_TROUBLE;
	}
	exporter.live.idle = options.idle;
	exporter.live.collectives = options.collectives;
	exporter.live.session.pid = options.pid;
	live__sample(&exporter.live, &sample);
	exporter.live.command = "metrics";
	exporter.live.session.verbose = options.verbose;
	/* Whoever names a process means that. */
	exporter.live.session.attach = options.no_attach	       ? SESSION_ATTACH_NONE
				       : options.attach || options.pid ? SESSION_ATTACH_ALL
								       : SESSION_ATTACH_PREPARED;
	exporter.by_pid = options.by_pid;
	exporter.by_kernel = options.by_kernel;
	exporter.label_sets = options.label_sets;
	exporter.forget_seconds = options.forget / 1000000000;
	exporter.created = !options.no_created;
	catch_signals();
	/* What can be said at once is not said after seconds of attaching. */
	if (options.web_config && serves(&options)) {
		outlets.config = web_config__open(options.web_config);
		if (!outlets.config)
			return EXIT_TROUBLE;
	}
	status = open_counters(&outlets);
	if (status)
		return status;
	exporter.counters = outlets.counters;
	if (options.energy)
		outlets.energy = exporter.live.energy = open_energy();
	outlets.exporter = exporter__open(&exporter);
	err = outlets.exporter ? open_http(&outlets) : -EIO;
	if (!err) {
		notify__send("READY=1");
		err = run(&outlets);
		notify__send("STOPPING=1");
	}
	http__stop(outlets.http);
	web_config__close(outlets.config);
	exporter__close(outlets.exporter);
	device_metrics__close(outlets.counters);
	live_energy__close(outlets.energy);
	return err ? EXIT_TROUBLE : EXIT_OK;
}
