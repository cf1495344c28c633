// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page: a template with style, scripts and one JSON object in it. Everything that came from a
 * traced program is inside that object, where "<" is written \u003c, so that no name can end the
 * element that holds it; the scripts put it into the page as text only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/export/export.h"
#include "cuda-trace/export/export_lanes.h"
#include "cuda-trace/export/export_packer.h"
#include "cuda-trace/export/export_samples.h"
#include "cuda-trace/export/export_stack_tree.h"
#include "cuda-trace/report/report_group.h"
#include "cuda-trace/report/report_output.h"
#include "cuda-trace/report/report_records.h"
#include "cuda-trace/report/report_sections.h"
#include "cuda-trace/base/text.h"
#include "embedded/web.h"

#define MEMORY_POINTS 1500

struct page {
	const struct report_file *file;
	FILE *out;
	struct names_of_file *names;
};

/* Writes to the page; "<" cannot stand in it. */
static ssize_t write_guarded(void *cookie, const char *data, size_t size)
{
	FILE *out = cookie;

	for (size_t i = 0; i < size;) {
		size_t plain = 0;

		while (i + plain < size && data[i + plain] != '<')
			plain++;
		fwrite(data + i, 1, plain, out);
		i += plain;
		if (i < size) {
			fputs("\\u003c", out);
			i++;
		}
	}
	return ferror(out) ? -1 : (ssize_t)size;
}

static void put_key(struct page *page, const char *key)
{
	fprintf(page->out, ",\n\"%s\":", key);
}

static void put_text(struct page *page, const char *key, const char *text)
{
	put_key(page, key);
	text__write_json(page->out, text ? text : "");
}

static void put_query_text(struct page *page, const char *key, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (!sqlite3_prepare_v2(page->file->db, sql, -1, &statement, NULL) &&
	    sqlite3_step(statement) == SQLITE_ROW)
		put_text(page, key, (const char *)sqlite3_column_text(statement, 0));
	else
		put_text(page, key, "");
	sqlite3_finalize(statement);
}

static void put_advice(struct page *page)
{
	const char *const *line = page->file->advice;

	put_key(page, "advice");
	putc('[', page->out);
	for (bool first = true; line && *line; line++, first = false) {
		fputs(first ? "" : ",", page->out);
		text__write_json(page->out, *line);
	}
	putc(']', page->out);
}

/* A table report as an array of objects: its rows are JSON lines, so a comma joins them. */
static int put_table(struct page *page, const char *name, int64_t limit)
{
	char *lines = NULL, *rest, *line;
	size_t size = 0;
	FILE *memory;
	int err = 0;

	put_key(page, name);
	putc('[', page->out);
	if (sections__any(page->file, name)) {
		memory = open_memstream(&lines, &size);
		if (!memory)
			return -ENOMEM;
		err = sections__report(page->file, name, memory, REPORT_JSON, limit);
		fclose(memory);
		rest = lines;
		for (bool first = true; (line = strsep(&rest, "\n")) && *line; first = false)
			fprintf(page->out, "%s%s", first ? "" : ",\n", line);
		free(lines);
	}
	putc(']', page->out);
	return err;
}

/* Histograms of kernels, four steps an octave: [name, [[least ns, kernels] ...]]. */
static void put_histograms(struct page *page)
{
	/* Read for the table of kernels; without one there is nothing to show. */
	const struct groups *groups = groups__kept(page->file, "kernel_sums");

	put_key(page, "histograms");
	putc('{', page->out);
	for (size_t i = 0; groups && i < groups->count; i++) {
		const struct durations *durations = &groups->list[i]->durations;
		uint64_t sum = 0;
		bool first = true;

		fputs(i ? ",\n" : "", page->out);
		text__write_json(page->out,
				 export_names__string(page->names, groups->list[i]->keys[0]));
		fputs(":[", page->out);
		for (uint32_t b = durations->first; b < durations->first + durations->used; b++) {
			sum += durations->buckets[b - durations->first];
			if ((b % 16 == 15 || b + 1 == durations->first + durations->used) && sum) {
				fprintf(page->out, "%s[%llu,%llu]", first ? "" : ",",
					(unsigned long long)durations__floor(b & ~15u),
					(unsigned long long)sum);
				first = false;
				sum = 0;
			}
		}
		putc(']', page->out);
	}
	putc('}', page->out);
}

