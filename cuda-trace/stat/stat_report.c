// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: kernels, processes, totals, what should be known about their truth, and the order of all
 * sections. The keys of JSON are documented in cuda-trace-stat(1) and stay as they are.
 */
#include "cuda-trace/stat/stat_report.h"

#include <math.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/capture/yields.h"
#include "cuda-trace/collectives/collective_section.h"
#include "cuda-trace/proc/cgroup.h"
#include "cuda-trace/stat/stat_observed.h"
#include "cuda-trace/stat/stat_sections.h"

/* In text the times of a kernel are unknown if none of its launches was seen on the GPU. */
static void put_kernel(struct sheet *sheet, const struct stat_table *table,
		       const struct stat_kernel *kernel)
{
	uint64_t count = kernel->count ? kernel->count : 1;
	bool timed = kernel->count || sheet->json;

	sheet__column(sheet, 11, "KERNEL", 0, "name", cell_text(kernel->name));
	sheet__put(sheet, "launches", cell_number(kernel->launches));
	sheet__put(sheet, "launch_errors", cell_number(kernel->launch_errors));
	sheet__column(sheet, 4, "COUNT", 11, "count",
		      cell_count(timed ? kernel->count : kernel->launches));
	sheet__column(sheet, 1, "TOTAL", 8, "total_ns", cell_if(timed, cell_ns(kernel->total_ns)));
	sheet__column(sheet, 5, "MEAN", 8, "mean_ns",
		      cell_if(timed, cell_ns(kernel->total_ns / count)));
	sheet__column(sheet, 6, "MIN", 8, "min_ns", cell_if(timed, cell_ns(kernel->min_ns)));
	sheet__column(sheet, 7, "MAX", 8, "max_ns", cell_if(timed, cell_ns(kernel->max_ns)));
	sheet__column(
		sheet, 0, "SHARE", 6, "share",
		cell_if(timed, cell_share((double)kernel->total_ns /
					  (table->totals.gpu_ns ? table->totals.gpu_ns : 1))));
	sheet__column(sheet, 8, "GRID", 13, "grid",
		      cell_if(kernel->shaped, cell_triple(kernel->grid)));
	sheet__column(sheet, 9, "BLOCK", 10, "block",
		      cell_if(kernel->shaped, cell_triple(kernel->block)));
	sheet__column(sheet, 10, "", -1, NULL, cell_text(kernel->varies ? "+" : " "));
	sheet__put(sheet, "varies", cell_bool(kernel->varies));
	sheet__put(sheet, "estimated", cell_bool(table->sampled));
	if (!table->sampled)
		return;
	sheet__column(sheet, 2, "+-", 8, "total_ns_error",
		      cell_if(timed, cell_ns(sqrt(kernel->error2))));
	sheet__column(sheet, 3, "SAMPLED", 9, "sampled",
		      cell_if(timed, cell_count(kernel->sampled)));
}

static void put_kernels(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_table *table = report->table;
	bool varies = false;

	sheet__begin(sheet, "kernels",
		     table->sampled ? "Kernels by GPU time, estimated" : "Kernels by GPU time",
		     report->most_kernels);
	for (uint32_t i = 0; i < table->kernel_count; i++) {
		if (!sheet__row(sheet, NULL))
			continue;
		put_kernel(sheet, table, &table->kernels[i]);
		sheet__row_end(sheet);
		varies |= table->kernels[i].varies;
	}
	sheet__end(sheet);
	if (varies)
		sheet__say(sheet, " + launched with other grids or blocks, too\n");
	sheet__say_more(sheet);
}

static uint64_t without_kernel(const struct stat_sums *sums)
{
	uint64_t launched = sums->launches - sums->launch_errors;
	uint64_t done = sums->kernels - sums->graph_kernels;

	return launched > done ? launched - done : 0;
}

/* A recording does not have which these are: there, all launches count that have no kernel. */
static uint64_t untimed(const struct stat_sums *sums)
{
	uint64_t without = without_kernel(sums);

	return without < sums->untimed ? without : sums->untimed;
}

/* Launches whose kernel did not come: they had not finished, or were lost. */
static uint64_t unfinished(const struct stat_sums *sums)
{
	return without_kernel(sums) - untimed(sums);
}

