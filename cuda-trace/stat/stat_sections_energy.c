// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat --energy`: joules by kernel and process, and what of the meters' readings is nobody's.
 */
#include <stdio.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/energy/energy.h"
#include "cuda-trace/stat/stat_sections.h"

static const char *of_watts(char text[24], double watts)
{
	if (watts < 0)
		return "-";
	snprintf(text, 24, "%.1f W", watts);
	return text;
}

static double share_of(double joules, double all)
{
	return all > 0 ? joules / all : 0;
}

static void say_gpu(struct sheet *sheet, const struct energy_gpu *gpu, const char *uuid)
{
	char watts[24];

	sheet__say(sheet, " meter of %-20.12s %12.3f J\n", uuid, gpu->meter);
	sheet__say(sheet, "   kernels and copies          %12.3f J %5.1f%%  +- %.3f J\n", gpu->work,
		   100 * share_of(gpu->work, gpu->meter), gpu->error);
	sheet__say(sheet, "   idle                        %12.3f J %5.1f%%  at %s\n", gpu->idle,
		   100 * share_of(gpu->idle, gpu->meter), of_watts(watts, gpu->idle_watts));
	sheet__say(sheet, "   not attributed              %12.3f J %5.1f%%\n", gpu->unattributed,
		   100 * share_of(gpu->unattributed, gpu->meter));
}

static void put_gpu(struct sheet *sheet, const struct energy_gpu *gpu)
{
	char uuid[48];

	stat_objects__uuid(uuid, "GPU", gpu->uuid);
	sheet__open(sheet, NULL, '{');
	sheet__put(sheet, "uuid", cell_text(uuid));
	sheet__put(sheet, "meter_joules", cell_real(gpu->meter));
	sheet__put(sheet, "attributed_joules", cell_real(gpu->work));
	sheet__put(sheet, "idle_joules", cell_real(gpu->idle));
	sheet__put(sheet, "unattributed_joules", cell_real(gpu->unattributed));
	sheet__put(sheet, "error_joules", cell_real(gpu->error));
	sheet__put(sheet, "idle_watts", cell_if(gpu->idle_watts >= 0, cell_real(gpu->idle_watts)));
	sheet__put(sheet, "lag_ns", cell_if(gpu->lag_ns >= 0, cell_number(gpu->lag_ns)));
	sheet__close(sheet);
	/* Of many GPUs, in text those that worked. */
	if (gpu->work > 0 || gpu->unattributed > 0)
		say_gpu(sheet, gpu, uuid);
}

static const char *const bases[] = {
	[ENERGY_BY_TIME] = "by time",
	[ENERGY_SHORT] = "short",
	[ENERGY_NOT_SEPARABLE] = "not separable",
	[ENERGY_REGRESSION] = "regression",
};

/* Objects of "kernels" and "processes". */
static void put_watts(struct sheet *sheet, const struct energy_line *line, double watts)
{
	bool known = line->basis == ENERGY_REGRESSION;

	sheet__put(sheet, "joules", cell_real(line->joules));
	sheet__put(sheet, "joules_by_time", cell_real(line->joules_by_time));
	sheet__put(sheet, "ns", cell_number(line->ns));
	sheet__put(sheet, "watts", cell_real(watts));
	sheet__put(sheet, "watts_error", cell_if(known, cell_real(line->error)));
	sheet__put(sheet, "basis", cell_text(bases[line->basis]));
}

static void put_line(struct sheet *sheet, const struct energy_line *line, double all, bool process)
{
	double watts = line->ns ? line->joules * 1e9 / (double)line->ns : 0;
	char name[256], pid[16] = "", time[16], error[24] = "-";

	sheet__open(sheet, NULL, '{');
	if (process)
		sheet__put(sheet, "pid", cell_if(line->pid, cell_number(line->pid)));
	sheet__put(sheet, process ? "process" : "name", cell_text(line->name));
	put_watts(sheet, line, watts);
	sheet__close(sheet);
	if (process && line->pid)
		snprintf(pid, sizeof(pid), "%u ", line->pid);
	if (line->basis == ENERGY_REGRESSION)
		snprintf(error, sizeof(error), "%.1f", line->error);
	sheet__say(sheet, " %5.1f%% %12.3f %8.1f %7s %8s %s%s\n", 100 * share_of(line->joules, all),
		   line->joules, watts, error, text__ns(time, line->ns), pid,
		   text__show(name, sizeof(name), line->name, 60));
}

