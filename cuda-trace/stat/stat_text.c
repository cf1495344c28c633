// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat` for people: kernels, processes, totals, and what should be known about their truth.
 */
#include "cuda-trace/stat/stat_observed.h"

#include <inttypes.h>
#include <math.h>
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/capture/yields.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/writer.h"

static void put_kernels(FILE *file, const struct stat_report *report)
{
	static const struct column columns[] = {
		{"share", "SHARE", 6, 0},
		{"total", "TOTAL", 8, 0},
		{"error", "+-", 8, COLUMN_WIDE},
		{"sampled", "SAMPLED", 9, COLUMN_WIDE},
		{"count", "COUNT", 11, 0},
		{"mean", "MEAN", 8, 0},
		{"min", "MIN", 8, 0},
		{"max", "MAX", 8, 0},
		{"grid", "GRID", 13, 0},
		{"block", "BLOCK", 10, 0},
		{"varies", "", 1, COLUMN_LEFT},
		{"kernel", "KERNEL", 0, COLUMN_LEFT},
	};
	const struct stat_table *table = report->table;
	struct writer writer = {
		.file = file,
		.columns = columns,
		.count = sizeof(columns) / sizeof(columns[0]),
		.indent = 1,
		.wide = table->sampled,
	};
	bool varies = false;
	uint32_t shown = 0;

	for (; shown < table->kernel_count && shown < report->most_kernels; shown++) {
		const struct stat_kernel *kernel = &table->kernels[shown];
		struct cell cells[sizeof(columns) / sizeof(columns[0])] = {};

		if (!shown)
			fprintf(file, table->sampled ? "Kernels by GPU time, estimated\n"
						     : "Kernels by GPU time\n");
		if (kernel->count) {
			cells[0] = cell_share((double)kernel->total_ns /
					      (table->totals.gpu_ns ? table->totals.gpu_ns : 1));
			cells[1] = cell_ns(kernel->total_ns);
			cells[2] = cell_ns(sqrt(kernel->error2));
			cells[3] = cell_count(kernel->sampled);
			cells[5] = cell_ns(kernel->total_ns / kernel->count);
			cells[6] = cell_ns(kernel->min_ns);
			cells[7] = cell_ns(kernel->max_ns);
		}
		if (kernel->shaped) {
			cells[8] = cell_triple(kernel->grid);
			cells[9] = cell_triple(kernel->block);
		}
		cells[4] = cell_count(kernel->count ? kernel->count : kernel->launches);
		varies |= kernel->varies;
		cells[10] = cell_text(kernel->varies ? "+" : " ");
		cells[11] = cell_text(kernel->name);
		writer__row(&writer, cells);
	}
	if (varies)
		fprintf(file, " + launched with other grids or blocks, too\n");
	if (shown < table->kernel_count)
		fprintf(file, " ... and %u more (-n %u shows all)\n", table->kernel_count - shown,
			table->kernel_count);
}

static void put_processes(FILE *file, const struct stat_report *report)
{
	static const struct column columns[] = {
		{"pid", "PID", 8, 0},
		{"rank", "RANK", 5, COLUMN_WIDE},
		{"process", "PROCESS", 15, COLUMN_LEFT},
		{"launches", "LAUNCHES", 12, 0},
		{"errors", "FAILED", 8, 0},
		{"graphs", "GRAPHS", 9, 0},
		{"kernels", "KERNELS", 12, 0},
		{"gpu", "GPU-TIME", 8, 0},
		{"source", "SOURCE", 6, COLUMN_LEFT},
		{"state", "STATE", 0, COLUMN_LEFT},
	};
	const struct stat_table *table = report->table;
	struct writer writer = {
		.file = file,
		.columns = columns,
		.count = sizeof(columns) / sizeof(columns[0]),
		.indent = 1,
	};
	uint32_t shown = 0;

	for (uint32_t i = 0; i < table->process_count; i++)
		writer.wide |= table->processes[i].rank.known;
	for (; shown < table->process_count && shown < report->most_kernels; shown++) {
		const struct stat_process *process = &table->processes[shown];
		const struct cell cells[] = {
			cell_number(process->pid),
			process->rank.known ? cell_number(process->rank.rank) : (struct cell){},
			cell_text(process->comm),
			cell_count(process->sums.launches),
			cell_count(process->sums.launch_errors + process->sums.graph_launch_errors),
			cell_count(process->sums.graph_launches),
			cell_count(process->sums.kernels),
			cell_ns(process->sums.gpu_ns),
			cell_text(process->source),
			cell_text(agent_state__key(&process->status)),
		};

		if (!shown)
			fprintf(file, "\nProcesses\n");
		writer__row(&writer, cells);
	}
	if (shown < table->process_count || table->processes_left_out)
		fprintf(file, " ... and %u more, counted in the totals\n",
			table->process_count - shown + table->processes_left_out);
}

