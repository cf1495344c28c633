// SPDX-License-Identifier: BSD-2-Clause
/*
 * Devices, processes by source, losses, own cost. Called under the exporter's lock.
 */
#include "cuda-trace/metrics/metrics_self.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "cuda-trace/live/live_lost.h"
#include "cuda-trace/metrics/metrics_collectives.h"
#include "cuda-trace/metrics/metrics_exporter.h"
#include "cuda-trace/metrics/metrics_idle.h"
#include "cuda-trace/metrics/metrics_energy.h"
#include "cuda-trace/metrics/metrics_shares.h"

#define ONE(exposition, type, name, unit, help) \
	exposition__family(exposition, &(const struct metric){type, name, unit, help})

static void write_devices(struct exposition *exposition, const struct exporter_devices *devices)
{
	static const struct metric metric = {
		METRIC_INFO, "cuda_device", "",
		"Devices by the number that processes give them; several where these differ."};

	exposition__family(exposition, &metric);
	for (unsigned int i = 0; i < devices->count; i++) {
		const struct exporter_device *device = &devices->device[i];
		char *labels = NULL;
		size_t size;
		FILE *file = open_memstream(&labels, &size);

		if (!file)
			continue;
		fprintf(file, "device=\"%u\",uuid=\"%s\",name=", device->ordinal, device->uuid);
		metrics_text__write_label(file, device->name);
		fputs(",pci=", file);
		metrics_text__write_label(file, device->pci);
		if (!fclose(file))
			exposition__count(exposition, labels, 1, 0);
		free(labels);
	}
}

/* Once for each GPU, by the number that the first process gave it. */
static bool is_first(const struct exporter_devices *devices, unsigned int number)
{
	for (unsigned int i = 0; i < number; i++)
		if (devices->device[i].gpu == devices->device[number].gpu)
			return false;
	return devices->device[number].gpu >= 0;
}

static void write_gpus(struct exposition *exposition, const struct exporter_view *view,
		       const struct metric *metric, const uint64_t *ns)
{
	const struct exporter_devices *devices = view->devices;
	char labels[96];

	exposition__family(exposition, metric);
	for (unsigned int i = 0; i < devices->count; i++) {
		const struct exporter_device *device = &devices->device[i];

		if (!is_first(devices, i))
			continue;
		snprintf(labels, sizeof(labels), "device=\"%u\",uuid=\"%s\"", device->ordinal,
			 device->uuid);
		exposition__value(exposition, labels, ns[device->gpu] / 1e9, view->started);
	}
}

/* Windows of several processes are not at the same time: a sample has no union. */
static void write_busy(struct exposition *exposition, const struct exporter_view *view)
{
	if (view->sample_on_ms)
		return;
	write_gpus(exposition, view,
		   &(const struct metric){METRIC_COUNTER, "cuda_device_busy_seconds", "seconds",
					  "Time in which a kernel, copy or memset of any process "
					  "ran on the GPU, overlap counted once: its rate is the "
					  "utilisation."},
		   view->state.aggregate.gpu_busy_ns);
	write_gpus(exposition, view,
		   &(const struct metric){METRIC_COUNTER, "cuda_device_copy_seconds", "seconds",
					  "Time in which a copy of any process ran on the GPU, "
					  "overlap counted once."},
		   view->state.aggregate.gpu_copy_ns);
}

/* So that the shares and this are the time in which each GPU was busy. */
static void write_nobodys(struct exposition *exposition, const struct exporter_view *view)
{
	if (view->sample_on_ms)
		return;
	write_gpus(exposition, view,
		   &(const struct metric){METRIC_COUNTER, "cuda_gpu_share_unattributed_seconds",
					  "seconds",
					  "Time in which the GPU was busy that is in no process's "
					  "share."},
		   view->state.shares.nobodys_ns);
}

