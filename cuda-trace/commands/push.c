// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace push: sends profiles to a receiver, every few seconds, as long as it runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/commands/stack_options.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/sd_notify.h"
#include "cuda-trace/base/size_text.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/capture/stack_rate.h"
#include "cuda-trace/capture/watch.h"
#include "cuda-trace/profile/pc/pc_rate.h"
#include "cuda-trace/profile/pc/pc_remedy.h"
#include "cuda-trace/push/push_encoder.h"
#include "cuda-trace/push/push_otlp.h"
#include "cuda-trace/push/push_report.h"
#include "cuda-trace/push/push_sender.h"
#include "cuda-trace/push/push_url.h"

#define DEFAULT_INTERVAL     10000000000ull
#define MIN_INTERVAL	     100000000ull
#define DEFAULT_PERIOD	     100
#define DEFAULT_FINAL_WAIT   5000000000ull
#define DEFAULT_TIMEOUT	     30000000000ull
#define DEFAULT_MEMORY_QUEUE (16ull << 20)
#define DEFAULT_DISK_QUEUE   (256ull << 20)
#define NS_PER_MS	     1000000ull

struct push_options {
	struct options shared; /* first: the shared rows mean its fields */
	const char *url, *format, *token_file, *header, *ca;
	const char *service, *labels;
	uint64_t interval, timeout, final_wait;
	const char *queue, *queue_size;
	const char *stacks, *call_graph;
	bool metrics, pc;
	const char *bursts;
};

#define AT(field) offsetof(struct push_options, field)

static const struct option_row receiver_rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Receiver", 0},
	{OPTION_TEXT, 0, "url", "URL",
	 "where to send: http:// or https://; without a path,\nthe path of the format is added",
	 AT(url)},
	{OPTION_WORD, 0, "format", "FORMAT",
	 "pprof: pprof to Pyroscope's /ingest (the default);\nparca: pprof to Parca's gateway; "
	 "otlp: profiles of\nOpenTelemetry",
	 AT(format)},
	{OPTION_VALUES, 0, NULL, NULL, "pprof,parca,otlp", 0},
	{OPTION_TEXT, 0, "token-file", "FILE",
	 "send the first line of FILE as a bearer token; it is\nread anew for each request",
	 AT(token_file)},
	{OPTION_TEXT, 0, "header", "NAME: VALUE",
	 "send this header, too; @FILE: the headers in FILE,\nfor secrets", AT(header)},
	{OPTION_TEXT, 0, "ca", "FILE", "certificates to check an https:// receiver with", AT(ca)},
	{OPTION_TIME, 0, "timeout", "TIME", "for one request (default 30s)", AT(timeout)},
	{},
};

static const struct option_row rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Profiles", 0},
	{OPTION_TIME, 0, "interval", "TIME", "send a profile every TIME (default 10s)",
	 AT(interval)},
	{OPTION_MAYBE, 'g', "stacks", "N",
	 "call stacks of all launches, or of every Nth (10,\n100, 1000, 10000 or 0 = none; default "
	 "100)",
	 AT(stacks)},
	STACK_OPTION_ROWS(AT(call_graph)),
	{OPTION_FLAG, 0, "pc", NULL,
	 "PC samples instead of GPU time: what the warps of\neach kernel waited for", AT(pc)},
	{OPTION_TEXT, 0, "bursts", "ON/PERIOD",
	 "with --pc: sample for ON in each PERIOD (default\n" PC_DEFAULT_BURSTS ")", AT(bursts)},
	{OPTION_FLAG, 0, "metrics", NULL,
	 "with --format otlp: also metrics of GPUs and\nprocesses (/v1/metrics)", AT(metrics)},
	{OPTION_TEXT, 0, "service", "NAME",
	 "the name by which the receiver sorts profiles\n(default: the container's, or the "
	 "program's)",
	 AT(service)},
	{OPTION_TEXT, 0, "label", "NAME=VALUE,...", "labels of all profiles", AT(labels)},
	{OPTION_HEADING, 0, NULL, NULL, "What waits to be sent", 0},
	{OPTION_TEXT, 0, "queue", "FOLDER",
	 "keep it in files in FOLDER; the next run sends them\n(default: in memory)", AT(queue)},
	{OPTION_TEXT, 0, "queue-size", "SIZE",
	 "drop the oldest beyond SIZE (default 256M in FOLDER,\n16M in memory)", AT(queue_size)},
	{OPTION_TIME, 0, "final-wait", "TIME", "at the end, continue to send for TIME (default 5s)",
	 AT(final_wait)},
	{},
};

