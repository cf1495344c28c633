// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat --json`: one object. The keys are documented in cuda-trace-stat(1) and stay as they are.
 */
#include "cuda-trace/base/json_text.h"
#include "cuda-trace/stat/stat_observed.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/proc/cgroup.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/stat/stat_json.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/capture/yields.h"
#include "cuda-trace/base/text.h"

static void put_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static struct json_object *triple(const uint32_t values[3])
{
	struct json_object *array = json_object_new_array();

	for (int i = 0; i < 3; i++)
		json_object_array_add(array, json_object_new_int64(values[i]));
	return array;
}

static void put_estimates(struct json_object *object, const struct stat_sums *sums)
{
	put_number(object, "gpu_ns_error", sqrt(sums->gpu_error2));
	put_number(object, "sampled_kernels", sums->sampled_kernels);
	put_number(object, "unsampled_launches", sums->unsampled_launches);
	/* What no window saw has not come; whether it ended nobody knows. */
	json_object_object_add(object, "unfinished", NULL);
}

static void put_sums(struct json_object *object, const struct stat_sums *sums, bool estimated)
{
	put_number(object, "launches", sums->launches);
	put_number(object, "launch_errors", sums->launch_errors + sums->graph_launch_errors);
	put_number(object, "graph_launches", sums->graph_launches);
	put_number(object, "graph_launch_errors", sums->graph_launch_errors);
	put_number(object, "kernels", sums->kernels);
	put_number(object, "gpu_ns", sums->gpu_ns);
	put_number(object, "unfinished", stat_report__unfinished(sums));
	put_number(object, "memcpys", sums->memcpys);
	put_number(object, "memcpy_bytes", sums->memcpy_bytes);
	put_number(object, "memsets", sums->memsets);
	put_number(object, "allocs", sums->allocs);
	put_number(object, "frees", sums->frees);
	put_number(object, "live_bytes", sums->live_bytes);
	put_number(object, "untracked_allocs", sums->untracked);
	put_number(object, "syncs", sums->syncs);
	put_number(object, "sync_ns", sums->sync_ns);
	put_number(object, "api_errors", sums->api_errors);
	json_object_object_add(object, "estimated", json_object_new_boolean(estimated));
	if (estimated)
		put_estimates(object, sums);
}

static struct json_object *kernels(const struct stat_table *table)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < table->kernel_count; i++) {
		const struct stat_kernel *kernel = &table->kernels[i];
		struct json_object *object = json_object_new_object();
		uint64_t all = table->totals.gpu_ns ? table->totals.gpu_ns : 1;
		uint64_t count = kernel->count ? kernel->count : 1;

		stat_json__put_text(object, "name", kernel->name);
		put_number(object, "launches", kernel->launches);
		put_number(object, "launch_errors", kernel->launch_errors);
		put_number(object, "count", kernel->count);
		put_number(object, "total_ns", kernel->total_ns);
		put_number(object, "mean_ns", kernel->total_ns / count);
		put_number(object, "min_ns", kernel->min_ns);
		put_number(object, "max_ns", kernel->max_ns);
		json_object_object_add(object, "share",
				       stat_json__double((double)kernel->total_ns / all));
		json_object_object_add(object, "grid",
				       kernel->shaped ? triple(kernel->grid) : NULL);
		json_object_object_add(object, "block",
				       kernel->shaped ? triple(kernel->block) : NULL);
		json_object_object_add(object, "varies", json_object_new_boolean(kernel->varies));
		json_object_object_add(object, "estimated",
				       json_object_new_boolean(table->sampled));
		if (table->sampled) {
			put_number(object, "total_ns_error", sqrt(kernel->error2));
			put_number(object, "sampled", kernel->sampled);
		}
		json_object_array_add(array, object);
	}
	return array;
}

static void put_yields(struct json_object *object, const struct stat_process *process)
{
	const struct cuda_status *status = &process->status;

	put_number(object, "yields", process->yields);
	put_number(object, "yielded_ns", process->yielded_ns);
	if (yields__since(status))
		json_object_object_add(object, "yielded_since",
				       json_object_new_double(yields__since(status)));
	if (*process->client)
		stat_json__put_text(object, "client", process->client);
}

