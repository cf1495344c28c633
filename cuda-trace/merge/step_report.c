// SPDX-License-Identifier: BSD-2-Clause
/* Reads what there is, and says which rank differs from the others. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/merge/steps.h"

#define NOTABLE	     1.2  /* times the middle of all ranks */
#define NOTABLE_PART 0.02 /* of the step, at least */

struct step_rank *step_ranks__add(struct step_ranks *ranks)
{
	if (ranks->count == STEP_RANKS_MAX) {
		ranks->left_out++;
		return NULL;
	}
	if (!array_grow__for_one(ranks->list, ranks->capacity, ranks->count))
		return NULL;
	ranks->list[ranks->count] = (struct step_rank){.rank = -1};
	return &ranks->list[ranks->count++];
}

/* No output goes over it. */
static bool note_input(struct step_ranks *ranks, const char *path)
{
	if (!array_grow__for_one(ranks->inputs, ranks->input_capacity, ranks->input_count))
		return false;
	ranks->inputs[ranks->input_count] = strdup(path);
	return ranks->inputs[ranks->input_count++];
}

static int add_file(struct step_ranks *ranks, const char *path)
{
	struct report_file file;
	char shown[512];
	FILE *in;
	int err;

	if (!note_input(ranks, path))
		return -ENOMEM;
	if (output_file__is_recording(path)) {
		err = report_file__open(&file, path);
		if (err)
			return err;
		err = step_read__recording(ranks, &file);
		report_file__close(&file);
		return err;
	}
	in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	if (!in) {
		err = -errno;
		fprintf(stderr, "cuda-trace report: cannot read %s: %s\n",
			text__show(shown, sizeof(shown), path, 120), strerror(-err));
		return err;
	}
	err = step_lines__read(ranks, in, path);
	if (in != stdin)
		fclose(in);
	return err;
}

/* Recordings and summaries; neither what is still recorded nor what was replaced. */
static int is_wanted(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && end &&
	       (!strcmp(end, ".db") || !strcmp(end, ".sqlite") || !strcmp(end, ".json") ||
		!strcmp(end, ".jsonl"));
}

static int add_folder(struct step_ranks *ranks, const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_wanted, alphasort), err = 0;
	char shown[512];

	text__show(shown, sizeof(shown), folder, 120);
	if (count < 0) {
		err = -errno;
		fprintf(stderr, "cuda-trace report: cannot read %s: %s\n", shown, strerror(-err));
		return err;
	}
	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			path = NULL;
		if (!path || add_file(ranks, path))
			err = err ? err : -EIO;
		free(path);
		free(entries[i]);
	}
	free(entries);
	if (!count)
		fprintf(stderr, "cuda-trace report: %s has neither recordings nor summaries\n",
			shown);
	return count ? err : -ENOENT;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct step_rank *first = a, *second = b;
	int hosts = strcmp(first->host, second->host);

	if (first->rank != second->rank)
		return (first->rank > second->rank) - (first->rank < second->rank);
	if (hosts)
		return hosts;
	return (first->pid > second->pid) - (first->pid < second->pid);
}

/* A rank's kernels of a name. */
struct entry {
	const struct step_rank *rank;
	const struct step_group *group;
};

struct difference {
	struct entry entry;
	uint64_t middle, excess;
};

static int compare_entries(const void *a, const void *b)
{
	const struct step_group *first = ((const struct entry *)a)->group;
	const struct step_group *second = ((const struct entry *)b)->group;
	int names = strcmp(first->name, second->name);

	return names ? names : (first->ns.p50 > second->ns.p50) - (first->ns.p50 < second->ns.p50);
}

/* By name, then by time. */
static struct entry *list_entries(const struct step_ranks *ranks, size_t *count)
{
	struct entry *list = calloc((size_t)ranks->count * STEP_GROUPS_MAX, sizeof(*list));