static void put_sums(struct sheet *sheet, const struct stat_sums *sums, bool estimated)
{
	sheet__column(sheet, 3, "LAUNCHES", 12, "launches", cell_count(sums->launches));
	sheet__column(sheet, 4, "FAILED", 8, "launch_errors",
		      cell_count(sums->launch_errors + sums->graph_launch_errors));
	sheet__column(sheet, 5, "GRAPHS", 9, "graph_launches", cell_count(sums->graph_launches));
	sheet__put(sheet, "graph_launch_errors", cell_number(sums->graph_launch_errors));
	sheet__column(sheet, 6, "KERNELS", 12, "kernels", cell_count(sums->kernels));
	sheet__column(sheet, 7, "GPU-TIME", 8, "gpu_ns", cell_ns(sums->gpu_ns));
	/* What no window saw has not come; whether it ended nobody knows. */
	sheet__put(sheet, "unfinished", cell_if(!estimated, cell_number(unfinished(sums))));
	sheet__put(sheet, "untimed", cell_if(!estimated, cell_number(untimed(sums))));
	sheet__put(sheet, "memcpys", cell_number(sums->memcpys));
	sheet__put(sheet, "memcpy_bytes", cell_number(sums->memcpy_bytes));
	sheet__put(sheet, "memsets", cell_number(sums->memsets));
	sheet__put(sheet, "allocs", cell_number(sums->allocs));
	sheet__put(sheet, "frees", cell_number(sums->frees));
	sheet__put(sheet, "live_bytes", cell_number(sums->live_bytes));
	sheet__put(sheet, "untracked_allocs", cell_number(sums->untracked));
	sheet__put(sheet, "syncs", cell_number(sums->syncs));
	sheet__put(sheet, "sync_ns", cell_number(sums->sync_ns));
	sheet__put(sheet, "api_errors", cell_number(sums->api_errors));
	sheet__put(sheet, "estimated", cell_bool(estimated));
	if (!estimated)
		return;
	sheet__put(sheet, "gpu_ns_error", cell_number(sqrt(sums->gpu_error2)));
	sheet__put(sheet, "sampled_kernels", cell_number(sums->sampled_kernels));
	sheet__put(sheet, "unsampled_launches", cell_number(sums->unsampled_launches));
}

static const char *trouble_of(const struct stat_process *process)
{
	const char *trouble = agent_state__no_times(&process->status);

	return trouble ? trouble : process->no_agent;
}

static void put_agent(struct sheet *sheet, const struct stat_process *process)
{
	const struct cuda_status *status = &process->status;

	sheet__column(sheet, 9, "STATE", 0, "state", cell_text(agent_state__key(status)));
	if (trouble_of(process))
		sheet__put(sheet, "trouble", cell_text(trouble_of(process)));
	if (!status->version)
		return;
	sheet__put(sheet, "cupti_version", cell_number(status->cupti_version));
	sheet__put(sheet, "driver_version", cell_number(status->driver_version));
	sheet__put(sheet, "cupti_path", cell_text(status->cupti_path));
	sheet__put(sheet, "prime_us", cell_number(status->prime_us));
	sheet__put(sheet, "switch_us", cell_number(status->switch_us));
	sheet__put(sheet, "guest_resident_kib", cell_number(status->resident_kib));
	if (*status->holder)
		sheet__put(sheet, "holder", cell_text(status->holder));
	sheet__put(sheet, "yields", cell_number(process->yields));
	sheet__put(sheet, "yielded_ns", cell_number(process->yielded_ns));
	if (sheet->json && yields__since(status))
		sheet__put(sheet, "yielded_since", cell_real(yields__since(status)));
	if (*process->client)
		sheet__put(sheet, "client", cell_text(process->client));
}

/* Every process has a unit, or none. */
static bool is_placed(const struct origin *origin)
{
	return *origin->k8s_pod || *origin->container || *origin->slurm_job;
}

static void put_origin(struct sheet *sheet, const struct stat_process *process, bool named)
{
	char place[ORIGIN_TEXT_SIZE];

	for (int name = 0; name < ORIGIN_NAME_COUNT; name++) {
		const char *text = origin__name(&process->origin, name);

		sheet__put(sheet, origin__key(name), cell_if(*text, cell_text(text)));
	}
	origin__text(&process->origin, place);
	if (named)
		sheet__column(sheet, 9, "ORIGIN", 0, NULL, cell_if(*place, cell_text(place)));
}