static void put_agent(struct json_object *object, const struct stat_process *process)
{
	const struct cuda_status *status = &process->status;
	const char *trouble = agent_state__no_times(status);

	stat_json__put_text(object, "state", agent_state__key(status));
	trouble = trouble ? trouble : process->no_agent;
	if (trouble)
		stat_json__put_text(object, "trouble", trouble);
	if (!status->version)
		return;
	put_number(object, "cupti_version", status->cupti_version);
	put_number(object, "driver_version", status->driver_version);
	stat_json__put_text(object, "cupti_path", status->cupti_path);
	put_number(object, "prime_us", status->prime_us);
	put_number(object, "switch_us", status->switch_us);
	put_number(object, "guest_resident_kib", status->resident_kib);
	if (*status->holder)
		stat_json__put_text(object, "holder", status->holder);
	put_yields(object, process);
}

static struct json_object *number_or_null(int64_t number)
{
	return number < 0 ? NULL : json_object_new_int64(number);
}

static void put_rank(struct json_object *object, const struct rank *rank)
{
	json_object_object_add(object, "rank",
			       number_or_null(rank->known ? (int64_t)rank->rank : -1));
	json_object_object_add(object, "local_rank", number_or_null(rank->local));
	json_object_object_add(object, "world_size", number_or_null(rank->size));
}

static struct json_object *processes(const struct stat_table *table)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < table->process_count; i++) {
		const struct stat_process *process = &table->processes[i];
		struct json_object *object = json_object_new_object();
		char container[16];

		cgroup__container(process->cgroup, container, sizeof(container));
		put_number(object, "pid", process->pid);
		stat_json__put_text(object, "process", process->comm);
		put_number(object, "uid", process->uid);
		stat_json__put_text(object, "cgroup", process->cgroup);
		stat_json__put_text(object, "container", container);
		put_rank(object, &process->rank);
		put_sums(object, &process->sums, table->sampled);
		put_agent(object, process);
		stat_json__put_text(object, "source", process->source);
		json_object_object_add(object, "observed_since_ns", stat_observed__since(process));
		json_object_object_add(object, "exit_status",
				       process->exit_status < 0
					       ? NULL
					       : json_object_new_int(process->exit_status));
		json_object_array_add(array, object);
	}
	return array;
}

void stat_report__json(FILE *file, const struct stat_report *report)
{
	struct json_object *object = json_object_new_object();
	struct json_object *totals = json_object_new_object();

	put_number(object, "duration_ns", report->duration_ns);
	json_object_object_add(object, "first_record_ms",
			       report->first_record_ns < 0
				       ? NULL
				       : stat_json__double(report->first_record_ns / 1e6));
	stat_json__put_text(object, "source", stat_report__source(report));
	json_object_object_add(
		object, "driver_launches",
		report->driver_launches ? json_object_new_string(report->driver_launches) : NULL);
	put_sums(totals, &report->table->totals, report->table->sampled);
	json_object_object_add(object, "totals", totals);
	if (report->table->sampled)
		json_object_object_add(object, "sample", stat_report__json_sample(report));
	json_object_object_add(object, "kernels", kernels(report->table));
	stat_json__put_events(object, report);
	json_object_object_add(object, "idle", stat_report__json_idle(report));
	stat_json__put_ranges(object, report);
	stat_json__put_collectives(object, report);
	stat_json__put_objects(object, report);
	json_object_object_add(object, "processes", processes(report->table));
	json_object_object_add(object, "missed", stat_observed__missed(report));
	json_object_object_add(object, "lost", losses__json(report->lost));
	json_object_object_add(object, "left_out", losses__left_out(report->left_out));
	fprintf(file, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
	json_object_put(object);
}

const char *stat_report__source(const struct stat_report *report)
{
	const struct stat_table *table = report->table;

	if (!table->process_count)
		return "none";
	for (uint32_t i = 1; i < table->process_count; i++)
		if (strcmp(table->processes[i].source, table->processes[0].source))
			return "mixed";
	return table->processes[0].source;
}

uint64_t stat_report__unfinished(const struct stat_sums *sums)
{
	uint64_t launched = sums->launches - sums->launch_errors - sums->untimed;
	uint64_t done = sums->kernels - sums->graph_kernels;

	return launched > done ? launched - done : 0;
}
