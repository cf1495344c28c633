// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat --idle`: why the GPU was idle, as text and as JSON, with a change that would help.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/idle/idle.h"
#include "cuda-trace/stat/stat_json.h"
#include "cuda-trace/stat/stat_report.h"

#define PLACES_OF_TEXT 3
#define WORTH	       20 /* advice: one part in so many of all time, */
#define WORTH_IDLE     10 /* and of the idle time */

static const char *of_call(const char *call)
{
	if (strstr(call, "pageable"))
		return "use pinned memory and asynchronous copies";
	if (strstr(call, "Synchronize"))
		return "wait for the GPU less often: only where a result is used";
	if (strstr(call, "cpy"))
		return "copy asynchronously, in a stream of its own";
	if (strstr(call, "lloc") || strstr(call, "Free"))
		return "keep memory, or take it from a pool (cudaMallocAsync)";
	if (strstr(call, "Module") || strstr(call, "Library"))
		return "load modules before the work begins";
	return "call it less often, or before the work begins";
}

static const char *change_for(const struct idle_cause_sum *sum)
{
	switch (sum->cause) {
	case IDLE_CPU:
		return "make that code faster, or let another thread do it while the GPU works";
	case IDLE_PREEMPTED:
		return "give the program CPUs of its own (taskset, cpusets), or run fewer threads";
	case IDLE_LOCK:
		return "hold the lock for a shorter time, or not across what is slow";
	case IDLE_IO:
		return "read ahead in another thread, or keep the data in memory";
	case IDLE_PROCESS:
		return "use more workers, or let them work further ahead";
	case IDLE_CALL:
		return of_call(sum->place_count ? sum->places[0].text : "");
	case IDLE_LAUNCH:
		return "launch larger kernels, or use CUDA graphs";
	case IDLE_NO_WORK:
		return "the program had nothing to do: others could use the GPU meanwhile";
	case IDLE_SLEEP:
		return "wait for what is needed instead of sleeping";
	default:
		return NULL;
	}
}

static bool is_worth_it(const struct idle_sums *idle, const struct idle_cause_sum *sum)
{
	return sum->ns * WORTH >= idle->whole_ns && sum->ns * WORTH_IDLE >= idle->idle_ns &&
	       change_for(sum);
}

static void write_advice(char out[512], const struct idle_sums *idle,
			 const struct idle_cause_sum *sum)
{
	const char *place = sum->place_count ? sum->places[0].text : "";
	char shown[IDLE_PLACE_LEN * 2];

	snprintf(out, 512, "For %.0f%% of the idle time: %s%s%s%s; %s.",
		 100.0 * sum->ns / idle->idle_ns, idle_cause_texts[sum->cause], *place ? " (" : "",
		 text__show(shown, sizeof(shown), place, 120), *place ? ")" : "", change_for(sum));
}

static void put_missing(FILE *file, const struct idle_sums *idle)
{
	char count[32];

	if (idle->reduced)
		fprintf(file, " reduced: %s\n", idle->reduced);
	if (idle->lost)
		fprintf(file,
			" reduced: %s waits were lost; what was not in a CUDA call then is "
			"unexplained\n",
			text__count(count, idle->lost));
	if (idle->left_out)
		fprintf(file, " reduced: %s threads or records found no place\n",
			text__count(count, idle->left_out));
	if (idle->late)
		fprintf(file, " %s operations came too late to be placed\n",
			text__count(count, idle->late));
}

static void put_cause(FILE *file, const struct idle_sums *idle, const struct idle_cause_sum *sum)
{
	char time[16], count[32], shown[IDLE_PLACE_LEN * 2];

	fprintf(file, " %-44s %8s %5.1f%% %11s\n", idle_cause_texts[sum->cause],
		text__ns(time, sum->ns), 100.0 * sum->ns / idle->idle_ns,
		text__count(count, sum->gaps));
	for (uint32_t i = 0; i < sum->place_count && i < PLACES_OF_TEXT; i++)
		if (*sum->places[i].text)
			fprintf(file, "   %-42s %8s\n",
				text__show(shown, sizeof(shown), sum->places[i].text, 100),
				text__ns(time, sum->places[i].ns));
}

void stat_report__text_idle(FILE *file, const struct stat_report *report)
{
	const struct idle_sums *idle = report->idle;
	char time[16], advice[512];
	bool first = true;

	if (!report->idle_wanted || report->table->time.killed)
		return;
	if (!idle) {
		if (report->table->process_count)
			fprintf(file, "\nWhy the GPU was idle: not known, as there are no GPU "
				      "times\n");
		return;
	}
	if (!idle->idle_ns)
		return;
	fprintf(file, "\nWhy the GPU was idle (%s, %.1f%% of the time)\n",
		text__ns(time, idle->idle_ns), 100.0 * idle->idle_ns / idle->whole_ns);
	fprintf(file, " %-44s %8s %6s %11s\n", "CAUSE", "TIME", "SHARE", "GAPS");
	for (uint32_t i = 0; i < idle->count; i++)
		put_cause(file, idle, &idle->causes[i]);
	put_missing(file, idle);
	for (uint32_t i = 0; i < idle->count; i++) {
		if (!is_worth_it(idle, &idle->causes[i]))
			continue;
		write_advice(advice, idle, &idle->causes[i]);
		fprintf(file, "%s%s\n", first ? "\n" : "", advice);
		first = false;
	}
}

static void put_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static struct json_object *json_places(const struct idle_cause_sum *sum)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < sum->place_count; i++) {
		struct json_object *place = json_object_new_object();

		stat_json__put_text(place, "place", sum->places[i].text);
		put_number(place, "ns", sum->places[i].ns);
		put_number(place, "gaps", sum->places[i].gaps);
		json_object_array_add(array, place);
	}
	return array;
}

static struct json_object *json_cause(const struct idle_sums *idle,
				      const struct idle_cause_sum *sum)
{
	struct json_object *object = json_object_new_object();
	char advice[512];

	stat_json__put_text(object, "cause", idle_cause_keys[sum->cause]);
	put_number(object, "ns", sum->ns);
	json_object_object_add(object, "share", stat_json__double((double)sum->ns / idle->idle_ns));
	put_number(object, "path_ns", sum->path_ns);
	put_number(object, "gaps", sum->gaps);
	json_object_object_add(object, "places", json_places(sum));
	if (is_worth_it(idle, sum)) {
		write_advice(advice, idle, sum);
		stat_json__put_text(object, "advice", advice);
	} else {
		json_object_object_add(object, "advice", NULL);
	}
	return object;
}

struct json_object *stat_report__json_idle(const struct stat_report *report)
{
	const struct idle_sums *idle = report->idle;
	struct json_object *object, *causes;

	if (!idle || report->table->time.killed)
		return NULL;
	object = json_object_new_object();
	causes = json_object_new_array();
	put_number(object, "window_ns", idle->window_ns);
	put_number(object, "whole_ns", idle->whole_ns);
	put_number(object, "idle_ns", idle->idle_ns);
	put_number(object, "gaps", idle->gaps);
	for (uint32_t i = 0; i < idle->count; i++)
		json_object_array_add(causes, json_cause(idle, &idle->causes[i]));
	json_object_object_add(object, "causes", causes);
	if (idle->reduced)
		stat_json__put_text(object, "reduced", idle->reduced);
	else
		json_object_object_add(object, "reduced", NULL);
	put_number(object, "lost", idle->lost);
	put_number(object, "left_out", idle->left_out);
	put_number(object, "late", idle->late);
	return object;
}