static const struct option_usage usage = {
	.command = "push",
	.summary =
		"Sends profiles of GPU time by call stack and kernel to Pyroscope, Parca or OTLP.",
	.synopsis = (const char *const[]){"--url URL [OPTIONS] -a|-p PID|-c NAME|-u USER|...",
					  "--url URL [OPTIONS] [--] PROGRAM [ARGUMENTS]", NULL},
	.tables = (const struct option_row *const[]){options_targets, receiver_rows, rows,
						     options_output, options_limits, NULL},
	.examples = "  cuda-trace push -a --url http://pyroscope:4040\n"
		    "  cuda-trace push -a --url https://parca:7070 --format parca --ca ca.pem\n"
		    "  cuda-trace push -a --url http://collector:4318 --format otlp\n"
		    "  cuda-trace push -a --url http://pyroscope:4040 --queue "
		    "/var/tmp/push\n",
};

struct push {
	struct push_options options;
	enum push_format format;
	char *url; /* of the receiver, without the path of the format */
	const char *path;
	struct push_common_labels labels;
	struct push_sender_options sender_options;
	struct push_sender *sender;
	struct push_profile *profile;
	struct push_encoder *encoder;
	struct push_metrics *metrics; /* NULL = none are sent */
	struct sample bursts;
	uint32_t period;
	uint64_t began, next; /* of the interval: ns since 1970; ns */
	FILE *output;
	bool remedy_said, note_said;
};

static void on_process_start(void *context, struct process *process)
{
	struct push *push = context;

	push_profile__start(push->profile, process);
	push_metrics__start(push->metrics, process);
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct push *push = context;

	push_profile__record(push->profile, process, record);
	push_metrics__record(push->metrics, process, record);
}

static void on_stack(void *context, struct process *process, const struct event *event)
{
	struct push *push = context;

	push_profile__stack(push->profile, process, event);
}

static void on_process_end(void *context, struct process *process)
{
	struct push *push = context;

	push_metrics__end(push->metrics, process);
	push_profile__end(push->profile, process);
}

static void on_error(void *context, struct process *process, int code, const char *component,
		     const char *message)
{
	struct push *push = context;

	losses__say_error(context, process, code, component, message);
	if (push->options.pc)
		pc_remedy__say(code, &push->remedy_said);
}

static void put_item(void *context, struct push_item *item)
{
	struct push *push = context;

	push_sender__add(push->sender, item);
}

static int on_start(void *context, FILE *output)
{
	struct push *push = context;
	const struct push_encoder_options encoder = {
		.format = push->format,
		.path = push->path,
		.labels = &push->labels,
		.put = put_item,
		.context = push,
	};

	push->output = output;
	push->profile =
		push_profile__new(push->period, push->format == PUSH_OTLP, push->options.pc);
	push->encoder = push_encoder__new(&encoder);
	if (push->options.metrics)
		push->metrics = push_metrics__new(realtime__ns());
	if (!push->profile || !push->encoder || (push->options.metrics && !push->metrics))
		return EXIT_TROUBLE;
	push->sender = push_sender__open(&push->sender_options);
	return push->sender ? EXIT_OK : EXIT_TROUBLE;
}

