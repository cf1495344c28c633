// SPDX-License-Identifier: BSD-2-Clause
/* The sums are those of stat, to which the recording is played. */
#include "cuda-trace/commands/report_summary.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/pattern.h"
#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/commands/report_energy.h"
#include "cuda-trace/report/report_collectives.h"
#include "cuda-trace/report/report_idle.h"
#include "cuda-trace/report/report_records.h"
#include "cuda-trace/stat/stat_report.h"
#include "cuda-trace/stat/stat_sections.h"

struct summary {
	struct stat_table table;
	struct report_idle *idle;     /* NULL = there are no thread states */
	struct report_energy *energy; /* NULL = no meters were read */
};

static void on_process_start(void *context, struct process *process)
{
	stat_table__start(&((struct summary *)context)->table, process);
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct summary *summary = context;

	report_energy__record(summary->energy, record);
	stat_table__record(&summary->table, process, record);
	report_idle__record(summary->idle, process, record);
}

static void on_collective(void *context, struct process *process,
			  const struct event_collective *call, const struct recorded_kernel *kernel)
{
	stat_table__collective(&((struct summary *)context)->table, process, call, kernel);
}

static void on_waited(void *context, const struct collective_wait *wait)
{
	report_idle__waited(((struct summary *)context)->idle, wait);
}

static void on_process_end(void *context, struct process *process)
{
	struct summary *summary = context;

	stat_table__end(&summary->table, process);
	report_idle__end(summary->idle, process);
}

/* What was lost after it had arrived: stat does not know of that. */
static int report_store_losses(const struct report_file *file, enum report_format format, FILE *out)
{
	static const char sql[] = "SELECT count AS lost, stage, reason, text AS meaning FROM "
				  "CUDA_TRACE_LOST WHERE stage = 'store'";
	sqlite3_stmt *statement = NULL;
	int err = 0;

	if (report_file__number(file, "SELECT count(*) FROM CUDA_TRACE_LOST WHERE stage = 'store'",
				0) < 1)
		return 0;
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL) ||
	    report_output__write(out, format, "losses", "\nLost by the recorder", statement) < 0)
		err = report_file__complain(file);
	sqlite3_finalize(statement);
	return err;
}

/* What the recording says of how it was made; to be freed, NULL = nothing. */
static char *capture_of(const struct report_file *file, const char *name)
{
	sqlite3_stmt *statement = NULL;
	char *value = NULL;

	if (report_file__has(file, "META_DATA_CAPTURE", "value") &&
	    !sqlite3_prepare_v2(file->db, "SELECT value FROM META_DATA_CAPTURE WHERE name = ?", -1,
				&statement, NULL) &&
	    !sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) &&
	    sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
		value = strdup((const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return value;
}

/* An MPS server ran when it was made. */
static bool ran_mps(void)
{
	return true;
}

/* What is written of the summary. */
enum section { ALL, IDLE, ENERGY };

/* As a row of a table, where the others have one. */
static void write_section(FILE *out, const struct stat_report *report, enum report_format format,
			  enum section section)
{
	struct sheet sheet = {.file = out, .json = format == REPORT_JSON, .plain = true};

	sheet__open(&sheet, NULL, '{');
	sheet__put(&sheet, "table", cell_text(section == IDLE ? "idle_causes" : "energy"));
	(section == IDLE ? stat_sections__idle : stat_sections__energy)(&sheet, report);
	sheet__close(&sheet);
}

static int write_summary(const struct report_file *file, enum report_format format, uint64_t most,
			 FILE *out, enum section section)
{
	struct summary summary = {};
	struct pattern *pattern = pattern__new(NULL);
	struct session_lost_counts lost;
	const struct sink sink = {
		.context = &summary,
		.process_start = on_process_start,
		.record = on_record,
		.collective = on_collective,
		.process_end = on_process_end,
	};
	struct stat_report report = {
		.table = &summary.table,
		.lost = &lost,
		.duration_ns = report_records__duration(file),
		.first_record_ns = report_file__number(
			file, "SELECT min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL", -1),
		.most_kernels = most,
	};
	char *windows = NULL, *trigger = NULL, *condition = NULL, *mps = NULL;
	int err = -ENOMEM;

	if (!pattern || stat_table__init(&summary.table, pattern, 0))
		goto cleanup;
	report.recorded_windows = windows = capture_of(file, "WINDOWS");
	report.trigger = trigger = capture_of(file, "TRIGGER");
	report.trigger_condition = condition = capture_of(file, "TRIGGER_CONDITION");
	mps = capture_of(file, "MPS");
	if (mps)
		stat_time__set_mps(summary.table.timeline, ran_mps);
	/* Times, kernels and copies are estimated from those of the windows. */
	summary.table.sampled = summary.table.copies_sampled = report_file__is_sample(file);
	summary.table.ranges_reported = report_file__any(file, "NVTX_EVENTS") > 0;
	stat_table__set_past(&summary.table);
	summary.table.collectives_reported = report_collectives__recorded(file);
	err = report_idle__open(&summary.idle, file);
	if (!err)
		err = report_energy__open(&summary.energy, file);
	if (err)
		goto free_table;
	if (summary.energy)
		stat_table__measure(&summary.table, report_energy__sums(summary.energy));
	if (summary.idle)
		summary.table.comms.waited = on_waited;
	summary.table.comms.context = &summary;
	report.idle_wanted = summary.idle != NULL;
	report.idle_unknown = report_idle__unknown(file);
	report_records__lost(file, &lost);
	err = report_records__run(file, &sink);
	if (!err)
		report.idle = report_idle__finish(summary.idle);
	/* First, as it says when GPUs were busy. */
	if (!err)
		stat_table__sort(&summary.table);
	if (!err)
		report.energy = report_energy__finish(summary.energy);
	report.failed_readings = report_energy__failed(summary.energy);
	if (!err && section != ALL) {
		write_section(out, &report, format, section);
	} else if (!err) {
		(format == REPORT_JSON ? stat_report__json : stat_report__text)(out, &report);
		err = report_store_losses(file, format, out);
	}
free_table:
	if (report_idle__close(summary.idle) && !err)
		err = -EIO;
	if (report_energy__close(summary.energy) && !err)
		err = -EIO;
	stat_table__free(&summary.table);
	free(windows);
	free(trigger);
	free(condition);
	free(mps);
cleanup:
	pattern__free(pattern);
	return err;
}

int report_summary__idle(const struct report_file *file, enum report_format format, FILE *out)
{
	/* Sums by cause are no rows of one table. */
	if (format == REPORT_CSV || (!report_idle__any(file) && !report_idle__unknown(file)))
		return 0;
	return write_summary(file, format, 0, out, IDLE);
}

int report_summary__energy(const struct report_file *file, enum report_format format, uint64_t most,
			   FILE *out)
{
	if (!report_energy__any(file)) {
		fprintf(stderr, "cuda-trace report: no energy: the recording was not made with "
				"record --energy, or there was no meter\n");
		return 0;
	}
	return write_summary(file, format, most, out, ENERGY);
}

int report_summary__write(const struct report_file *file, enum report_format format, uint64_t most,
			  FILE *out)
{
	return write_summary(file, format, most, out, ALL);
}