static void put_lines(struct sheet *sheet, const struct stat_report *report,
		      const struct energy_line *lines, uint32_t count, bool process)
{
	uint64_t most = sheet->json ? count : report->most_kernels;
	double all = 0;

	for (uint32_t i = 0; i < count; i++)
		all += lines[i].joules;
	sheet__say(sheet, " %6s %12s %8s %7s %8s %s\n", "SHARE", "JOULES", "WATTS", "+-", "TIME",
		   process ? "PROCESS" : "KERNEL");
	sheet__open(sheet, process ? "processes" : "kernels", '[');
	for (uint32_t i = 0; i < count && i < most; i++)
		put_line(sheet, &lines[i], all, process);
	sheet__close(sheet);
	if (count > most)
		sheet__say(sheet, " ... and %llu more (-n)\n", (unsigned long long)(count - most));
}

/* What the tables' "+-" are, and how many kernels have none. */
static void say_bases(struct sheet *sheet, const struct energy_sums *energy)
{
	uint32_t without = 0;

	for (uint32_t i = 0; i < energy->kernel_count; i++)
		without += energy->kernels[i].basis != ENERGY_REGRESSION;
	if (without < energy->kernel_count)
		sheet__say(sheet, " +-: 95%% confidence interval of the watts\n");
	if (without)
		sheet__say(sheet,
			   " %u of %u kernels are not separable: their watts are those of what ran "
			   "around them, too\n",
			   without, energy->kernel_count);
}

static void put_missing(struct sheet *sheet, const struct stat_report *report)
{
	const struct energy_sums *energy = report->energy;
	char time[16], count[32];

	sheet__put(sheet, "late_ns", cell_number(energy->late_ns));
	sheet__put(sheet, "unmetered_ns", cell_number(energy->unmetered_ns));
	sheet__put(sheet, "failed_readings", cell_number(report->failed_readings));
	if (energy->late_ns)
		sheet__say(sheet, " %s of work arrived too late to get a share of the energy\n",
			   text__ns(time, energy->late_ns));
	if (energy->unmetered_ns)
		sheet__say(sheet, " %s of work has no energy: no meter was read then\n",
			   text__ns(time, energy->unmetered_ns));
	if (report->failed_readings)
		sheet__say(sheet, " %s readings failed\n",
			   text__count(count, report->failed_readings));
}

void stat_sections__energy(struct sheet *sheet, const struct stat_report *report)
{
	const struct energy_sums *energy = report->energy;

	if (!energy && !report->no_energy) {
		sheet__put(sheet, "energy", cell_none);
		return;
	}
	sheet__open(sheet, "energy", '{');
	sheet__put(sheet, "unavailable", cell_text(report->no_energy));
	if (report->no_energy) {
		sheet__say(sheet, "\nEnergy: not known: %s\n", report->no_energy);
		sheet__close(sheet);
		return;
	}
	sheet__say(sheet, "\nEnergy, estimated from the GPUs' meters\n");
	sheet__open(sheet, "gpus", '[');
	for (uint32_t i = 0; i < energy->gpu_count; i++)
		put_gpu(sheet, &energy->gpus[i]);
	sheet__close(sheet);
	put_lines(sheet, report, energy->kernels, energy->kernel_count, false);
	put_lines(sheet, report, energy->processes, energy->process_count, true);
	say_bases(sheet, energy);
	put_missing(sheet, report);
	sheet__close(sheet);
}
