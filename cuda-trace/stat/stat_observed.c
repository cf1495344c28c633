// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own; called at the end of `stat`. */
#include "cuda-trace/stat/stat_observed.h"

#include <time.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/observations.h"

static const struct unobserved *missed(const struct stat_report *report, uint32_t n)
{
	return report->session ? session__missed(report->session, n) : NULL;
}

bool stat_observed__all(const struct stat_report *report)
{
	const struct stat_table *table = report->table;

	for (uint32_t i = 0; i < table->process_count; i++)
		if (table->processes[i].observed_since)
			return false;
	return !missed(report, 0);
}

/* ns since 1970 of a time on the monotonic clock. */
static uint64_t wall_time(uint64_t monotonic)
{
	return realtime__ns() - (monotonic__ns() - monotonic);
}

static void put_clock(FILE *file, uint64_t monotonic)
{
	uint64_t ns = wall_time(monotonic);
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm local;
	char text[16];

	strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&seconds, &local));
	fprintf(file, "%s.%03u", text, (unsigned int)(ns / 1000000 % 1000));
}

struct cell stat_observed__since(const struct stat_process *process)
{
	return cell_if(process->observed_since, cell_number(wall_time(process->observed_since)));
}

static void say_late(struct sheet *sheet, const struct stat_process *process)
{
	char comm[64];

	sheet__say(sheet, "process %u (%s): observed since ", process->pid,
		   text__show(comm, sizeof(comm), process->comm, 0));
	put_clock(sheet->file, process->observed_since);
	sheet__say(sheet, "; earlier calls are not counted\n");
}

static void put_missed(struct sheet *sheet, const struct unobserved *process)
{
	char comm[64];

	if (!sheet__row(sheet, NULL))
		return;
	sheet__put(sheet, "pid", cell_number(process->pid));
	sheet__put(sheet, "process", cell_text(process->comm));
	sheet__put(sheet, "reason", cell_text(observations__key(process->reason)));
	sheet__put(sheet, "since_ns", cell_number(wall_time(process->since)));
	sheet__close(sheet);
	/* watch__run() says so on stderr, as of every command. */
	if (process->reason != UNOBSERVED_STILL_RUNS)
		sheet__say(sheet, "process %u (%s): %s\n", process->pid,
			   *process->comm ? text__show(comm, sizeof(comm), process->comm, 0)
					  : "ended",
			   observations__text(process->reason));
}

void stat_observed__missed(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_table *table = report->table;
	const struct unobserved *process;
	uint64_t shown = 0;

	for (uint32_t i = 0; i < table->process_count && shown < report->most_kernels; i++) {
		if (sheet->json || !table->processes[i].observed_since)
			continue;
		say_late(sheet, &table->processes[i]);
		shown++;
	}
	sheet__begin(sheet, "missed", NULL, report->most_kernels);
	for (uint32_t i = 0; (process = missed(report, i)); i++)
		put_missed(sheet, process);
	sheet__end(sheet);
}