/* Live bytes over time by process and device: the highest level of each step of time. */
static int put_memory_levels(struct page *page)
{
	static const char sql[] =
		"WITH events AS (SELECT globalPid, deviceId, start, rowid AS seq,"
		" memoryOperationType AS freed, bytes, address, lag(memoryOperationType) OVER again"
		" AS before, lag(bytes) OVER again AS had FROM CUDA_GPU_MEMORY_USAGE_EVENTS"
		" WHERE memKind IN (2, 4) WINDOW again AS"
		" (PARTITION BY globalPid, address ORDER BY start, rowid)),"
		" levels AS (SELECT globalPid, deviceId, start,"
		" sum(CASE WHEN freed = 0 THEN bytes WHEN before = 0 THEN -had ELSE 0 END)"
		" OVER (PARTITION BY globalPid, deviceId ORDER BY start, seq) AS live FROM events)"
		" SELECT globalPid, deviceId, min(start), max(live) FROM levels"
		" GROUP BY globalPid, deviceId, start / max(1, (SELECT max(start) - min(start)"
		" FROM CUDA_GPU_MEMORY_USAGE_EVENTS) / ?) ORDER BY 1, 2, 3";
	int64_t global = 0, device = -1;
	sqlite3_stmt *statement = NULL;
	bool open = false;

	put_key(page, "memory_levels");
	putc('[', page->out);
	if (report_file__has(page->file, "CUDA_GPU_MEMORY_USAGE_EVENTS", NULL) &&
	    sqlite3_prepare_v2(page->file->db, sql, -1, &statement, NULL))
		return report_file__complain(page->file);
	if (statement)
		sqlite3_bind_int(statement, 1, MEMORY_POINTS);
	while (statement && sqlite3_step(statement) == SQLITE_ROW) {
		bool same = open && global == sqlite3_column_int64(statement, 0) &&
			    device == sqlite3_column_int64(statement, 1);

		global = sqlite3_column_int64(statement, 0);
		device = sqlite3_column_int64(statement, 1);
		if (!same) {
			fputs(open ? "]},\n{\"process\":" : "{\"process\":", page->out);
			text__write_json(page->out, export_names__process(page->names, global));
			fprintf(page->out, ",\"device\":%lld,\"levels\":[", (long long)device);
		}
		fprintf(page->out, "%s[%lld,%lld]", same ? "," : "",
			(long long)sqlite3_column_int64(statement, 2),
			(long long)sqlite3_column_int64(statement, 3));
		open = true;
	}
	sqlite3_finalize(statement);
	fputs(open ? "]}]" : "]", page->out);
	return 0;
}

static int put_flame(struct page *page)
{
	struct stacks stacks;
	int err = stacks__read(&stacks, page->file);

	if (err)
		return err;
	put_key(page, "stack_period");
	fprintf(page->out, "%u", stacks.period);
	put_key(page, "flame_samples");
	fputs(stacks.samples ? "true" : "false", page->out);
	put_key(page, "flame");
	putc('[', page->out);
	for (size_t i = 0; i < stacks.count; i++) {
		const struct stacks_node *node = &stacks.nodes[i];

		fprintf(page->out, "%s[%u,%llu,%llu,", i ? ",\n" : "", node->parent,
			(unsigned long long)node->ns, (unsigned long long)node->count);
		text__write_json(page->out, node->name);
		putc(']', page->out);
	}
	putc(']', page->out);
	stacks__free(&stacks);
	return 0;
}

/* start - last end (zigzag), length, name, count - 1; of sums the busy time, of events by
 * themselves, where a call may have to do with work on the GPU, the detail and the correlation. */
static void put_items(struct page *page, const struct lane *lane)
{
	struct packer packer = {.out = page->out};
	bool tied = lane->kind == LANE_STREAM || lane->kind == LANE_DRIVER ||
		    lane->kind == LANE_RUNTIME;
	int64_t before = 0, correlation = 0;

	for (size_t i = 0; i < lane->count; i++) {
		const struct lane_item *item = &lane->items[i];

		packer__signed(&packer, item->start - before);
		packer__number(&packer, item->end - item->start);
		packer__number(&packer, item->name);
		packer__number(&packer, item->count - 1);
		if (item->count > 1)
			packer__number(&packer, item->busy);
		before = item->end;
		if (item->count > 1 || !tied)
			continue;
		packer__number(&packer, item->detail);
		packer__signed(&packer, item->correlation - correlation);
		correlation = item->correlation;
	}
	packer__end(&packer);
}

static void put_lane(struct page *page, const struct lane *lane, bool first)
{
	static const char *const kinds[] = {"stream", "waits",	"driver", "runtime",
					    "ranges", "states", "others"};

	fprintf(page->out, "%s{\"kind\":\"%s\",\"device\":%lld,\"number\":%lld,\"process\":",
		first ? "" : ",\n", kinds[lane->kind], (long long)lane->device,
		(long long)lane->number);
	text__write_json(page->out, export_names__process(page->names, lane->global));
	fprintf(page->out, ",\"merged\":%u,\"items\":%zu,\"data\":\"", lane->merged, lane->count);
	put_items(page, lane);
	fputs("\"}", page->out);
}

