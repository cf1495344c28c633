// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: in which windows it collected, where that was not all the time, and what for.
 */
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/windows_section.h"
#include "cuda-trace/stat/stat_sections.h"

/* When the windows were is not in the recording. */
static void put_recorded(struct sheet *sheet, const char *options)
{
	char shown[600];

	sheet__open(sheet, "collected", '{');
	sheet__put(sheet, "options", cell_text(options));
	sheet__say(sheet,
		   "Recorded only with %s: shares of time include the time between windows\n",
		   text__show(shown, sizeof(shown), options, 140));
	sheet__close(sheet);
}

static void put_trigger(struct sheet *sheet, const struct stat_report *report)
{
	char shown[600];

	sheet__open(sheet, "trigger", '{');
	sheet__put(sheet, "condition", cell_text(report->trigger_condition));
	sheet__put(sheet, "text", cell_text(report->trigger));
	sheet__say(sheet, "Recorded because %s\n",
		   text__show(shown, sizeof(shown), report->trigger, 280));
	sheet__close(sheet);
}

void stat_sections__windows(struct sheet *sheet, const struct stat_report *report)
{
	if (report->trigger && report->trigger_condition)
		put_trigger(sheet, report);
	if (report->recorded_windows) {
		put_recorded(sheet, report->recorded_windows);
		return;
	}
	windows_section__put(sheet, report->windows, report->collected, false);
}
