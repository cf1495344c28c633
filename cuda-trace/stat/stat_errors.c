// SPDX-License-Identifier: BSD-2-Clause
/*
 * A failure may be reported by several records: of the launch, of its family, of a wait, and by a
 * driver call and the runtime call that made it. It counts once, under the outermost call. What can
 * go wrong: 1. records of two groups come in batches of their own, in any order, so each failure is
 * remembered for a while by its correlation, which a runtime call shares with what it made. 2. more
 * failures at a time than are remembered (RECENT) would count twice: only with --runtime or --api
 * and without --errors, whose records come in order. 3. a number that comes again (they wrap; the
 * driver source has none): the times must fit, too. The tool's one thread.
 */
#include "cuda-trace/stat/stat_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/call_arguments.h"
#include "cuda-trace/base/result_names.h"
#include "cuda-trace/base/api_names.h"

#define RECENT 1024
#define OTHERS (STAT_MAX_ERRORS - 1)

struct stat_failure {
	uint32_t correlation;
	uint32_t tid; /* 0 = a wait's, which does not say */
	struct report {
		uint64_t start; /* ns, 0 = there is none */
		uint64_t end;
		uint32_t line;
		bool counted;
	} driver, runtime;
	bool wait;  /* driver: only the wait reported it */
	bool alone; /* runtime: a launch, and nothing failed inside */
};

static bool make_lines(struct stat_errors *errors)
{
	if (!errors->lines)
		errors->lines = calloc(STAT_MAX_ERRORS, sizeof(*errors->lines));
	return errors->lines;
}

/* NULL: no memory. */
static struct stat_error *line_of(struct stat_errors *errors, const struct stat_error *key)
{
	struct stat_error *line = NULL;

	if (!make_lines(errors))
		return NULL;
	for (uint32_t i = 0; i < OTHERS; i++) {
		struct stat_error *at = &errors->lines[i];

		if (!at->count)
			line = line ? line : at;
		else if (at->name == key->name && at->result == key->result &&
			 at->domain == key->domain && !strcmp(at->text, key->text))
			return at;
	}
	if (!line) {
		strcpy(errors->lines[OTHERS].text, "[other calls]");
		return &errors->lines[OTHERS];
	}
	*line = *key;
	line->count = 0;
	return line;
}

static struct stat_failure *failure_of(struct stat_errors *errors, const struct cuda_api *call)
{
	uint32_t correlation = call->head.correlation;
	struct stat_failure *failure;

	/* Of a launch that the driver source reports at the entry it has no start; each comes once.
	 */
	if (!call->start)
		return NULL;
	if (!errors->recent)
		errors->recent = calloc(RECENT, sizeof(*errors->recent));
	if (!errors->recent)
		return NULL;
	failure = &errors->recent[correlation % RECENT];
	if (failure->correlation != correlation ||
	    !(failure->driver.start | failure->runtime.start) ||
	    (failure->tid != call->tid && !(correlation && (!failure->tid || !call->tid))))
		*failure = (struct stat_failure){.correlation = correlation};
	if (call->tid)
		failure->tid = call->tid;
	return failure;
}

static void uncount(struct stat_errors *errors, struct report *report)
{
	if (!report->counted)
		return;
	report->counted = false;
	errors->lines[report->line].count--;
	errors->total--;
}

static bool is_within(const struct report *inner, const struct report *outer)
{
	return inner->start && outer->start && inner->start >= outer->start &&
	       inner->end <= outer->end;
}

/* Whether it counts: it was not reported before, by itself or by the call around it. */
static bool is_news_of_driver(struct stat_errors *errors, struct stat_failure *failure,
			      const struct report *now, bool wait)
{
	if (failure->driver.start == now->start || (wait && failure->tid))
		return false;
	if (failure->wait)
		uncount(errors, &failure->driver);
	failure->wait = wait;
	failure->driver = *now;
	if (!is_within(now, &failure->runtime))
		return true;
	errors->runtime_launches -= failure->alone;
	failure->alone = false;
	return false;
}

static bool is_news_of_runtime(struct stat_errors *errors, struct stat_failure *failure,
			       const struct report *now, bool launch)
{
	if (failure->runtime.start == now->start)
		return false;
	failure->runtime = *now;
	if (failure->wait || is_within(&failure->driver, now)) {
		uncount(errors, &failure->driver);
		return true;
	}
	failure->alone = launch;
	errors->runtime_launches += launch;
	return true;
}