static void put_process(struct sheet *sheet, const struct stat_process *process, bool ranked,
			bool named, bool estimated)
{
	const struct rank *rank = &process->rank;
	char container[16];

	cgroup__container(process->cgroup, container, sizeof(container));
	sheet__column(sheet, 0, "PID", 8, "pid", cell_number(process->pid));
	sheet__column(sheet, 2, "PROCESS", -15, "process", cell_text(process->comm));
	sheet__put(sheet, "uid", cell_number(process->uid));
	sheet__put(sheet, "cgroup", cell_text(process->cgroup));
	sheet__put(sheet, "container", cell_text(container));
	put_origin(sheet, process, named);
	sheet__column(sheet, ranked ? 1 : -1, "RANK", 5, "rank",
		      cell_if(rank->known, cell_number(rank->rank)));
	sheet__put(sheet, "local_rank", cell_if(rank->local >= 0, cell_number(rank->local)));
	sheet__put(sheet, "world_size", cell_if(rank->size >= 0, cell_number(rank->size)));
	put_sums(sheet, &process->sums, estimated);
	put_agent(sheet, process);
	sheet__column(sheet, 8, "SOURCE", -6, "source", cell_text(process->source));
	sheet__put(sheet, "observed_since_ns", stat_observed__since(process));
	sheet__put(sheet, "exit_status",
		   cell_if(process->exit_status >= 0, cell_number(process->exit_status)));
}

static void put_processes(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_table *table = report->table;
	uint64_t more;
	bool ranked = false, named = false;

	for (uint32_t i = 0; i < table->process_count; i++) {
		ranked |= table->processes[i].rank.known;
		named |= is_placed(&table->processes[i].origin);
	}
	sheet__begin(sheet, "processes", "\nProcesses", report->most_kernels);
	for (uint32_t i = 0; i < table->process_count; i++) {
		if (!sheet__row(sheet, NULL))
			continue;
		put_process(sheet, &table->processes[i], ranked, named, table->sampled);
		sheet__row_end(sheet);
	}
	sheet__end(sheet);
	more = sheet->left + table->processes_left_out;
	if (more)
		sheet__say(sheet, " ... and %llu more, counted in the totals\n",
			   (unsigned long long)more);
}

static void say_totals(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_sums *totals = &report->table->totals;
	char launches[32], errors[32], graphs[32], kernels[32], gpu[16], watched[16], open[32];
	char count[32], failed[48] = "";

	if (totals->graph_launch_errors)
		snprintf(failed, sizeof(failed), " (%s failed)",
			 text__count(count, totals->graph_launch_errors));
	sheet__say(sheet,
		   "\n%s launches (%s failed), %s graph launches%s, %s kernels; %s%s of GPU time "
		   "in %s\n",
		   text__count(launches, totals->launches),
		   text__count(errors, totals->launch_errors),
		   text__count(graphs, totals->graph_launches), failed,
		   text__count(kernels, totals->kernels), report->table->sampled ? "about " : "",
		   text__ns(gpu, totals->gpu_ns), text__ns(watched, report->duration_ns));
	if (report->table->sampled)
		stat_sections__sample(sheet, report);
	else if (unfinished(totals))
		sheet__say(sheet, "%s launches had no finished kernel by the end\n",
			   text__count(open, unfinished(totals)));
}

static const char *client_of(const struct stat_process *process)
{
	return *process->client ? process->client : process->status.holder;
}

static void say_yields(struct sheet *sheet, const struct stat_process *process)
{
	char client[80];

	if (process->yields)
		sheet__say(
			sheet,
			"process %u: yielded CUPTI to %s %u time%s, for %.3f s: what ran then has "
			"no GPU times\n",
			process->pid,
			*client_of(process)
				? text__show(client, sizeof(client), client_of(process), 60)
				: "another client",
			process->yields, process->yields == 1 ? "" : "s",
			process->yielded_ns / 1e9);
}