static void write_sources(struct exposition *exposition, const struct live_state *state)
{
	static const char *const labels[] = {
#define SOURCE_LABEL(name, label) "source=\"" label "\"",
		LIVE_SOURCES(SOURCE_LABEL)
#undef SOURCE_LABEL
	};

	ONE(exposition, METRIC_GAUGE, "cuda_processes", "", "CUDA processes, by source.");
	for (int source = 0; source < LIVE_SOURCE_COUNT; source++)
		exposition__count(exposition, labels[source], state->sources[source], 0);
	ONE(exposition, METRIC_GAUGE, "cuda_trace_unreadable_processes", "",
	    "Processes that this tool may not inspect, because CAP_SYS_PTRACE is missing: CUDA "
	    "processes among them are seen only with the injection library.");
	exposition__count(exposition, "", state->unreadable, 0);
}

/* All of the group's user, at the first of that user's groups; 0 at others. */
static uint64_t left_out_of_user(const struct left_out *left_out, uint32_t first, int kind)
{
	const struct left_out_group *groups = left_out->groups;
	uint64_t count = 0;

	for (uint32_t i = 0; i < left_out->group_count; i++) {
		if ((int)groups[i].kind != kind || groups[i].user != groups[first].user)
			continue;
		if (i < first)
			return 0;
		count += groups[i].count;
	}
	return count;
}

/* Those whose users are not named come under "other". */
static void write_left_out(struct exposition *exposition, const struct exporter_view *view)
{
	const struct left_out *left_out = &view->state.left_out;
	char labels[64];

	ONE(exposition, METRIC_COUNTER, "cuda_trace_left_out", "",
	    "Files with the name of the library or the driver, and processes, that are not looked "
	    "at because of a limit or because they cannot be read.");
	for (int kind = 0; kind < LEFT_OUT_COUNT; kind++) {
		const char *key = left_out__key(kind);
		uint64_t rest = left_out->counts[kind];

		for (uint32_t i = 0; i < left_out->group_count; i++) {
			uint64_t count = left_out_of_user(left_out, i, kind);

			if (!count)
				continue;
			rest -= count;
			snprintf(labels, sizeof(labels), "kind=\"%s\",user=\"%u\"", key,
				 left_out->groups[i].user);
			exposition__count(exposition, labels, count, view->started);
		}
		snprintf(labels, sizeof(labels), "kind=\"%s\",user=\"other\"", key);
		exposition__count(exposition, labels, rest, view->started);
	}
}

static void write_losses(struct exposition *exposition, const struct exporter_view *view)
{
	const uint64_t *lost = view->state.lost.session;
	struct live_loss rows[LIVE_LOST_MAX];
	uint32_t count = live_lost__list(&view->state, rows);
	char label[64];

	ONE(exposition, METRIC_COUNTER, "cuda_trace_lost_records", "",
	    "Records that were lost, by reason: the other counters lack them. Of a process that "
	    "was not observed, or late, nobody knows how many: it counts as one.");
	for (uint32_t i = 0; i < count; i++) {
		snprintf(label, sizeof(label), "reason=\"%s\"", rows[i].key);
		exposition__count(exposition, label, rows[i].count, view->started);
	}
	ONE(exposition, METRIC_COUNTER, "cuda_trace_lost_names", "",
	    "Names, states and ends of processes that came while the ring buffer was full, and "
	    "names "
	    "that never came or were too many for one process.");
	exposition__count(exposition, "",
			  lost[SESSION_LOST_RING_FULL_NAMES] + lost[SESSION_LOST_NAMES],
			  view->started);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_killed_processes", "",
	    "Processes that ended without reporting it: their last 100 ms are unknown.");
	exposition__count(exposition, "", lost[SESSION_LOST_KILLED], view->started);
}

/* Who has CUPTI instead of us, and since when. */
static void write_yield(struct exposition *exposition, const struct live_yield *yield)
{
	char *labels = NULL;
	size_t size;
	FILE *file = open_memstream(&labels, &size);

	if (!file)
		return;
	fprintf(file, "pid=\"%u\",comm=", yield->pid);
	metrics_text__write_label(file, yield->comm);
	fputs(",client=", file);
	metrics_text__write_label(file, yield->client);
	if (!fclose(file))
		exposition__value(exposition, labels, yield->since, 0);
	free(labels);
}

