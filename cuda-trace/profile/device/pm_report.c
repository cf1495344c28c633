// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/device/pm_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/event_keys.h"
#include "cuda-trace/base/text.h"

#define HEADING_ROWS 25
#define LINE_PARTS   24

/* Five letters at most: "98.1", "100", "12.3G", "1.2k". */
static const char *figure(char out[16], double value, enum pm_unit unit)
{
	static const char prefixes[] = " kMGTPE";
	int step = 0;

	if (isnan(value) || isinf(value))
		return "-";
	if (unit == PM_RATIO) {
		snprintf(out, 16, "%.*f", value < 0.9995 ? 1 : 0, value * 100);
		return out;
	}
	while (fabs(value) >= 999.95 && prefixes[step + 1]) {
		value /= 1000;
		step++;
	}
	if (step)
		snprintf(out, 16, "%.*f%c", fabs(value) < 99.95 ? 1 : 0, value, prefixes[step]);
	else
		snprintf(out, 16, "%.*f", fabs(value) < 99.95 && value != floor(value) ? 1 : 0,
			 value);
	return out;
}

static bool is_there(const struct pm_device *device, size_t column)
{
	return device->started.chosen[column] >= 0;
}

static int width_of(const struct pm_column *column)
{
	return strlen(column->title) == 5 || column->unit != PM_RATIO ? 5 : 4;
}

/* A metric that was requested by name has no title: its number, which the summary explains. */
static void print_heading(const struct pm_report *report)
{
	fprintf(report->file, "SECONDS GPU");
	for (size_t i = 0; i < report->choice->count; i++) {
		const struct pm_column *column = &report->choice->columns[i];
		char number[24];

		snprintf(number, sizeof(number), "M%zu", i + 1);
		fprintf(report->file, " %*s", width_of(column) < 4 ? 4 : width_of(column),
			*column->title ? column->title : number);
	}
	fputc('\n', report->file);
}

static void print_row(struct pm_report *report, const struct pm_device *device,
		      const struct pm_row *row)
{
	char text[16];

	if (report->rows++ % HEADING_ROWS == 0)
		print_heading(report);
	fprintf(report->file, "%7.*f %3u", report->fine ? 3 : 1,
		(double)((int64_t)(row->end - report->began)) / 1e9, device->number);
	for (size_t i = 0; i < report->choice->count; i++) {
		const struct pm_column *column = &report->choice->columns[i];

		fprintf(report->file, " %*s", width_of(column),
			is_there(device, i) ? figure(text, pm_row__mean(row, i), column->unit)
					    : "-");
	}
	if (row->lost)
		fprintf(report->file, "  lost %" PRIu64, row->lost);
	fputc('\n', report->file);
}

static void json_number(FILE *file, const char *key, double value)
{
	if (isnan(value) || isinf(value))
		fprintf(file, "%s:null", key);
	else
		fprintf(file, "%s:%.9g", key, value);
}

static void json_head(FILE *file, const char *event, const struct pm_device *device)
{
	char uuid[48];

	fprintf(file, "{\"event\":\"%s\",\"device\":%u,\"uuid\":\"%s\"", event, device->number,
		stat_objects__uuid(uuid, "GPU", device->hello.uuid));
}

static void json_means(const struct pm_report *report, const struct pm_device *device,
		       const struct pm_row *row)
{
	FILE *file = report->file;
	bool first = true;

	fputs(",\"columns\":{", file);
	for (size_t i = 0; i < report->choice->count; i++) {
		if (!is_there(device, i))
			continue;
		fputs(first ? "" : ",", file);
		first = false;
		text__write_json(file, report->choice->columns[i].key);
		json_number(file, ":{\"mean\"", pm_row__mean(row, i));
		json_number(file, ",\"min\"", row->cells[i].least);
		json_number(file, ",\"max\"", row->cells[i].most);
		fputc('}', file);
	}
	fputc('}', file);
}

/* UTC less CLOCK_MONOTONIC, now. */
static int64_t utc_offset(void)
{
	return realtime__ns() - monotonic__ns();
}

static void json_row(const struct pm_report *report, const struct pm_device *device,
		     const struct pm_row *row)
{
	json_head(report->file, "device", device);
	fprintf(report->file,
		",\"time_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64 ",\"utc_ns\":%" PRId64
		",\"samples\":%" PRIu64 ",\"lost\":%" PRIu64,
		row->start, row->end, row->start + utc_offset(), row->samples, row->lost);
	json_means(report, device, row);
	fputs("}\n", report->file);
}

void pm_report__row(struct pm_report *report, const struct pm_device *device,
		    const struct pm_row *row)
{
	if (report->json)
		json_row(report, device, row);
	else
		print_row(report, device, row);
}

static void json_text(FILE *file, const char *key, const char *text)
{
	fprintf(file, ",\"%s\":", key);
	text__write_json(file, text);
}