	*count = 0;
	for (uint32_t i = 0; list && i < ranks->count; i++)
		for (uint32_t j = 0; j < ranks->list[i].group_count; j++)
			list[(*count)++] =
				(struct entry){&ranks->list[i], &ranks->list[i].groups[j]};
	if (list)
		qsort(list, *count, sizeof(*list), compare_entries);
	return list;
}

/* Of the entries of one name, in order. */
static void compare_name(const struct entry *list, size_t count, struct difference *worst)
{
	uint64_t middle = list[(count - 1) / 2].group->ns.p50;

	/* Kernels of NCCL wait for others: they are long where a rank is early. */
	if (count < 3 || !middle || !strncmp(list->group->name, "nccl", 4))
		return;
	for (size_t i = (count - 1) / 2; i < count; i++) {
		uint64_t excess = list[i].group->ns.p50 - middle;

		if (list[i].group->ns.p50 >= NOTABLE * middle && excess > worst->excess &&
		    excess >= NOTABLE_PART * list[i].rank->step.p50)
			*worst = (struct difference){list[i], middle, excess};
	}
}

/* Which rank loses the most to the middle of the ranks with which kernels. */
static struct difference find_difference(const struct step_ranks *ranks)
{
	struct difference worst = {};
	size_t count, end;
	struct entry *list = list_entries(ranks, &count);

	for (size_t i = 0; list && i < count; i = end) {
		for (end = i; end < count; end++)
			if (strcmp(list[end].group->name, list[i].group->name) != 0)
				break;
		compare_name(&list[i], end - i, &worst);
	}
	free(list);
	return worst;
}

/* The cause of the most idle time. */
static void put_cause(struct sheet *sheet, const struct step_rank *rank)
{
	const struct step_part *cause = rank->causes.count ? &rank->causes.list[0] : NULL;
	char text[48] = "", middle[16];

	if (*rank->idle_unknown)
		snprintf(text, sizeof(text), "not known");
	else if (cause)
		snprintf(text, sizeof(text), "%s (%s)", text__ns(middle, cause->ns.p50),
			 cause->name);
	sheet__column(sheet, 8, "IDLE-P50 (CAUSE)", 0, NULL, cell_if(*text, cell_text(text)));
}

static void put_rank(struct sheet *sheet, const struct step_rank *rank, bool causes)
{
	if (!sheet__row(sheet, NULL))
		return;
	sheet__column(sheet, 0, "RANK", 5, NULL, cell_if(rank->rank >= 0, cell_signed(rank->rank)));
	sheet__column(sheet, 1, "HOST", -12, NULL, cell_text(rank->host));
	sheet__column(sheet, 2, "PROCESS", -12, NULL, cell_text(rank->process));
	sheet__column(sheet, 3, "STEPS", 6, NULL, cell_count(rank->steps));
	sheet__column(sheet, 4, "P50", 8, NULL, cell_ns(rank->step.p50));
	sheet__column(sheet, 5, "P99", 8, NULL, cell_ns(rank->step.p99));
	sheet__column(sheet, 6, "GPU-P50", 8, NULL, cell_ns(rank->busy.p50));
	sheet__column(sheet, 7, "NCCL-P50", 8, NULL, cell_ns(rank->nccl.p50));
	if (causes)
		put_cause(sheet, rank);
	sheet__row_end(sheet);
}

/* The reason of the first one is enough: the lines of JSON have each. */
static void say_unknown(FILE *out, const struct step_ranks *ranks)
{
	const struct step_rank *first = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < ranks->count; i++) {
		if (!*ranks->list[i].idle_unknown)
			continue;
		first = first ? first : &ranks->list[i];
		count++;
	}
	if (!count)
		return;
	fprintf(out, "\nWhy the GPUs of %u of %u ranks were idle is not known: %s%s.\n", count,
		ranks->count, first->idle_unknown, count > 1 ? " (the first of them)" : "");
}

