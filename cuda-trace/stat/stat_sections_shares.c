// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: shares of GPUs' busy time, by process. In text only where several processes used one.
 */
#include "cuda-trace/base/text.h"
#include "cuda-trace/proc/cgroup.h"
#include "cuda-trace/stat/stat_sections.h"

static const struct stat_gpu *gpu_of(const struct stat_time_sums *time,
				     const struct stat_share *share)
{
	for (uint32_t i = 0; i < time->gpu_count; i++)
		if (time->gpus[i].index == share->gpu)
			return &time->gpus[i];
	return NULL;
}

static bool is_shared(const struct stat_time_sums *time)
{
	uint64_t used = 0; /* a bit for each GPU */

	for (uint32_t i = 0; i < time->share_count; i++) {
		if (used >> time->shares[i].gpu & 1)
			return true;
		used |= 1ull << time->shares[i].gpu;
	}
	return false;
}

static void put_share(struct sheet *sheet, const struct stat_gpu *gpu,
		      const struct stat_share *share)
{
	const struct stat_user *user = &share->user;
	char uuid[48] = "", container[16];

	if (gpu->known)
		stat_objects__uuid(uuid, "GPU", gpu->uuid);
	cgroup__container(user->cgroup, container, sizeof(container));
	sheet__column(sheet, 0, "GPU", 3, "device", cell_number(gpu->device));
	sheet__put(sheet, "uuid", cell_if(gpu->known, cell_text(uuid)));
	sheet__column(sheet, 1, "SHARE", 6, "share",
		      cell_share(gpu->busy_ns ? (double)share->share_ns / gpu->busy_ns : 0));
	sheet__column(sheet, 2, "TIME", 8, "share_ns", cell_ns(share->share_ns));
	sheet__column(sheet, 3, "ALONE", 8, "alone_ns", cell_ns(share->alone_ns));
	sheet__column(sheet, 4, "PID", 8, "pid", cell_if(user->pid, cell_number(user->pid)));
	sheet__column(sheet, 6, "PROCESS", 0, "process",
		      cell_text(user->pid ? user->comm : "[others]"));
	sheet__column(sheet, 5, "CONTAINER", -12, "container", cell_text(container));
	sheet__put(sheet, "cgroup", cell_text(user->cgroup));
}

static void say_nobodys(struct sheet *sheet, const struct stat_time_sums *time)
{
	uint64_t nobodys = 0;
	char ns[16];

	for (uint32_t i = 0; i < time->gpu_count; i++)
		nobodys += time->gpus[i].nobodys_ns;
	if (nobodys)
		sheet__say(sheet, " %s are in no share: too many processes at a time\n",
			   text__ns(ns, nobodys));
}

void stat_sections__shares(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_time_sums *time = &report->table->time;

	if (report->table->sampled) {
		sheet__put(sheet, "shares", cell_none);
		sheet__put(sheet, "shares_mps", cell_none);
		return;
	}
	if (!sheet->json && !is_shared(time))
		return;
	sheet__begin(sheet, "shares", "\nShares of the time in which GPUs were busy",
		     report->most_kernels);
	for (uint32_t i = 0; i < time->share_count; i++) {
		const struct stat_gpu *gpu = gpu_of(time, &time->shares[i]);

		if (!gpu || !sheet__row(sheet, NULL))
			continue;
		put_share(sheet, gpu, &time->shares[i]);
		sheet__row_end(sheet);
	}
	sheet__end(sheet);
	sheet__say_more(sheet);
	sheet__put(sheet, "shares_mps", cell_bool(time->mps));
	if (time->mps)
		sheet__say(sheet,
			   " An MPS server ran: each moment is divided equally among all that had "
			   "work\n");
	say_nobodys(sheet, time);
}
