// SPDX-License-Identifier: BSD-2-Clause
/*
 * `profile --pc`: functions and the places in them, what was waited for, and what should be known
 * about the truth of it. The keys of JSON are documented in cuda-trace-profile(1) and stay.
 */
#include "cuda-trace/profile/pc/pc_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/profile/code/code_images.h"
#include "cuda-trace/profile/code/code_json.h"

#define MAX_PLACES 10 /* of a function */
#define MAX_WAITS  3  /* of a line */

/* A line of the source, or an instruction whose line nobody knows. */
struct place {
	const struct pc_instruction *hottest;
	struct pc_counts counts;
};

static double share_of(uint64_t samples, const struct pc_table *table)
{
	return (double)samples / (table->all.samples ? table->all.samples : 1);
}

static uint32_t most_of(const struct pc_counts *counts, const struct pc_table *table,
			const bool *used)
{
	uint32_t most = PC_MAX_REASONS;

	for (uint32_t i = 0; i < table->reason_count; i++)
		if (counts->reasons[i] && !used[i] &&
		    (most == PC_MAX_REASONS || counts->reasons[i] > counts->reasons[most]))
			most = i;
	return most;
}

const char *pc_report__waits(const struct pc_counts *counts, const struct pc_table *table,
			     char *text, size_t size)
{
	bool used[PC_MAX_REASONS] = {};
	size_t at = 0;

	*text = '\0';
	for (int i = 0; i < MAX_WAITS && at < size; i++) {
		uint32_t reason = most_of(counts, table, used);

		if (reason == PC_MAX_REASONS)
			break;
		used[reason] = true;
		at += snprintf(text + at, size - at, "%s%.30s %.0f%%", i ? ", " : "",
			       pc_table__reason(table, reason),
			       100.0 * counts->reasons[reason] / counts->samples);
	}
	return text;
}

static void add(struct pc_counts *to, const struct pc_counts *counts)
{
	to->samples += counts->samples;
	to->idle += counts->idle;
	for (int i = 0; i < PC_MAX_REASONS; i++)
		to->reasons[i] += counts->reasons[i];
}

static int compare_places(const void *a, const void *b)
{
	const struct place *first = a, *second = b;

	if (first->counts.samples != second->counts.samples)
		return first->counts.samples < second->counts.samples ? 1 : -1;
	return first->hottest < second->hottest ? -1 : first->hottest > second->hottest;
}

/* The places of a function, most samples first; how many. */
static uint32_t find_places(const struct pc_table *table, uint32_t function, struct place *places)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < table->instruction_count; i++) {
		const struct pc_instruction *instruction = &table->instructions[i];
		uint32_t at = 0;

		if (instruction->at.function != function)
			continue;
		while (at < count &&
		       !code_place__is_same_line(&places[at].hottest->at, &instruction->at))
			at++;
		if (at == count)
			places[count++] = (struct place){.hottest = instruction};
		add(&places[at].counts, &instruction->counts);
	}
	qsort(places, count, sizeof(*places), compare_places);
	return count;
}

static const char *name_place(const struct pc_instruction *instruction, char *text, size_t size)
{
	size_t length;

	pc_images__name(&instruction->at, "    ", text, size);
	length = strlen(text);
	if (!instruction->at.file && instruction->text)
		snprintf(text + length, size - length, "  %s", instruction->text);
	return text;
}

static void put_counts(struct sheet *sheet, const struct pc_table *table,
		       const struct pc_counts *counts, const char *where)
{
	char waits[160];

	sheet__column(sheet, 1, "SAMPLES", 11, "samples", cell_count(counts->samples));
	sheet__column(sheet, 0, "SHARE", 6, "share", cell_share(share_of(counts->samples, table)));
	sheet__column(sheet, 2, "WAITS FOR", -48, NULL,
		      cell_text(pc_report__waits(counts, table, waits, sizeof(waits))));
	sheet__column(sheet, 3, "FUNCTION AND PLACES IN IT", 0, NULL, cell_text(where));
	sheet__put(sheet, "not_issued", cell_number(counts->idle));
	sheet__open(sheet, "reasons", '{');
	for (uint32_t i = 0; sheet->json && i < table->reason_count; i++)
		if (counts->reasons[i])
			sheet__put(sheet, pc_table__reason(table, i),
				   cell_number(counts->reasons[i]));
	sheet__close(sheet);
}

/* Text: the lines with most samples. */
static void put_places(struct sheet *sheet, const struct pc_table *table, uint32_t function,
		       struct place *places)
{
	uint32_t count = find_places(table, function, places);
	char text[512];

