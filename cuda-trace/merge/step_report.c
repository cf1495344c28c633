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

static int compare_times(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return (first > second) - (first < second);
}

void step_ranks__sort(uint64_t *times, uint32_t count)
{
	qsort(times, count, sizeof(*times), compare_times);
}

static int add_file(struct step_ranks *ranks, const char *path)
{
	struct report_file file;
	FILE *in;
	int err;

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
		fprintf(stderr, "cuda-trace report: cannot read %s: %s\n", path, strerror(-err));
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
	       (!strcmp(end, ".db") || !strcmp(end, ".sqlite") || !strcmp(end, ".zst") ||
		!strcmp(end, ".json") || !strcmp(end, ".jsonl"));
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

/* The group of this name on another rank; NULL = it is not among its longest. */
static const struct step_group *find(const struct step_rank *rank, const char *name)
{
	for (uint32_t i = 0; i < rank->group_count; i++)
		if (!strcmp(rank->groups[i].name, name))
			return &rank->groups[i];
	return NULL;
}

/* The middle of what ranks take for it; 0 = fewer than three have it. */
static uint64_t middle_of(const struct step_ranks *ranks, const char *name, uint64_t *times)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ranks->count; i++) {
		const struct step_group *group = find(&ranks->list[i], name);

		if (group)
			times[count++] = group->ns.p50;
	}
	if (count < 3)
		return 0;
	step_ranks__sort(times, count);
	return times[(count - 1) / 2];
}

struct difference {
	const struct step_rank *rank;
	const struct step_group *group;
	uint64_t middle, excess;
};

/* Which rank loses the most to the middle of the ranks with which kernels. Those of NCCL wait for
 * others: they are long where a rank is early. */
static struct difference find_difference(const struct step_ranks *ranks, uint64_t *times)
{
	struct difference worst = {};

	for (uint32_t i = 0; i < ranks->count; i++)
		for (uint32_t j = 0; j < ranks->list[i].group_count; j++) {
			const struct step_rank *rank = &ranks->list[i];
			const struct step_group *group = &rank->groups[j];
			uint64_t middle;

			if (group->ns.p50 <= worst.excess || !strncmp(group->name, "nccl", 4))
				continue;
			middle = middle_of(ranks, group->name, times);
			if (!middle || group->ns.p50 < NOTABLE * middle ||
			    group->ns.p50 - middle < NOTABLE_PART * rank->step.p50 ||
			    group->ns.p50 - middle <= worst.excess)
				continue;
			worst = (struct difference){rank, group, middle, group->ns.p50 - middle};
		}
	return worst;
}

static void put_rank(struct sheet *sheet, const struct step_rank *rank)
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
	sheet__row_end(sheet);
}

static void write_text(FILE *out, const struct step_ranks *ranks, uint64_t most)
{
	struct sheet sheet = {.file = out};
	uint64_t *times = calloc(ranks->count + 1, sizeof(*times));
	struct difference worst = {};
	char title[160], took[16], middle[16];

	snprintf(title, sizeof(title), "Steps (NVTX ranges '%s')", ranks->list[0].range);
	sheet__begin(&sheet, "ranks", title, most);
	for (uint32_t i = 0; i < ranks->count; i++)
		put_rank(&sheet, &ranks->list[i]);
	sheet__end(&sheet);
	if (times)
		worst = find_difference(ranks, times);
	if (worst.rank && worst.rank->rank >= 0)
		fprintf(out, "\nRank %lld (host %s)", (long long)worst.rank->rank,
			worst.rank->host);
	else if (worst.rank)
		fprintf(out, "\nProcess %u (host %s)", worst.rank->pid, worst.rank->host);
	if (worst.rank)
		fprintf(out, " takes %s a step for %s, and half of the ranks at most %s.\n",
			text__ns(took, worst.group->ns.p50), worst.group->name,
			text__ns(middle, worst.middle));
	free(times);
}

int step_report__run(const struct step_options *options, char **paths)
{
	struct step_ranks ranks = {.range = options->range};
	const char *const *inputs = (const char *const *)paths;
	struct output_file output;
	int err = 0, closed;

	for (; *paths; paths++) {
		struct stat st;
		bool is_folder = !stat(*paths, &st) && S_ISDIR(st.st_mode);
		int error = (is_folder ? add_folder : add_file)(&ranks, *paths);

		err = err ? err : error;
	}
	if (ranks.left_out)
		fprintf(stderr, "cuda-trace report: %u ranks more than %d are left out\n",
			ranks.left_out, STEP_RANKS_MAX);
	if (!ranks.count) {
		if (!err)
			fprintf(stderr,
				"cuda-trace report: no range '%s' is in these recordings: record "
				"with -e kernels,nvtx, or name another one by --step-range\n",
				options->range);
		return EXIT_TROUBLE;
	}
	if (output_file__open(&output, "report", options->output, inputs)) {
		free(ranks.list);
		return EXIT_TROUBLE;
	}
	qsort(ranks.list, ranks.count, sizeof(*ranks.list), compare_ranks);
	for (uint32_t i = 0; options->json && i < ranks.count; i++)
		step_lines__write(output.file, &ranks.list[i]);
	if (!options->json)
		write_text(output.file, &ranks, options->most);
	closed = output_file__close(&output, 0);
	free(ranks.list);
	return err || closed ? EXIT_TROUBLE : EXIT_OK;
}
