// SPDX-License-Identifier: BSD-2-Clause
/*
 * top --json: one object an interval. The keys are stable; cuda-trace-top(1) lists them.
 */
#include <time.h>
#include "cuda-trace/text.h"
#include "cuda-trace/top_page.h"

static void write_kernels(FILE *file, const struct top_process *process)
{
	fputs(",\"kernels\":[", file);
	for (uint32_t i = 0; i < process->kernel_count; i++) {
		const struct top_kernel *kernel = &process->kernels[i];
		const struct histogram *total = &kernel->total;

		fprintf(file, "%s{\"name\":", i ? "," : "");
		text__write_json(file, kernel->name ? kernel->name : "");
		fprintf(file,
			",\"device\":%u,\"count\":%llu,\"total_ns\":%llu,\"mean_ns\":%llu,"
			"\"p50_ns\":%.0f,\"p99_ns\":%.0f,\"max_ns\":%llu,\"interval_ns\":%llu}",
			kernel->device, (unsigned long long)total->count,
			(unsigned long long)total->sum,
			(unsigned long long)(total->count ? total->sum / total->count : 0),
			histogram__quantile(total, 0.5), histogram__quantile(total, 0.99),
			(unsigned long long)kernel->max_ns, (unsigned long long)kernel->now_ns);
	}
	fputc(']', file);
}

static void write_totals(FILE *file, const struct sums *total)
{
	unsigned long long copies = 0, bytes = 0;

	for (int i = 0; i < SUMS_DIRECTION_COUNT; i++) {
		copies += total->copies[i].copies;
		bytes += total->copies[i].bytes;
	}
	fprintf(file,
		",\"totals\":{\"launches\":%llu,\"launch_errors\":%llu,\"graph_launches\":%llu,"
		"\"kernels\":%llu,\"gpu_ns\":%llu,\"busy_ns\":%llu,\"memcpys\":%llu,"
		"\"memcpy_bytes\":%llu,\"api_errors\":%llu}",
		(unsigned long long)total->launches, (unsigned long long)total->launch_errors,
		(unsigned long long)total->graph_launches, (unsigned long long)total->kernels.count,
		(unsigned long long)total->kernels.sum, (unsigned long long)total->busy_ns, copies,
		bytes, (unsigned long long)total->errors);
}

static void write_process(FILE *file, struct top_model *model, const struct top_process *process)
{
	struct top_figures figures;

	top_model__figures(model, process, &figures);
	fprintf(file, "{\"pid\":%u,\"process\":", process->pid);
	text__write_json(file, process->comm);
	fputs(",\"user\":", file);
	text__write_json(file, process->user);
	fputs(",\"container\":", file);
	text__write_json(file, process->container);
	fprintf(file,
		",\"source\":\"%s\",\"ended\":%s,\"gpu_percent\":%.2f,\"copy_percent\":%.2f,"
		"\"wait_percent\":%.2f,\"launches_per_second\":%.1f,"
		"\"graph_launches_per_second\":%.1f,\"copy_bytes_per_second\":%.0f,"
		"\"live_bytes\":%llu,\"peak_bytes\":%llu",
		process->source, process->ended ? "true" : "false", figures.gpu, figures.copy,
		figures.wait, figures.launches, figures.graphs, figures.copied,
		(unsigned long long)process->live_bytes, (unsigned long long)process->peak_bytes);
	write_totals(file, &process->total);
	write_kernels(file, process);
	fputc('}', file);
}

static void write_device(FILE *file, const struct top_model *model, int number, const char *comma)
{
	const struct top_device *device = &model->devices[number];
	double ns = model->interval_ns ? model->interval_ns : 1;

	fprintf(file, "%s{\"device\":%d,\"name\":", comma, number);
	text__write_json(file, device->name);
	fprintf(file,
		",\"gpu_percent\":%.2f,\"copy_percent\":%.2f,\"live_bytes\":%llu,"
		"\"launches_per_second\":%.1f}",
		100 * device->busy_ns / ns, 100 * device->copy_ns / ns,
		(unsigned long long)device->live_bytes, device->launches / (ns / 1e9));
}

void top_json__write(FILE *file, struct top_model *model, const struct top_view *view)
{
	const char *comma = "";
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(file, "{\"time\":%lld.%03ld,\"interval_s\":%.3f,\"devices\":[",
		(long long)now.tv_sec, now.tv_nsec / 1000000, model->interval_ns / 1e9);
	for (int i = 0; i < AGGREGATE_DEVICES; i++)
		if (model->devices[i].seen) {
			write_device(file, model, i, comma);
			comma = ",";
		}
	fputs("],\"processes\":[", file);
	comma = "";
	for (struct top_process *process = model->processes; process; process = process->next)
		if (top_page__is_shown(view, process)) {
			fputs(comma, file);
			write_process(file, model, process);
			comma = ",";
		}
	fprintf(file, "],\"lost\":%llu}\n", (unsigned long long)top_model__lost(model));
	fflush(file);
}