static void on_attached(void *context, struct session *session)
{
	struct push *push = context;

	if (push->period)
		session__set_stack_period(session, push->period);
	push->began = realtime__ns();
	push->next = monotonic__ns() + push->options.interval;
	notify__send("READY=1");
}

/* A profile that does not fit into memory is in the counts of the end; the others go on. */
static int add_profile(void *context, const struct push_source *source, struct stacks *stacks)
{
	struct push *push = context;

	push_metrics__add(push->metrics, source, stacks, push->began);
	push_encoder__add(push->encoder, source, stacks);
	return 0;
}

/* The counts of the end come late in a run of weeks. */
static void say_note(struct push *push)
{
	struct push_stall_counts counts;
	const char *note;

	push_profile__count_samples(push->profile, &counts);
	note = push->note_said ? NULL : push_report__note(&counts);
	if (!note)
		return;
	push->note_said = true;
	fprintf(stderr, "cuda-trace push: %s\n", note);
}

static void end_interval(struct push *push)
{
	uint64_t now = realtime__ns();

	/* The clock may have been set back. */
	if (now < push->began)
		push->began = now;
	if (!push_encoder__begin(push->encoder, push->began, now)) {
		push_profile__take(push->profile, add_profile, push);
		push_encoder__end(push->encoder);
	}
	if (push->metrics && push->metrics->set.count) {
		push_encoder__metrics(push->encoder, push->metrics);
		push_metrics__next(push->metrics);
	}
	push->began = now;
}

static bool on_tick(void *context, struct session *session)
{
	struct push *push = context;
	uint64_t now = monotonic__ns();

	notify__send("WATCHDOG=1");
	if (now < push->next)
		return false;
	end_interval(push);
	say_note(push);
	push->next += push->options.interval;
	/* Not several at once after a time in which the machine slept. */
	if (push->next < now)
		push->next = now + push->options.interval;
	return false;
}

static void on_finish(void *context, struct session *session)
{
	struct push *push = context;
	struct push_profile_counts seen;
	struct push_stall_counts stalls;
	struct callstacks_counts stacks;
	struct session_lost_counts lost;
	struct push_counts counts;
	const struct push_report report = {
		.counts = &counts,
		.seen = &seen,
		.stalls = &stalls,
		.stacks = &stacks,
		.lost = &lost,
		.format = push->options.format,
		.period = push->period,
		.samples = push->options.pc,
	};

	notify__send("STOPPING=1");
	end_interval(push);
	push_sender__close(push->sender, push->options.final_wait / NS_PER_MS, &counts);
	push->sender = NULL;
	push_profile__count(push->profile, &seen, &stacks);
	push_profile__count_samples(push->profile, &stalls);
	session__lost(session, &lost);
	(push->options.shared.json ? push_report__json : push_report__text)(push->output, &report);
}

static int check_queue(struct push *push)
{
	const struct push_options *options = &push->options;
	uint64_t size = options->queue ? DEFAULT_DISK_QUEUE : DEFAULT_MEMORY_QUEUE;

	if (options->queue_size) {
		size = size_text__parse(options->queue_size);
		if (!size)
			return options__misuse(&usage, "--queue-size wants a size like 100M or 2G");
		if (!options->queue && size > DEFAULT_MEMORY_QUEUE)
			return options__misuse(&usage,
					       "--queue-size: at most 16M without --queue FOLDER");
	}
	push->sender_options.queue_size = size;
	push->sender_options.queue = options->queue;
	return EXIT_OK;
}

static int check_receiver(struct push *push)
{
	const struct push_options *options = &push->options;
	const char *wrong;

	if (!options->url)
		return options__misuse(&usage, "--url names the receiver: it is missing");
	wrong = push_url__split(options->url, &push->url, &push->path);
	if (wrong)
		return options__misuse(&usage, "--url: %s", wrong);
	push->sender_options.transport = (struct push_transport_options){
		.url = push->url,
		.token_file = options->token_file,
		.header = options->header,
		.ca_file = options->ca,
		.timeout_ms = options->timeout / NS_PER_MS,
	};
	push->sender_options.verbose = options->shared.verbose;
	return EXIT_OK;
}

