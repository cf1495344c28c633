// SPDX-License-Identifier: BSD-2-Clause
/*
 * `profile --pc --disassemble` for people: the instructions of the functions with most samples, as
 * they stand in the program.
 */
#include "cuda-trace/profile/pc/pc_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/profile/pc/disassembly.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/writer.h"

#define MAX_FUNCTIONS 5
#define AROUND	      2	  /* lines before and behind one with samples */
#define BLANK	      " " /* nothing at all would be shown as unknown */

/* A function, and what was sampled in it. */
struct listing {
	const struct pc_table *table;
	const struct pc_function *function;
	const struct pc_instruction **sampled; /* by offset, those that are shown */
	uint32_t count;
	uint32_t left_out;
	uint64_t samples_left_out;
	struct writer writer;
};

static int by_offset(const void *a, const void *b)
{
	const struct pc_instruction *const *first = a, *const *second = b;

	return (*first)->at.offset < (*second)->at.offset
		       ? -1
		       : (*first)->at.offset > (*second)->at.offset;
}

/* The table has them by samples. */
static void find_sampled(struct listing *listing, uint32_t function, uint64_t most)
{
	for (uint32_t i = 0; i < listing->table->instruction_count; i++) {
		const struct pc_instruction *instruction = &listing->table->instructions[i];

		if (instruction->at.function != function || !instruction->counts.samples)
			continue;
		if (listing->count < most) {
			listing->sampled[listing->count++] = instruction;
		} else {
			listing->left_out++;
			listing->samples_left_out += instruction->counts.samples;
		}
	}
	qsort(listing->sampled, listing->count, sizeof(*listing->sampled), by_offset);
}

static void put_line(struct listing *listing, uint64_t offset, const char *text,
		     const struct pc_instruction *sampled)
{
	const char *file = sampled && sampled->at.file ? strrchr(sampled->at.file, '/') : NULL;
	uint64_t all = listing->function->counts.samples;
	char place[24], line[400], waits[160] = BLANK;
	const struct cell cells[] = {
		sampled ? cell_share((double)sampled->counts.samples / (all ? all : 1))
			: cell_text(BLANK),
		sampled ? cell_count(sampled->counts.samples) : cell_text(BLANK),
		cell_text(waits),
		cell_text(place),
		cell_text(line),
	};

	if (sampled)
		pc_report__waits(&sampled->counts, listing->table, waits, sizeof(waits));
	snprintf(place, sizeof(place), "+0x%" PRIx64, offset);
	if (sampled && sampled->at.file)
		snprintf(line, sizeof(line), "%-44s  %s:%u", text ? text : "?",
			 file ? file + 1 : sampled->at.file, sampled->at.line);
	else
		snprintf(line, sizeof(line), "%s", text ? text : "?");
	writer__row(&listing->writer, cells);
}

static void put_gap(struct listing *listing)
{
	writer__row(&listing->writer, (const struct cell[]){
					      cell_text(BLANK),
					      cell_text(BLANK),
					      cell_text(BLANK),
					      cell_text("..."),
					      cell_text(BLANK),
				      });
}

/* Where the lines around a sample begin and end, in the function's. */
static uint32_t first_after(const struct disassembled *code, uint64_t offset)
{
	return sorted__count_before(code->count, i, code->lines[i].offset < offset);
}

static void put_lines(struct listing *listing)
{
	const struct disassembled *code = listing->function->code;
	uint32_t next = 0; /* of the function's lines: the first that was not shown */

	for (uint32_t i = 0; i < listing->count; i++) {
		const struct pc_instruction *sampled = listing->sampled[i];
		uint32_t at = first_after(code, sampled->at.offset), from, until;
		bool is_there = at < code->count && code->lines[at].offset == sampled->at.offset;

		from = at > next + AROUND ? at - AROUND : next;
		if (from > next)
			put_gap(listing);
		for (; from < at; from++)
			put_line(listing, code->lines[from].offset, code->lines[from].text, NULL);
		put_line(listing, sampled->at.offset, is_there ? code->lines[at].text : NULL,
			 sampled);
		next = at + is_there;
		/* Those behind it, as far as they are not before the next one. */
		until = next + AROUND < code->count ? next + AROUND : code->count;
		for (; next < until &&
		       (i + 1 == listing->count ||
			code->lines[next].offset < listing->sampled[i + 1]->at.offset);
		     next++)
			put_line(listing, code->lines[next].offset, code->lines[next].text, NULL);
	}
	if (next < code->count)
		put_gap(listing);
}

static void put_listing(FILE *file, struct listing *listing)
{
	uint64_t all = listing->table->all.samples;
	char name[2048], count[32];

	text__show(name, sizeof(name), listing->function->of.name, 0);
	if (!listing->function->code) {
		fprintf(file, "Instructions of %s: not disassembled\n\n", name);
		return;
	}
	fprintf(file, "Instructions of %s: %s samples, %.1f%% of all; shares are of these\n", name,
		text__count(count, listing->function->counts.samples),
		100.0 * listing->function->counts.samples / (all ? all : 1));
	put_lines(listing);
	if (listing->left_out)
		fprintf(file, " ... and %u more with %s samples (-n %u shows all)\n",
			listing->left_out, text__count(count, listing->samples_left_out),
			listing->left_out + listing->count);
	fprintf(file, "\n");
}

void pc_report__code(FILE *file, const struct pc_report *report)
{
	static const struct column columns[] = {
		{"share", "SHARE", 6, 0},
		{"samples", "SAMPLES", 11, 0},
		{"waits", "WAITS FOR", 40, COLUMN_LEFT},
		{"offset", "OFFSET", 8, 0},
		{"instruction", "INSTRUCTION", 0, COLUMN_LEFT},
	};
	const struct pc_table *table = report->table;

	for (uint32_t i = 0; i < table->function_count && i < MAX_FUNCTIONS && i < report->most;
	     i++) {
		struct listing listing = {
			.table = table,
			.function = &table->functions[i],
			.sampled = calloc(table->instruction_count + 1, sizeof(*listing.sampled)),
			.writer = {.file = file,
				   .columns = columns,
				   .count = sizeof(columns) / sizeof(columns[0]),
				   .indent = 1},
		};

		if (listing.sampled) {
			find_sampled(&listing, i, report->most);
			put_listing(file, &listing);
		}
		free(listing.sampled);
	}
}