static void write_text(FILE *out, const struct step_ranks *ranks, uint64_t most)
{
	struct sheet sheet = {.file = out};
	struct difference worst = find_difference(ranks);
	const struct step_rank *rank = worst.entry.rank;
	char title[160], took[16], middle[16];
	bool causes = false;

	snprintf(title, sizeof(title), "Steps (NVTX ranges '%s')", ranks->list[0].range);
	for (uint32_t i = 0; i < ranks->count; i++)
		causes |= ranks->list[i].causes.count > 0 || *ranks->list[i].idle_unknown;
	sheet__begin(&sheet, "ranks", title, most);
	for (uint32_t i = 0; i < ranks->count; i++)
		put_rank(&sheet, &ranks->list[i], causes);
	sheet__end(&sheet);
	say_unknown(out, ranks);
	if (!rank)
		return;
	if (rank->rank >= 0)
		fprintf(out, "\nRank %lld (host %s)", (long long)rank->rank, rank->host);
	else
		fprintf(out, "\nProcess %u (host %s)", rank->pid, rank->host);
	fprintf(out, " takes %s a step for %s, and half of the ranks at most %s.\n",
		text__ns(took, worst.entry.group->ns.p50), worst.entry.group->name,
		text__ns(middle, worst.middle));
}

/* Those in order. A folder may have the recording of a rank, and its summary. */
static void drop_repeated(struct step_ranks *ranks)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < ranks->count; i++) {
		const struct step_rank *rank = &ranks->list[i], *before = rank - (i - left) - 1;

		if (left && !compare_ranks(before, rank) && before->steps == rank->steps &&
		    !strcmp(before->range, rank->range))
			continue;
		ranks->list[left++] = *rank;
	}
	if (left < ranks->count)
		fprintf(stderr,
			"cuda-trace report: %u ranks are in several of the files, and count "
			"once\n",
			ranks->count - left);
	ranks->count = left;
}

static void release(struct step_ranks *ranks)
{
	for (uint32_t i = 0; i < ranks->input_count; i++)
		free(ranks->inputs[i]);
	free(ranks->inputs);
	free(ranks->list);
}

static int write_all(const struct step_options *options, struct step_ranks *ranks)
{
	struct output_file output;
	int err;

	if (!array_grow__for_one(ranks->inputs, ranks->input_capacity, ranks->input_count))
		return -ENOMEM;
	ranks->inputs[ranks->input_count] = NULL;
	err = output_file__open(&output, "report", options->output,
				(const char *const *)ranks->inputs);
	if (err)
		return err;
	qsort(ranks->list, ranks->count, sizeof(*ranks->list), compare_ranks);
	drop_repeated(ranks);
	for (uint32_t i = 0; options->json && i < ranks->count; i++)
		step_lines__write(output.file, &ranks->list[i]);
	if (!options->json)
		write_text(output.file, ranks, options->most);
	return output_file__close(&output, 0);
}

int step_report__run(const struct step_options *options, char **paths)
{
	struct step_ranks ranks = {.range = options->range};
	int err = 0, error;

	for (; *paths; paths++) {
		struct stat st;
		bool is_folder = !stat(*paths, &st) && S_ISDIR(st.st_mode);

		error = (is_folder ? add_folder : add_file)(&ranks, *paths);
		err = err ? err : error;
	}
	if (ranks.left_out)
		fprintf(stderr, "cuda-trace report: %u ranks more than %d are left out\n",
			ranks.left_out, STEP_RANKS_MAX);
	if (!ranks.count && !err)
		fprintf(stderr,
			"cuda-trace report: no range '%s' is in these recordings: record with -e "
			"kernels,nvtx, or name another one by --step-range\n",
			options->range);
	error = ranks.count ? write_all(options, &ranks) : -ENOENT;
	release(&ranks);
	return err || error ? EXIT_TROUBLE : EXIT_OK;
}