static int put_lanes(struct page *page, const struct lanes *lanes)
{
	int err;

	put_key(page, "timeline");
	fprintf(page->out,
		"{\"begin\":%lld,\"end\":%lld,\"events\":%llu,\"cell\":%lld,"
		"\"invalid\":%llu,\"names\":[",
		(long long)lanes->begin, (long long)lanes->end, (unsigned long long)lanes->events,
		(long long)lanes->cell, (unsigned long long)lanes->invalid);
	for (size_t i = 0; i < lanes->name_count; i++) {
		fputs(i ? ",\n" : "", page->out);
		text__write_json(page->out, lanes->names[i].text);
	}
	fputs("],\"categories\":\"", page->out);
	for (size_t i = 0; i < lanes->name_count; i++)
		putc(lanes->names[i].category, page->out);
	fprintf(page->out, "\",\"without_detail\":%llu,\"details\":",
		(unsigned long long)lanes->details.left_out);
	err = details__write(&lanes->details, page->out, page->file, page->names);
	fputs(",\"lanes\":[", page->out);
	for (size_t i = 0; i < lanes->count; i++)
		put_lane(page, &lanes->list[i], !i);
	fputs("]}", page->out);
	return err;
}

/* After the lanes, as they say which time is shown; null without report --device. */
static int put_samples(struct page *page, const struct lanes *lanes)
{
	put_key(page, "samples");
	if (page->file->samples)
		return export_samples__put(page->out, page->file, page->names, lanes->begin,
					   lanes->end);
	fputs("null", page->out);
	return 0;
}

static int put_tables(struct page *page)
{
	static const struct {
		const char *name;
		int64_t limit;
	} tables[] = {{"idle", 0},	{"kernels", 5000}, {"launches", 2000}, {"copy-calls", 0},
		      {"api", 2000},	{"copies", 0},	   {"memsets", 0},     {"memory", 1000},
		      {"sync", 0},	{"graphs", 1000},  {"nvtx", 1000},     {"stalls", 5000},
		      {"errors", 1000}, {"losses", 0},	   {"processes", 1000}};
	int err = 0;

	fprintf(page->out, "{\"tool\":\"cuda-trace " VERSION "\",\"duration_ns\":%llu",
		(unsigned long long)report_records__duration(page->file));
	put_text(page, "file", page->file->path);
	put_query_text(page, "utc", "SELECT utcTime FROM TARGET_INFO_SESSION_START_TIME");
	put_query_text(page, "command",
		       "SELECT value FROM META_DATA_CAPTURE WHERE name = 'COMMAND'");
	put_query_text(page, "host",
		       "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'");
	put_query_text(page, "gpus",
		       "SELECT group_concat(name, ', ') FROM (SELECT count(*) || ' × ' || name AS "
		       "name FROM TARGET_INFO_GPU GROUP BY TARGET_INFO_GPU.name)");
	put_advice(page);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !err; i++)
		err = put_table(page, tables[i].name, tables[i].limit);
	if (!err)
		put_histograms(page);
	if (!err)
		err = put_memory_levels(page);
	if (!err)
		err = put_flame(page);
	return err;
}

/* The timeline is read by a thread of its own, beside the tables; it comes last in the page. */
static int put_data(struct page *page)
{
	struct lanes_job *job;
	struct lanes *lanes;
	int err = lanes__start(&job, page->file), failed;

	if (err)
		return err;
	err = put_tables(page);
	failed = lanes__wait(job, &lanes);
	err = err ? err : failed;
	if (!err)
		err = put_lanes(page, lanes);
	if (!err)
		err = put_samples(page, lanes);
	lanes__end(job);
	fputs("}\n", page->out);
	return err;
}

static int put_guarded_data(struct page *page, FILE *out)
{
	static const cookie_io_functions_t guard = {.write = write_guarded};
	int err;

	page->out = fopencookie(out, "w", guard);
	if (!page->out)
		return -ENOMEM;
	setvbuf(page->out, NULL, _IOFBF, 1 << 16);
	err = put_data(page);
	errno = 0;
	if (fclose(page->out) && !err)
		err = errno ? -errno : -EIO;
	return err;
}

int export_html(const struct report_file *file, FILE *out)
{
	static const struct {
		const char *mark, *text;
	} parts[] = {{"@STYLE@", embedded_page_css}, {"@DATA@", NULL}, {"@SCRIPT@", NULL}};
	static const char *const scripts[] = {embedded_page_data_js,	embedded_page_samples_js,
					      embedded_page_details_js, embedded_page_timeline_js,
					      embedded_page_flame_js,	embedded_page_tables_js,
					      embedded_page_js};
	struct page page = {.file = file};
	const char *at = embedded_page_html;
	int err = export_names__open(&page.names, file);

	for (size_t i = 0; !err && i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *mark = strstr(at, parts[i].mark);

		fwrite(at, 1, mark - at, out);
		at = mark + strlen(parts[i].mark);
		if (i == 1)
			err = put_guarded_data(&page, out);
		else if (i == 2)
			for (size_t s = 0; s < sizeof(scripts) / sizeof(scripts[0]); s++)
				fputs(scripts[s], out);
		else
			fputs(parts[i].text, out);
	}
	fputs(at, out);
	export_names__close(page.names);
	return err;
}