static void json_column(const struct pm_report *report, const struct pm_device *device,
			const struct pm_table *table, size_t i)
{
	static const char *const units[] = {"ratio", "bytes/s", ""};
	const struct pm_column *column = &report->choice->columns[i];
	FILE *file = report->file;
	char metric[200];

	text__write_json(file, column->key);
	fprintf(file, ":{\"unit\":\"%s\"", units[column->unit]);
	json_text(file, "metric",
		  pm_column__metric(column, device->started.chosen[i], metric, sizeof(metric)));
	json_number(file, ",\"mean\"", pm_row__mean(&table->all, i));
	json_number(file, ",\"min\"", table->all.cells[i].least);
	json_number(file, ",\"max\"", table->all.cells[i].most);
	if (column->unit == PM_RATIO) {
		json_number(file, ",\"p50\"", pm_table__quantile(table, i, 0.5));
		json_number(file, ",\"p95\"", pm_table__quantile(table, i, 0.95));
	}
	fputc('}', file);
}

static void json_summary(const struct pm_report *report, const struct pm_device *device,
			 const struct pm_table *table)
{
	FILE *file = report->file;
	bool first = true;

	json_head(file, "device_summary", device);
	json_text(file, "name", device->hello.name);
	json_text(file, "pci", device->hello.pci);
	json_text(file, "chip", device->started.chip);
	json_text(file, "library", device->started.cupti);
	fprintf(file,
		",\"seconds\":%.6f,\"samples\":%" PRIu64 ",\"lost\":%" PRIu64
		",\"lost_seconds\":%.6f,\"overflows\":%" PRIu64 ",\"columns\":{",
		table->all.ns / 1e9, device->samples, device->lost, device->lost_ns / 1e9,
		device->overflows);
	for (size_t i = 0; i < report->choice->count; i++) {
		if (!is_there(device, i))
			continue;
		fputs(first ? "" : ",", file);
		first = false;
		json_column(report, device, table, i);
	}
	fputs("}}\n", file);
}

/* Eighths of a line's height, of the whole for ratios and else of the most there was. */
static void print_line(const struct pm_report *report, const struct pm_table *table, size_t column)
{
	static const char *const heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	double most = report->choice->columns[column].unit == PM_RATIO ? 1 : 0;

	for (int k = 0; k < LINE_PARTS && report->choice->columns[column].unit != PM_RATIO; k++)
		most = fmax(most, pm_table__point(table, column, k, LINE_PARTS));
	fputs("  ", report->file);
	for (int k = 0; k < LINE_PARTS; k++) {
		double part = pm_table__point(table, column, k, LINE_PARTS) / (most > 0 ? most : 1);

		/* What is more than nothing shows. */
		fputs(isnan(part) ? " " : heights[(int)fmin(fmax(ceil(part * 8 - 0.01), 0), 8)],
		      report->file);
	}
}

static void print_column(const struct pm_report *report, const struct pm_table *table, size_t i)
{
	const struct pm_column *column = &report->choice->columns[i];
	char key[64], mean[16], half[16], most95[16], most[16];
	bool ratio = column->unit == PM_RATIO;

	snprintf(key, sizeof(key), "M%zu", i + 1);
	fprintf(report->file, "  %-21s %6s %6s %6s %6s", *column->title ? column->key : key,
		figure(mean, pm_row__mean(&table->all, i), column->unit),
		ratio ? figure(half, pm_table__quantile(table, i, 0.5), PM_RATIO) : "",
		ratio ? figure(most95, pm_table__quantile(table, i, 0.95), PM_RATIO) : "",
		figure(most, table->all.cells[i].most, column->unit));
	if (report->lines)
		print_line(report, table, i);
	if (!*column->title) {
		char shown[800];

		fprintf(report->file, "\n    %s", text__show(shown, sizeof(shown), column->key, 0));
	}
	fputc('\n', report->file);
}

static void print_summary(const struct pm_report *report, const struct pm_device *device,
			  const struct pm_table *table)
{
	char name[400], uuid[48], samples[32], lost[32];
	bool any = false;

	fprintf(report->file, "\nGPU %u: %s, %s, %s\n", device->number,
		text__show(name, sizeof(name), device->hello.name, 0), device->started.chip,
		stat_objects__uuid(uuid, "GPU", device->hello.uuid));
	fprintf(report->file, "  %.1f s, %s samples, %s lost", table->all.ns / 1e9,
		text__count(samples, device->samples), text__count(lost, device->lost));
	if (device->lost || device->overflows)
		fprintf(report->file,
			" (%.3f s without any; the GPU's buffer overflowed %" PRIu64 " times)",
			device->lost_ns / 1e9, device->overflows);
	fprintf(report->file, "\n  %-21s %6s %6s %6s %6s%s\n", "", "MEAN", "P50", "P95", "MAX",
		report->lines ? "  OVER TIME" : "");
	for (size_t i = 0; i < report->choice->count; i++)
		if (is_there(device, i))
			print_column(report, table, i);
	for (size_t i = 0; i < report->choice->count; i++)
		if (!is_there(device, i)) {
			char shown[400];

			fprintf(report->file, "%s%s",
				any ? ", "
				    : "  not available on this chip, or not together with the "
				      "others: ",
				text__show(shown, sizeof(shown), report->choice->columns[i].key,
					   60));
			any = true;
		}
	fputs(any ? "\n" : "", report->file);
}

void pm_report__summary(struct pm_report *report, const struct pm_device *device,
			const struct pm_table *table)
{
	if (report->json)
		json_summary(report, device, table);
	else
		print_summary(report, device, table);
}