static void write_yields(struct exposition *exposition, const struct exporter_view *view)
{
	const struct live_yields *yields = &view->state.yields;

	ONE(exposition, METRIC_COUNTER, "cuda_trace_yields", "",
	    "Times that a process yielded CUPTI to another client: the counters of GPU work lack "
	    "what "
	    "ran meanwhile.");
	exposition__count(exposition, "", yields->total, view->started);
	ONE(exposition, METRIC_GAUGE, "cuda_trace_yielding_processes", "",
	    "Processes that yield CUPTI to another client now.");
	exposition__count(exposition, "", yields->now, 0);
	ONE(exposition, METRIC_GAUGE, "cuda_trace_yielded_since_seconds", "seconds",
	    "When a process yielded CUPTI to the client that has it now, in Unix time; 64 of them "
	    "at "
	    "most.");
	for (unsigned int i = 0; i < yields->count; i++)
		write_yield(exposition, &yields->yields[i]);
}

static void write_records(struct exposition *exposition, const struct exporter_view *view)
{
	static const char *const labels[] = {
#define GROUP_LABEL(name, probe, text) "probe=\"" #probe "\"",
		CUDA_GROUPS(GROUP_LABEL)
#undef GROUP_LABEL
	};
	const struct aggregate_counters *counters = &view->state.aggregate.counters;

	ONE(exposition, METRIC_COUNTER, "cuda_trace_records", "", "Records received, by probe.");
	for (int group = 0; group < CUDA_GROUP_COUNT; group++)
		if (counters->received[group])
			exposition__count(exposition, labels[group], counters->received[group],
					  view->started);
	if (counters->driver_calls)
		exposition__count(exposition, "probe=\"libcuda\"", counters->driver_calls,
				  view->started);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_folded_records", "",
	    "Records counted as 'other' because a table in the kernel was full.");
	exposition__count(exposition, "what=\"kernel\"", counters->folded, view->started);
	exposition__count(exposition, "what=\"process\"", counters->others, view->started);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_unlabelled_records", "",
	    "Records counted without a device, because its number or its context's is too high.");
	exposition__count(exposition, "what=\"context\"", view->state.beyond.contexts,
			  view->started);
	exposition__count(exposition, "what=\"device\"", view->state.beyond.devices, view->started);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_dropped_devices", "",
	    "Times that a device was left out of cuda_device_info because the table was full.");
	exposition__count(exposition, "", counters->devices + view->devices->dropped,
			  view->started);
	ONE(exposition, METRIC_GAUGE, "cuda_trace_unpaired_samples", "",
	    "Launches and kernels drawn for cuda_kernel_queue_seconds without their other half: "
	    "of more than 8,192 the oldest were forgotten; or with it, when the table was full.");
	exposition__count(
		exposition, "",
		counters->halves > counters->pairs ? counters->halves - counters->pairs : 0, 0);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_unsized_allocations", "",
	    "Allocations of source=\"driver\" whose size was not kept: the bytes of their frees "
	    "are "
	    "not counted, nor is what they hold.");
	exposition__count(exposition, "", counters->unsized, view->started);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_unknown_calls", "",
	    "Calls of source=\"driver\" that were counted without their size: their arguments are "
	    "not known.");
	exposition__count(exposition, "", counters->driver_unknown, view->started);
}