/* key: by what name and result it goes */
static void fail(struct stat_errors *errors, const struct cuda_api *call,
		 const struct stat_error *key)
{
	bool runtime = call->domain == CUDA_DOMAIN_RUNTIME;
	struct stat_failure *failure = failure_of(errors, call);
	const struct report now = {.start = call->start, .end = call->end};
	struct stat_error *line;

	if (failure && !(runtime ? is_news_of_runtime(errors, failure, &now,
						      call->group == CUDA_GROUP_API_LAUNCH)
				 : is_news_of_driver(errors, failure, &now, !call->tid)))
		return;
	line = line_of(errors, key);
	if (!line)
		return;
	line->count++;
	if (line != &errors->lines[OTHERS])
		line->last = *call;
	errors->total++;
	if (failure) {
		struct report *report = runtime ? &failure->runtime : &failure->driver;

		report->line = line - errors->lines;
		report->counted = true;
	}
}

void stat_errors__call(struct stat_errors *errors, const struct process *process,
		       const struct cuda_api *call)
{
	const struct stat_error key = {
		.name = call->name, .domain = call->domain, .result = call->result};

	if (result_names__is_failure(call->domain, call->result,
				     process__name(process, call->name)))
		fail(errors, call, &key);
}

/* Calls of the runtime without the version that only recordings have in their names. */
static void name_launch(char *out, size_t size, const struct cuda_launch *launch)
{
	char *version;

	store__call_name(out, size, launch->domain, launch->cbid);
	version = strstr(out, "_v");
	if (version && launch->domain == CUDA_DOMAIN_RUNTIME)
		*version = 0;
}

void stat_errors__launch(struct stat_errors *errors, const struct cuda_launch *launch)
{
	struct cuda_api call = {
		.head = launch->head,
		.start = launch->start,
		.end = launch->end,
		.tid = launch->tid,
		.domain = launch->domain,
		.group = CUDA_GROUP_API_LAUNCH,
	};
	struct stat_error key = {.domain = launch->domain, .result = launch->result};

	if (!result_names__is_failure(launch->domain, launch->result, NULL))
		return;
	call_arguments__of_launch(&call, launch);
	name_launch(key.text, sizeof(key.text), launch);
	fail(errors, &call, &key);
}

/* CUPTI says what was waited for, and not by which call. */
void stat_errors__wait(struct stat_errors *errors, const struct cuda_sync *sync)
{
	static const char *const names[] = {"[wait]", "[wait for an event]",
					    "[stream waits for an event]", "[wait for a stream]",
					    "[wait for a context]"};
	const struct cuda_api call = {
		.head = sync->head,
		.start = sync->start,
		.end = sync->end,
		.domain = CUDA_DOMAIN_DRIVER,
	};
	struct stat_error key = {.domain = CUDA_DOMAIN_DRIVER, .result = sync->result};

	if (!result_names__is_failure(CUDA_DOMAIN_DRIVER, sync->result, NULL))
		return;
	strcpy(key.text, names[sync->type < sizeof(names) / sizeof(names[0]) ? sync->type : 0]);
	fail(errors, &call, &key);
}

/* Names are the process's own, and it is about to go. */
static void add_line(struct stat_error *sum, const struct stat_error *of, struct process *process)
{
	uint32_t kernel = of->last.flags & CUDA_API_LAUNCH ? of->last.arguments.launch.kernel : 0;

	if (!sum)
		return;
	sum->count += of->count;
	if (!sum->result || sum->last.start > of->last.start)
		return;
	sum->last = of->last;
	snprintf(sum->kernel, sizeof(sum->kernel), "%s", process__pretty_name(process, kernel));
}

const struct stat_error *stat_errors__next(const struct stat_errors *errors, uint32_t *at)
{
	while (errors->lines && *at < STAT_MAX_ERRORS) {
		const struct stat_error *error = &errors->lines[(*at)++];

		if (error->count)
			return error;
	}
	return NULL;
}

void stat_errors__merge(struct stat_errors *sum, struct stat_errors *of, struct process *process)
{
	const struct stat_error *error;

	for (uint32_t i = 0; (error = stat_errors__next(of, &i)) && make_lines(sum);) {
		struct stat_error key = {.domain = error->domain, .result = error->result};
		const char *name = *error->text ? error->text : process__name(process, error->name);

		snprintf(key.text, sizeof(key.text), "%s", name ? name : "[unknown call]");
		if (error == &of->lines[OTHERS])
			sum->lines[OTHERS] = (struct stat_error){
				.text = "[other calls]",
				.count = sum->lines[OTHERS].count + error->count,
			};
		else
			add_line(line_of(sum, &key), error, process);
	}
	sum->total += of->total;
	sum->runtime_launches += of->runtime_launches;
	free(of->lines);
	free(of->recent);
	of->lines = NULL;
	of->recent = NULL;
}

const char *stat_errors__result(const struct stat_error *error)
{
	const char *name = result_names__name(error->domain, error->result);

	if (!error->result)
		return "several";
	return name ? name : "unknown";
}
