// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat --idle`: why the GPU was idle, with a change that would help.
 */
#include <stdio.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/idle/idle.h"
#include "cuda-trace/stat/stat_sections.h"

#define PLACES_OF_TEXT 3
#define WORTH	       20 /* advice: one part in so many of all time, */
#define WORTH_IDLE     10 /* and of the idle time */
#define ENOUGH	       30 /* gaps of a sample: fewer may be chance */

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
		return "hold the lock for a shorter time, or not during slow operations";
	case IDLE_GIL_WAIT:
		return "move the work of the thread that holds it to another process, or to code "
		       "that releases the GIL";
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
	case IDLE_COLLECTIVE:
		return "give that rank less to do; its own causes say what it did meanwhile";
	default:
		return NULL;
	}
}

static bool is_worth_it(const struct idle_sums *idle, const struct idle_cause_sum *sum)
{
	return (!idle->sampled || idle->gaps >= ENOUGH) && sum->ns * WORTH >= idle->observed_ns &&
	       sum->ns * WORTH_IDLE >= idle->idle_ns && change_for(sum);
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

static void put_missing(struct sheet *sheet, const struct idle_sums *idle)
{
	char count[32];

	sheet__put(sheet, "reduced", cell_text(idle->reduced));
	sheet__put(sheet, "lost", cell_number(idle->lost));
	sheet__put(sheet, "left_out", cell_number(idle->left_out));
	sheet__put(sheet, "late", cell_number(idle->late));
	if (idle->reduced)
		sheet__say(sheet, " reduced: %s\n", idle->reduced);
	if (idle->lost)
		sheet__say(sheet,
			   " reduced: %s waits were lost; idle time outside of CUDA calls in them "
			   "is unexplained\n",
			   text__count(count, idle->lost));
	if (idle->left_out)
		sheet__say(sheet, " reduced: %s threads or records did not fit\n",
			   text__count(count, idle->left_out));
	if (idle->late)
		sheet__say(sheet, " %s operations arrived too late to be placed\n",
			   text__count(count, idle->late));
}

static void put_place(struct sheet *sheet, const struct idle_place_sum *place, bool shown)
{
	char time[16], text[IDLE_PLACE_LEN * 2];

	sheet__open(sheet, NULL, '{');
	sheet__put(sheet, "place", cell_text(place->text));
	sheet__put(sheet, "ns", cell_number(place->ns));
	sheet__put(sheet, "gaps", cell_number(place->gaps));
	sheet__close(sheet);
	if (shown && *place->text)
		sheet__say(sheet, "   %-42s %8s\n",
			   text__show(text, sizeof(text), place->text, 100),
			   text__ns(time, place->ns));
}

static void put_cause(struct sheet *sheet, const struct idle_sums *idle,
		      const struct idle_cause_sum *sum)
{
	double share = (double)sum->ns / idle->idle_ns;
	char time[16], count[32], advice[512] = "";

	sheet__say(sheet, " %-44s %8s %5.1f%% %11s\n", idle_cause_texts[sum->cause],
		   text__ns(time, sum->ns), 100.0 * sum->ns / idle->idle_ns,
		   text__count(count, sum->gaps));
	sheet__open(sheet, NULL, '{');
	sheet__put(sheet, "cause", cell_text(idle_cause_keys[sum->cause]));
	sheet__put(sheet, "ns", cell_number(sum->ns));
	sheet__put(sheet, "share", cell_share(share));
	sheet__put(sheet, "path_ns", cell_number(sum->path_ns));
	sheet__put(sheet, "gaps", cell_number(sum->gaps));
	sheet__open(sheet, "places", '[');
	for (uint32_t i = 0; i < sum->place_count; i++)
		put_place(sheet, &sum->places[i], i < PLACES_OF_TEXT);
	sheet__close(sheet);
	if (is_worth_it(idle, sum))
		write_advice(advice, idle, sum);
	sheet__put(sheet, "advice", cell_if(*advice, cell_text(advice)));
	sheet__close(sheet);
}

static void say_title(struct sheet *sheet, const struct idle_sums *idle)
{
	char time[16], whole[16];

	sheet__say(sheet, "\nWhy the GPU was idle (%s, %.1f%% of the %stime)\n",
		   text__ns(time, idle->idle_ns), 100.0 * idle->idle_ns / idle->observed_ns,
		   idle->sampled ? "observed " : "");
	if (idle->sampled)
		sheet__say(sheet,
			   " a sample: %s of %s were observed (%.2f%%), and nothing is said of the "
			   "rest\n",
			   text__ns(time, idle->observed_ns), text__ns(whole, idle->whole_ns),
			   100.0 * idle->observed_ns / idle->whole_ns);
}

static void say_cost(struct sheet *sheet, const struct idle_sums *idle)
{
	char time[16];

	if (idle->overhead >= 0)
		sheet__say(sheet, " scheduler events cost %.2g%% of the time%s%s\n",
			   100 * idle->overhead,
			   idle->stopped_ns ? ", too much: switched off after " : "",
			   idle->stopped_ns ? text__ns(time, idle->stopped_ns) : "");
}

static void put_idle(struct sheet *sheet, const struct idle_sums *idle)
{
	char advice[512];
	bool first = true;

	sheet__open(sheet, "idle", '{');
	sheet__put(sheet, "window_ns", cell_number(idle->window_ns));
	sheet__put(sheet, "whole_ns", cell_number(idle->whole_ns));
	sheet__put(sheet, "sampled", cell_bool(idle->sampled));
	sheet__put(sheet, "observed_ns", cell_number(idle->observed_ns));
	sheet__put(sheet, "overhead", cell_if(idle->overhead >= 0, cell_real(idle->overhead)));
	sheet__put(sheet, "stopped_ns", cell_if(idle->stopped_ns, cell_number(idle->stopped_ns)));
	sheet__put(sheet, "idle_ns", cell_number(idle->idle_ns));
	sheet__put(sheet, "gaps", cell_number(idle->gaps));
	say_title(sheet, idle);
	say_cost(sheet, idle);
	sheet__say(sheet, " %-44s %8s %6s %11s\n", "CAUSE", "TIME", "SHARE", "GAPS");
	sheet__open(sheet, "causes", '[');
	for (uint32_t i = 0; i < idle->count; i++)
		put_cause(sheet, idle, &idle->causes[i]);
	sheet__close(sheet);
	put_missing(sheet, idle);
	sheet__close(sheet);
	for (uint32_t i = 0; i < idle->count; i++) {
		if (!is_worth_it(idle, &idle->causes[i]))
			continue;
		write_advice(advice, idle, &idle->causes[i]);
		sheet__say(sheet, "%s%s\n", first ? "\n" : "", advice);
		first = false;
	}
}

/* Why there are no causes, though they were wanted or recorded; NULL = there are. */
static const char *unknown(const struct stat_report *report)
{
	if (report->idle_unknown || !report->idle_wanted)
		return report->idle_unknown;
	if (report->table->time.killed)
		return "a process was killed, and the records of its last kernels are lost";
	if (!stat_sections__idle_is_known(report))
		return "work was not seen (lost)";
	if (report->idle && report->idle->sampled && !report->idle->observed_ns)
		return "in no window was it known that all earlier work was over";
	if (!report->idle && report->table->sampled)
		return "no kernel of a window was seen";
	return report->idle || !report->table->process_count ? NULL : "there are no GPU times";
}

void stat_sections__idle(struct sheet *sheet, const struct stat_report *report)
{
	const struct idle_sums *idle = report->idle;
	const char *why = unknown(report);

	sheet__put(sheet, "idle_unknown", cell_if(why, cell_text(why)));
	if (!idle || !idle->observed_ns || !stat_sections__idle_is_known(report))
		sheet__put(sheet, "idle", cell_none);
	else if (sheet->json || (report->idle_wanted && idle->idle_ns))
		put_idle(sheet, idle);
	if (why)
		sheet__say(sheet, "\nWhy the GPU was idle: not known, as %s\n", why);
}