/* CUPTI does not trace kernels in a process that it samples. */
static int check_pc(struct push *push)
{
	const struct push_options *options = &push->options;

	if (!options->pc)
		return options->bursts ? options__misuse(&usage, "--bursts goes with --pc")
				       : EXIT_OK;
	if (options->metrics)
		return options__misuse(&usage, "either --pc or --metrics: kernels that are sampled "
					       "have no times");
	return sample_options__parse_cycle(&usage, "--bursts",
					   options->bursts ? options->bursts : PC_DEFAULT_BURSTS,
					   &push->bursts);
}

static uint32_t groups_of(const struct push *push)
{
	uint32_t groups = 1u << (push->options.pc ? CUDA_GROUP_PC_SAMPLES : CUDA_GROUP_KERNEL);

	/* Which kernel a stack's launch was of. */
	if (push->options.pc)
		return push->period ? groups | 1u << CUDA_GROUP_LAUNCH : groups;
	/* The stack of a kernel in a graph is that of its node's creation. Records of launches are
	 * not needed: a stack has its launch's correlation id. */
	if (push->period)
		groups |= 1u << CUDA_GROUP_GRAPH_NODES;
	if (push->options.metrics)
		groups |= 1u << CUDA_GROUP_DEVICE;
	return groups;
}

static int check(struct push *push)
{
	struct push_options *options = &push->options;
	int status = check_receiver(push);

	if (status)
		return status;
	push->format = push_encoder__parse(options->format);
	if (push->format == PUSH_OTLP)
		push->sender_options.rejected = push_otlp__rejected;
	if (options->metrics && (push->format != PUSH_OTLP || push->path))
		return options__misuse(&usage, "--metrics goes with --format otlp and a --url "
					       "without a path");
	if (options->interval < MIN_INTERVAL)
		return options__misuse(&usage, "--interval: at least 100ms");
	if (options->stacks && strcmp(options->stacks, "0")) {
		push->period = stack_rate__parse(options->stacks);
		if (!push->period)
			return options__misuse(&usage, "-g takes 0, 1, 10, 100, 1000 or 10000");
	}
	push->labels.service = options->service;
	if (!push_labels__parse(&push->labels, options->labels))
		return options__misuse(&usage, "--label wants NAME=VALUE,...; names have letters, "
					       "digits and _");
	status = check_queue(push);
	return status ? status : check_pc(push);
}

int cmd_push(int argc, char **argv)
{
	struct push push = {
		.options =
			{
				.shared = OPTIONS_INIT,
				.format = "pprof",
				.stacks = "100",
				.interval = DEFAULT_INTERVAL,
				.timeout = DEFAULT_TIMEOUT,
				.final_wait = DEFAULT_FINAL_WAIT,
			},
	};
	const struct sink sink = {
		.context = &push,
		.process_start = on_process_start,
		.record = on_record,
		.stack = on_stack,
		.process_end = on_process_end,
		.process_error = on_error,
	};
	struct watch watch = {
		.command = "push",
		.options = &push.options.shared,
		.sink = &sink,
		.context = &push,
		.start = on_start,
		.attached = on_attached,
		.tick = on_tick,
		.finish = on_finish,
	};
	int status;
	struct push_counts unused;

	if (!options__parse_with_targets(&usage, &push.options.shared, argc, argv, &status))
		return status;
	status = check(&push);
	if (status)
		return status;
	watch.groups = groups_of(&push);
	watch.sample = push.bursts;
	watch.stacks = push.period != 0;
	watch.stacks_copied = push.period && stack_options__unwinds(push.options.call_graph);
	status = watch__run(&watch);
	push_sender__close(push.sender, 0, &unused);
	push_encoder__free(push.encoder);
	push_profile__free(push.profile);
	push_metrics__free(push.metrics);
	free(push.url);
	return status;
}