static void write_series(struct exposition *exposition, const struct exporter_view *view)
{
	ONE(exposition, METRIC_GAUGE, "cuda_trace_label_sets", "", "Label sets in use.");
	exposition__count(exposition, "", series_table__count(view->series), 0);
	ONE(exposition, METRIC_GAUGE, "cuda_trace_label_sets_limit", "",
	    "Label sets at most; see --label-sets.");
	exposition__count(exposition, "", view->label_sets, 0);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_label_sets_evicted", "",
	    "Label sets without a process that were replaced by others.");
	exposition__count(exposition, "", series_table__evicted(view->series), view->started);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_label_sets_folded", "",
	    "Times that no label set was free for a process, which was counted as comm='other'.");
	exposition__count(exposition, "", series_table__folded(view->series), view->started);
}

static void write_cost(struct exposition *exposition, const struct exporter_view *view)
{
	const struct aggregate_state *state = &view->state.aggregate;

	ONE(exposition, METRIC_COUNTER, "cuda_trace_program_seconds", "seconds",
	    "Time that traced programs spent in the eBPF programs.");
	exposition__value(exposition, "", state->program_ns / 1e9, view->started);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_batches", "", "Batches received.");
	exposition__count(exposition, "", state->batches, view->started);
	ONE(exposition, METRIC_GAUGE, "cuda_trace_keys", "",
	    "Keys of the kernel's maps that were in use since the collect before the last.");
	exposition__count(exposition, "", state->keys, 0);
	ONE(exposition, METRIC_GAUGE, "cuda_trace_collect_seconds", "seconds",
	    "Time that the last reading of the kernel's maps took.");
	exposition__value(exposition, "", view->collect_seconds, 0);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_collects_postponed", "",
	    "Readings that were postponed because of a batch in progress: the next one includes "
	    "everything.");
	exposition__count(exposition, "", view->postponed, view->started);
	ONE(exposition, METRIC_COUNTER, "cuda_trace_scrapes", "", "Documents written.");
	exposition__count(exposition, "", view->scrapes, view->started);
	ONE(exposition, METRIC_INFO, "cuda_trace_build", "", "The version of cuda-trace.");
	exposition__count(exposition, "version=\"" VERSION "\"", 1, 0);
}

static unsigned int open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (files && readdir(files))
		count++;
	if (files)
		closedir(files);
	/* ".", "..", and the folder itself while it was read. */
	return count > 3 ? count - 3 : 0;
}

static uint64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long size = 0, resident = 0;

	if (file && fscanf(file, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return resident * sysconf(_SC_PAGESIZE);
}

/* The names that every exporter has. */
static void write_process(struct exposition *exposition, const struct exporter_view *view)
{
	struct rusage usage;
	double cpu;

	getrusage(RUSAGE_SELF, &usage);
	cpu = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	      (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	ONE(exposition, METRIC_COUNTER, "process_cpu_seconds", "seconds", "CPU time of this tool.");
	exposition__value(exposition, "", cpu, view->started);
	ONE(exposition, METRIC_GAUGE, "process_resident_memory_bytes", "bytes",
	    "Resident memory of this tool.");
	exposition__count(exposition, "", resident_bytes(), 0);
	ONE(exposition, METRIC_GAUGE, "process_start_time_seconds", "seconds",
	    "When this tool started, in Unix time.");
	exposition__value(exposition, "", view->started, 0);
	ONE(exposition, METRIC_GAUGE, "process_open_fds", "", "Open files of this tool.");
	exposition__count(exposition, "", open_files(), 0);
}

void self__write(struct exposition *exposition, struct exporter_view *view)
{
	write_devices(exposition, view->devices);
	write_busy(exposition, view);
	metrics_idle__write(exposition, view->idle, view->started);
	metrics_collectives__write(exposition, view->comms, view->started);
	metrics_shares__write(exposition, view);
	write_nobodys(exposition, view);
	metrics_energy__write(exposition, view);
	write_sources(exposition, &view->state);
	write_left_out(exposition, view);
	write_losses(exposition, view);
	write_yields(exposition, view);
	write_records(exposition, view);
	write_series(exposition, view);
	write_cost(exposition, view);
	/* node_exporter has its own: a second sample of that name would spoil the whole scrape. */
	if (!view->embedded)
		write_process(exposition, view);
}