	for (uint32_t i = 0; i < count && i < MAX_PLACES; i++) {
		put_counts(sheet, table, &places[i].counts,
			   name_place(places[i].hottest, text, sizeof(text)));
		sheet__row_end(sheet);
	}
}

static void put_instructions(struct sheet *sheet, const struct pc_table *table, uint32_t function)
{
	sheet__open(sheet, "instructions", '[');
	for (uint32_t i = 0; i < table->instruction_count; i++) {
		const struct pc_instruction *instruction = &table->instructions[i];

		if (instruction->at.function != function)
			continue;
		sheet__open(sheet, NULL, '{');
		code_json__put_place(sheet, &instruction->at);
		sheet__put(sheet, "sass", cell_text(instruction->text));
		put_counts(sheet, table, &instruction->counts, NULL);
		sheet__close(sheet);
	}
	sheet__close(sheet);
}

static void put_functions(struct sheet *sheet, const struct pc_report *report)
{
	const struct pc_table *table = report->table;
	struct place *places = calloc(table->instruction_count + 1, sizeof(*places));

	sheet__begin(sheet, "functions", "Functions by samples", report->most);
	for (uint32_t i = 0; places && i < table->function_count; i++) {
		const struct pc_function *function = &table->functions[i];

		if (!sheet__row(sheet, NULL))
			continue;
		sheet__put(sheet, "name", cell_text(function->of.name));
		code_json__put_origin(sheet, &function->of);
		put_counts(sheet, table, &function->counts, function->of.name);
		if (sheet->json)
			put_instructions(sheet, table, i);
		sheet__row_end(sheet);
		if (!sheet->json)
			put_places(sheet, table, i, places);
	}
	sheet__end(sheet);
	sheet__say_more(sheet);
	free(places);
}

/* JSON has them by number, text by samples. */
static void put_reasons(struct sheet *sheet, const struct pc_report *report)
{
	const struct pc_table *table = report->table;
	bool used[PC_MAX_REASONS] = {};

	sheet__begin(sheet, "reasons", "\nReasons", report->most);
	for (uint32_t i = 0; i < table->reason_count; i++) {
		uint32_t reason = sheet->json ? i : most_of(&table->all, table, used);
		const char *word;

		if (reason == PC_MAX_REASONS || !sheet__row(sheet, NULL))
			break;
		used[reason] = true;
		word = pc_table__reason(table, reason);
		sheet__column(sheet, 2, "REASON", -20, "reason", cell_text(word));
		sheet__column(sheet, 1, "SAMPLES", 11, "samples",
			      cell_count(table->all.reasons[reason]));
		sheet__column(sheet, 0, "SHARE", 6, "share",
			      cell_share(share_of(table->all.reasons[reason], table)));
		sheet__column(sheet, 3, "A WARP WAITS FOR", 0, "meaning",
			      cell_text(pc_table__meaning(word)));
		sheet__row_end(sheet);
	}
	sheet__end(sheet);
}

static void put_processes(struct sheet *sheet, const struct pc_table *table)
{
	sheet__open(sheet, "processes", '[');
	for (uint32_t i = 0; i < table->process_count; i++) {
		const struct pc_process *process = &table->processes[i];
		const char *trouble = agent_state__trouble(&process->status);

		if (!trouble && !process->windows && *process->status.message)
			trouble = process->status.message;
		sheet__open(sheet, NULL, '{');
		sheet__put(sheet, "pid", cell_number(process->pid));
		sheet__put(sheet, "process", cell_text(process->comm));
		sheet__put(sheet, "uid", cell_number(process->uid));
		sheet__put(sheet, "windows", cell_number(process->windows));
		sheet__put(sheet, "samples", cell_number(process->samples));
		sheet__put(sheet, "state", cell_text(agent_state__key(&process->status)));
		sheet__put(sheet, "trouble", cell_text(trouble));
		sheet__put(sheet, "cupti_version", cell_number(process->status.cupti_version));
		sheet__put(sheet, "exit_status",
			   cell_if(process->exit_status >= 0, cell_number(process->exit_status)));
		sheet__close(sheet);
	}
	sheet__close(sheet);
}

static void put_samples(struct sheet *sheet, const struct pc_table *table)
{
	bool known = table->period_least && table->period_least == table->period_most &&
		     table->period_least < 63;

	sheet__open(sheet, "samples", '{');
	sheet__put(sheet, "total", cell_number(table->total));
	sheet__put(sheet, "placed", cell_number(table->all.samples));
	sheet__put(sheet, "dropped", cell_number(table->dropped));
	sheet__put(sheet, "other", cell_number(table->other));
	sheet__put(sheet, "filtered", cell_number(table->filtered));
	sheet__put(sheet, "unplaced", cell_number(pc_table__unplaced(table)));
	sheet__put(sheet, "no_room", cell_number(table->unkept));
	sheet__put(sheet, "overflows", cell_number(table->overflows));
	sheet__put(sheet, "period_cycles",
		   cell_if(known, cell_number(1ull << (table->period_least & 63))));
	sheet__close(sheet);
}