static void put_totals(FILE *file, const struct stat_report *report)
{
	const struct stat_sums *totals = &report->table->totals;
	char launches[32], errors[32], graphs[32], kernels[32], gpu[16], watched[16], open[32];
	char count[32], failed[48] = "";
	uint64_t unfinished = stat_report__unfinished(totals);

	if (totals->graph_launch_errors)
		snprintf(failed, sizeof(failed), " (%s failed)",
			 text__count(count, totals->graph_launch_errors));
	fprintf(file,
		report->table->sampled ? "\n%s launches (%s failed), %s graph launches%s, %s "
					 "kernels; about %s of GPU "
					 "time in %s\n"
				       : "\n%s launches (%s failed), %s graph launches%s, %s "
					 "kernels; %s of GPU time "
					 "in %s\n",
		text__count(launches, totals->launches), text__count(errors, totals->launch_errors),
		text__count(graphs, totals->graph_launches), failed,
		text__count(kernels, totals->kernels), text__ns(gpu, totals->gpu_ns),
		text__ns(watched, report->duration_ns));
	if (report->table->sampled)
		stat_report__text_sample(file, report);
	else if (unfinished)
		fprintf(file, "%s launches had no finished kernel by the end\n",
			text__count(open, unfinished));
}

static const char *client_of(const struct stat_process *process)
{
	return *process->client ? process->client : process->status.holder;
}

static void put_yields(FILE *file, const struct stat_process *process)
{
	char client[80];

	if (process->yields)
		fprintf(file,
			"process %u: yielded CUPTI to %s %u time%s, for %.3f s: what ran then has "
			"no GPU "
			"times\n",
			process->pid,
			*client_of(process)
				? text__show(client, sizeof(client), client_of(process), 60)
				: "another client",
			process->yields, process->yields == 1 ? "" : "s",
			process->yielded_ns / 1e9);
}

static void put_notes(FILE *file, const struct stat_report *report)
{
	const struct stat_table *table = report->table;
	uint64_t told = 0;

	for (uint32_t i = 0; i < table->process_count && told < report->most_kernels; i++) {
		const struct stat_process *process = &table->processes[i];
		const char *trouble = agent_state__no_times(&process->status);
		char yields[160];

		put_yields(file, process);
		trouble = trouble ? trouble : process->no_agent;
		if (!trouble || process->status.reason == CUDA_INERT_FORKED)
			continue;
		told++;
		if (process->status.state == CUDA_STATE_YIELDED)
			trouble = yields__text(&process->status, client_of(process), yields,
					       sizeof(yields));
		fprintf(file, "process %u: no GPU times: %s\n", process->pid, trouble);
	}
}

void stat_report__text(FILE *file, const struct stat_report *report)
{
	if (!report->table->process_count)
		fprintf(file, "No CUDA activity was seen.\n");
	put_kernels(file, report);
	stat_report__text_events(file, report);
	stat_report__text_collectives(file, report);
	put_processes(file, report);
	put_totals(file, report);
	put_notes(file, report);
	stat_observed__text(file, report);
	if (report->left_out)
		left_out__print(report->left_out, file, "");
	if (losses__any(report->lost))
		losses__say(file, report->lost);
	else
		fprintf(file, stat_observed__all(report)
				      ? "nothing was lost\n"
				      : "nothing was lost of what was observed\n");
}
