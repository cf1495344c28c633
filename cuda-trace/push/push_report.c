// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_report.h"

#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/profile/pc/pc_table.h"

static const char *const keys[PUSH_LOST_COUNT] = {
#define PUSH_LOST_KEY(name, key, text) key,
	PUSH_LOST_REASONS(PUSH_LOST_KEY)
#undef PUSH_LOST_KEY
};

static const char *const texts[PUSH_LOST_COUNT] = {
#define PUSH_LOST_TEXT(name, key, text) text,
	PUSH_LOST_REASONS(PUSH_LOST_TEXT)
#undef PUSH_LOST_TEXT
};

const char *push_report__note(const struct push_stall_counts *counts)
{
	const struct pc_table table = {
		.total = counts->total, .dropped = counts->dropped, .other = counts->other};

	return pc_table__note(&table);
}

static uint64_t lost_of(const struct push_tally *tally)
{
	uint64_t sum = 0;

	for (int i = 0; i < PUSH_LOST_COUNT; i++)
		sum += tally->lost[i];
	return sum;
}

/* Kernels that are in no profile. */
static uint64_t unpacked(const struct push_report *report)
{
	return report->seen->kernels - report->counts->kernels.produced;
}

/* Samples that are in no profile. */
static uint64_t unpacked_samples(const struct push_report *report)
{
	const struct push_stall_counts *stalls = report->stalls;

	return stalls->placed + stalls->dropped - report->counts->samples.produced;
}

/* Those that are in a profile as dropped are counted apart. */
static bool any_sample_lost(const struct push_report *report)
{
	const struct push_stall_counts *stalls = report->stalls;

	return unpacked_samples(report) || stalls->dropped || stalls->unplaced || stalls->overflows;
}

static void say_samples(FILE *file, const struct push_report *report)
{
	const struct push_stall_counts *stalls = report->stalls;
	const char *note = push_report__note(stalls);
	char windows[32], total[32], one[32], other[32];

	fprintf(file, "%s windows, %s samples, %s of them of kernels that are not the program's\n",
		text__count(windows, stalls->windows), text__count(total, stalls->total),
		text__count(other, stalls->other));
	if (stalls->dropped)
		fprintf(file, "lost: %s samples, which the GPU dropped\n",
			text__count(one, stalls->dropped));
	if (stalls->unplaced)
		fprintf(file, "lost: %s samples, which CUPTI did not report one by one\n",
			text__count(one, stalls->unplaced));
	if (stalls->overflows)
		fprintf(file, "lost: %s windows are incomplete\n",
			text__count(one, stalls->overflows));
	if (unpacked_samples(report))
		fprintf(file, "lost: %s samples are in no profile: there was no space for them\n",
			text__count(one, unpacked_samples(report)));
	if (note)
		fprintf(file, "%s\n", note);
}

static void say_tally(FILE *file, const struct push_tally *tally, const char *what)
{
	char produced[32], sent[32], other[32];

	fprintf(file, "%s of %s %s sent", text__count(sent, tally->sent),
		text__count(produced, tally->produced + tally->found), what);
	if (tally->queued)
		fprintf(file, ", %s wait in the queue's folder", text__count(other, tally->queued));
	if (lost_of(tally))
		fprintf(file, ", %s lost", text__count(other, lost_of(tally)));
	putc('\n', file);
}

static void say_lost(FILE *file, const struct push_report *report)
{
	const struct push_counts *counts = report->counts;
	char profiles[32], kernels[32];

	for (int i = 0; i < PUSH_LOST_COUNT; i++)
		if (counts->profiles.lost[i] || counts->metrics.lost[i])
			fprintf(file, "lost: %s profiles with %s %s: %s\n",
				text__count(profiles, counts->profiles.lost[i]),
				text__count(kernels, report->samples ? counts->samples.lost[i]
								     : counts->kernels.lost[i]),
				report->samples ? "samples" : "kernels", texts[i]);
	if (unpacked(report))
		fprintf(file, "lost: %s kernels are in no profile: there was no space for them\n",
			text__count(kernels, unpacked(report)));
	if (report->stacks->lost)
		fprintf(file, "lost: %s call stacks: there was no space for them\n",
			text__count(kernels, report->stacks->lost));
}