static void put_account(FILE *file, const struct pc_report *report)
{
	const struct pc_table *table = report->table;
	char windows[32], open[16], all[16], samples[32], dropped[32], other[32], rest[32];

	fprintf(file, "\n%s window%s, together %s of %s; %s samples",
		text__count(windows, table->windows), table->windows == 1 ? "" : "s",
		text__ns(open, table->window_ns), text__ns(all, report->duration_ns),
		text__count(samples, table->total));
	if (table->period_least && table->period_least == table->period_most)
		fprintf(file, ", one in %s cycles",
			text__count(windows, 1ull << (table->period_least & 63)));
	fprintf(file, "\n%s dropped by the GPU, %s of kernels that are not the program's",
		text__count(dropped, table->dropped), text__count(other, table->other));
	if (table->filtered)
		fprintf(file, ", %s of other functions", text__count(rest, table->filtered));
	if (pc_table__unplaced(table))
		fprintf(file, ", %s without a location",
			text__count(rest, pc_table__unplaced(table)));
	if (table->unkept)
		fprintf(file, ", %s beyond the tables' limits", text__count(rest, table->unkept));
	fprintf(file, "\n");
	if (table->held_ns)
		fprintf(file,
			"launches waited for %s of that time, %.2f %%; at the end there was one "
			"window every %u ms\n",
			text__ns(open, table->held_ns),
			100.0 * table->held_ns / (report->duration_ns ? report->duration_ns : 1),
			report->every_ms);
	if (table->overflows)
		fprintf(file,
			"%" PRIu64
			" windows are incomplete: CUPTI's buffer was full, or the context ended\n",
			table->overflows);
}

static void put_notes(FILE *file, const struct pc_report *report)
{
	const struct pc_table *table = report->table;

	if (pc_table__note(table))
		fprintf(file, "%s\n", pc_table__note(table));
	for (uint32_t i = 0; i < table->process_count && i < report->most; i++) {
		const struct pc_process *process = &table->processes[i];
		const char *trouble = agent_state__trouble(&process->status);
		char comm[64], message[300];

		if (process->windows)
			continue;
		fprintf(file, "process %u (%s): no samples: ", process->pid,
			text__show(comm, sizeof(comm), process->comm, 0));
		if (trouble)
			fprintf(file, "%s\n", trouble);
		else if (*process->status.message)
			fprintf(file, "%s\n",
				text__show(message, sizeof(message), process->status.message, 128));
		else
			fprintf(file,
				"it had no sampling window: one of %u ms opens every %u ms "
				"(--bursts)\n",
				report->on_ms, report->every_ms);
	}
}

void pc_report__text(FILE *file, const struct pc_report *report)
{
	struct sheet sheet = {.file = file};

	if (!report->table->process_count)
		fprintf(file, "No CUDA activity was seen: %s.\n",
			losses__no_activity(report->started, report->lost));
	put_functions(&sheet, report);
	if (report->code) {
		fprintf(file, "\n");
		pc_report__code(file, report);
	}
	put_reasons(&sheet, report);
	put_account(file, report);
	if (report->windows)
		windows_section__put(&sheet, report->windows, report->collected, true);
	code_table__say_lines_from(file, &report->table->code);
	put_notes(file, report);
	if (losses__any(report->lost))
		losses__say(file, report->lost);
	else
		fprintf(file, "nothing was lost\n");
}

void pc_report__json(FILE *file, const struct pc_report *report)
{
	const struct pc_table *table = report->table;
	struct sheet sheet = {.file = file, .json = true, .plain = true};

	sheet__open(&sheet, NULL, '{');
	sheet__put(&sheet, "duration_ns", cell_number(report->duration_ns));
	sheet__put(&sheet, "windows", cell_number(table->windows));
	sheet__put(&sheet, "window_ns", cell_number(table->window_ns));
	sheet__put(&sheet, "held_ns", cell_number(table->held_ns));
	sheet__put(&sheet, "period_ms", cell_number(report->every_ms));
	windows_section__put(&sheet, report->windows, report->collected, true);
	put_samples(&sheet, table);
	sheet__put(&sheet, "note", cell_text(pc_table__note(table)));
	put_functions(&sheet, report);
	put_reasons(&sheet, report);
	put_processes(&sheet, table);
	losses__put(&sheet, report->lost);
	sheet__close(&sheet);
}
