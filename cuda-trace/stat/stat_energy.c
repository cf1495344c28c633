// SPDX-License-Identifier: BSD-2-Clause
/*
 * The time line knows which GPU a record means and when GPUs were busy; names are the process's.
 */
#include "cuda-trace/stat/stat_energy.h"

#include <string.h>

static void on_work(void *context, void *owner, uint32_t gpu, const struct cuda_record *record,
		    uint64_t start, uint64_t end)
{
	const struct cuda_kernel *kernel = (const void *)record;

	energy__work(context, owner, gpu, record->kind == CUDA_RECORD_KERNEL ? kernel->name : 0,
		     start, end);
}

static void on_busy(void *context, uint32_t gpu, uint64_t start, uint64_t ns)
{
	energy__busy(context, gpu, start, ns);
}

static void on_gpu(void *context, uint32_t gpu, const struct gpu_identity *identity)
{
	static const uint8_t none[16];

	energy__gpu(context, gpu, identity->uuid,
		    memcmp(identity->mig_uuid, none, sizeof(none)) != 0);
}

void stat_table__measure(struct stat_table *table, struct energy *energy)
{
	table->energy = energy;
	table->observer = (struct stat_time_observer){energy, on_work, on_busy, on_gpu};
	stat_time__observe(table->timeline, &table->observer);
}

struct stat_host *stat_energy__start(struct stat_table *table, const struct process *process,
				     struct energy_process **energy)
{
	struct stat_host *host = stat_time__start(table->timeline);

	*energy = energy__start(table->energy, process->pid);
	stat_time__set_owner(host, *energy);
	return host;
}

static const char *name_of(void *context, uint32_t id)
{
	return process__pretty_name(context, id);
}

void stat_energy__end(struct stat_table *table, struct process *process,
		      struct energy_process *energy)
{
	energy__end(table->energy, energy, process->comm, name_of, process);
}