static void say_notes(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_table *table = report->table;
	uint64_t shown = 0;

	for (uint32_t i = 0; i < table->process_count && shown < report->most_kernels; i++) {
		const struct stat_process *process = &table->processes[i];
		const char *trouble = trouble_of(process);
		char yields[160];

		say_yields(sheet, process);
		if (!trouble || process->status.reason == CUDA_INERT_FORKED)
			continue;
		shown++;
		if (process->status.state == CUDA_STATE_YIELDED)
			trouble = yields__text(&process->status, client_of(process), yields,
					       sizeof(yields));
		sheet__say(sheet, "process %u: no GPU times: %s\n", process->pid, trouble);
	}
}

static const char *source_of(const struct stat_table *table)
{
	if (!table->process_count)
		return "none";
	for (uint32_t i = 1; i < table->process_count; i++)
		if (strcmp(table->processes[i].source, table->processes[0].source))
			return "mixed";
	return table->processes[0].source;
}

static void say_no_activity(FILE *file, const struct stat_report *report)
{
	fprintf(file, "No CUDA activity was seen: %s%s.\n",
		report->session ? losses__no_activity(report->started, report->lost)
				: "the recording contains no CUDA process",
		stat_observed__all(report) ? "" : ", as far as it was observed");
}

static void put_collectives(struct sheet *sheet, const struct stat_report *report)
{
	collective_section__put(sheet, &report->table->comms, report->most_kernels);
}

void stat_report__text(FILE *file, const struct stat_report *report)
{
	static stat_section *const sections[] = {
		put_kernels,
		stat_sections__by,
		stat_sections__copies,
		stat_sections__memory,
		stat_sections__unified,
		stat_sections__syncs,
		stat_sections__calls,
		stat_sections__graphs,
		stat_sections__nvtx,
		stat_sections__ranges,
		stat_sections__overhead,
		stat_sections__jit,
		stat_sections__pools,
		stat_sections__devices,
		stat_sections__contexts,
		stat_sections__streams,
		stat_sections__errors,
		stat_sections__windows,
		stat_sections__time,
		stat_sections__shares,
		stat_sections__idle,
		stat_sections__energy,
		put_collectives,
		put_processes,
		say_totals,
		say_notes,
		stat_observed__missed,
	};
	struct sheet sheet = {.file = file};

	if (!report->table->process_count)
		say_no_activity(file, report);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i](&sheet, report);
	if (report->left_out)
		left_out__print(report->left_out, file, "");
	if (losses__any(report->lost))
		losses__say(file, report->lost);
	else
		fprintf(file, stat_observed__all(report)
				      ? "nothing was lost\n"
				      : "nothing was lost of what was observed\n");
}

void stat_report__json(FILE *file, const struct stat_report *report)
{
	static stat_section *const sections[] = {
		put_kernels,
		stat_sections__by,
		stat_sections__copies,
		stat_sections__memory,
		stat_sections__syncs,
		stat_sections__calls,
		stat_sections__graphs,
		stat_sections__errors,
		stat_sections__nvtx,
		stat_sections__unified,
		stat_sections__overhead,
		stat_sections__jit,
		stat_sections__windows,
		stat_sections__time,
		stat_sections__shares,
		stat_sections__idle,
		stat_sections__energy,
		stat_sections__ranges,
		put_collectives,
		stat_sections__devices,
		stat_sections__contexts,
		stat_sections__streams,
		stat_sections__pools,
		stat_sections__objects_left_out,
	};
	struct sheet sheet = {.file = file, .json = true, .plain = true};

	sheet__open(&sheet, NULL, '{');
	sheet__put(&sheet, "duration_ns", cell_number(report->duration_ns));
	sheet__put(&sheet, "first_record_ms",
		   cell_if(report->first_record_ns >= 0, cell_real(report->first_record_ns / 1e6)));
	sheet__put(&sheet, "source", cell_text(source_of(report->table)));
	sheet__put(&sheet, "driver_launches", cell_text(report->driver_launches));
	sheet__open(&sheet, "totals", '{');
	put_sums(&sheet, &report->table->totals, report->table->sampled);
	sheet__close(&sheet);
	if (report->table->sampled)
		stat_sections__sample(&sheet, report);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i](&sheet, report);
	losses__put_left_out(&sheet, report->left_out);
	put_processes(&sheet, report);
	stat_observed__missed(&sheet, report);
	losses__put(&sheet, report->lost);
	sheet__close(&sheet);
}