void push_report__text(FILE *file, const struct push_report *report)
{
	const struct push_counts *counts = report->counts;
	char requests[32], failed[32];

	say_tally(file, &counts->profiles, "profiles");
	if (!report->samples || counts->kernels.found)
		say_tally(file, &counts->kernels, "kernels");
	if (report->samples || counts->samples.found)
		say_tally(file, &counts->samples, "samples");
	if (counts->metrics.produced || counts->metrics.found)
		say_tally(file, &counts->metrics, "sets of metrics");
	fprintf(file, "%s requests, %s failed\n", text__count(requests, counts->requests),
		text__count(failed, counts->failed));
	if (report->samples)
		say_samples(file, report);
	say_lost(file, report);
	if (losses__any(report->lost))
		losses__say(file, report->lost);
	else if (!lost_of(&counts->profiles) && !unpacked(report) && !report->stacks->lost &&
		 !any_sample_lost(report))
		fprintf(file, "nothing was lost of what was observed\n");
}

static void put_tally(struct sheet *sheet, const char *name, const struct push_tally *tally)
{
	sheet__open(sheet, name, '{');
	sheet__put(sheet, "produced", cell_number(tally->produced));
	sheet__put(sheet, "found", cell_number(tally->found));
	sheet__put(sheet, "sent", cell_number(tally->sent));
	sheet__put(sheet, "queued", cell_number(tally->queued));
	sheet__open(sheet, "lost", '{');
	sheet__put(sheet, "total", cell_number(lost_of(tally)));
	for (int i = 0; i < PUSH_LOST_COUNT; i++)
		sheet__put(sheet, keys[i], cell_number(tally->lost[i]));
	sheet__close(sheet);
	sheet__close(sheet);
}

/* null where the profiles are of kernels. */
static void put_samples(struct sheet *sheet, const struct push_report *report)
{
	const struct push_stall_counts *stalls = report->stalls;
	const char *note = push_report__note(stalls);

	if (!report->samples) {
		sheet__put(sheet, "pc", cell_text(NULL));
		return;
	}
	sheet__open(sheet, "pc", '{');
	sheet__put(sheet, "windows", cell_number(stalls->windows));
	sheet__put(sheet, "window_ns", cell_number(stalls->window_ns));
	sheet__put(sheet, "held_ns", cell_number(stalls->held_ns));
	sheet__put(sheet, "overflows", cell_number(stalls->overflows));
	sheet__put(sheet, "total", cell_number(stalls->total));
	sheet__put(sheet, "placed", cell_number(stalls->placed));
	sheet__put(sheet, "dropped", cell_number(stalls->dropped));
	sheet__put(sheet, "other", cell_number(stalls->other));
	sheet__put(sheet, "unplaced", cell_number(stalls->unplaced));
	sheet__put(sheet, "in_no_profile", cell_number(unpacked_samples(report)));
	sheet__put(sheet, "note", cell_text(note));
	sheet__close(sheet);
}

void push_report__json(FILE *file, const struct push_report *report)
{
	const struct push_counts *counts = report->counts;
	struct sheet sheet = {.file = file, .json = true};

	sheet__open(&sheet, NULL, '{');
	sheet__put(&sheet, "format", cell_text(report->format));
	put_tally(&sheet, "profiles", &counts->profiles);
	put_tally(&sheet, "kernels", &counts->kernels);
	put_tally(&sheet, "samples", &counts->samples);
	put_tally(&sheet, "metrics", &counts->metrics);
	sheet__open(&sheet, "requests", '{');
	sheet__put(&sheet, "made", cell_number(counts->requests));
	sheet__put(&sheet, "failed", cell_number(counts->failed));
	sheet__put(&sheet, "bytes", cell_number(counts->bytes));
	sheet__put(&sheet, "write_errors", cell_number(counts->write_errors));
	sheet__close(&sheet);
	sheet__open(&sheet, "observed", '{');
	sheet__put(&sheet, "kernels", cell_number(report->seen->kernels));
	sheet__put(&sheet, "in_no_profile", cell_number(unpacked(report)));
	sheet__put(&sheet, "stack_period", cell_number(report->period));
	sheet__put(&sheet, "stacks", cell_number(report->stacks->samples));
	sheet__put(&sheet, "stacks_lost", cell_number(report->stacks->lost));
	sheet__close(&sheet);
	put_samples(&sheet, report);
	losses__put(&sheet, report->lost);
	sheet__close(&sheet);
	putc('\n', file);
}
