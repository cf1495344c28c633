// SPDX-License-Identifier: BSD-2-Clause
/*
 * top --json: one object an interval. The keys are stable; cuda-trace-top(1) lists them.
 */
#include <time.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/live/live_lost.h"
#include "cuda-trace/top/top_page.h"

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

/* Nothing is invented for a process whose GPU work is not seen. */
static void write_number(FILE *file, const char *key, bool known, unsigned long long number)
{
	if (known)
		fprintf(file, ",\"%s\":%llu", key, number);
	else
		fprintf(file, ",\"%s\":null", key);
}

static void write_text(FILE *file, const char *key, const char *text)
{
	fprintf(file, ",\"%s\":", key);
	if (*text)
		text__write_json(file, text);
	else
		fputs("null", file);
}

static void write_percent(FILE *file, const char *key, bool known, double percent)
{
	if (known)
		fprintf(file, ",\"%s\":%.2f", key, percent);
	else
		fprintf(file, ",\"%s\":null", key);
}

static void write_totals(FILE *file, const struct sums *total, bool gpu)
{
	unsigned long long copies = 0, bytes = 0;

	for (int i = 0; i < SUMS_DIRECTION_COUNT; i++) {
		copies += total->copies[i].copies;
		bytes += total->copies[i].bytes;
	}
	fprintf(file,
		",\"totals\":{\"launches\":%llu,\"launch_errors\":%llu,\"graph_launches\":%llu",
		(unsigned long long)total->launches, (unsigned long long)total->launch_errors,
		(unsigned long long)total->graph_launches);
	write_number(file, "kernels", gpu, total->kernels.count);
	write_number(file, "gpu_ns", gpu, total->kernels.sum);
	write_number(file, "busy_ns", gpu, total->busy_ns);
	fprintf(file, ",\"memcpys\":%llu,\"memcpy_bytes\":%llu,\"api_errors\":%llu}", copies, bytes,
		(unsigned long long)total->errors);
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
	for (int name = 0; name < ORIGIN_NAME_COUNT; name++)
		write_text(file, origin__key(name), origin__name(&process->origin, name));
	write_number(file, "rank", process->rank.known, process->rank.rank);
	fprintf(file, ",\"source\":\"%s\",\"ended\":%s", process->source,
		process->ended ? "true" : "false");
	fprintf(file, ",\"profiled\":%s", process->profiled ? "true" : "false");
	write_percent(file, "gpu_percent", !process->no_gpu && !process->profiled, figures.gpu);
	write_percent(file, "copy_percent", !process->no_gpu && !process->profiled, figures.copy);
	write_percent(file, "wait_percent", true, 100 * figures.wait);
	fprintf(file,
		",\"launches_per_second\":%.1f,\"graph_launches_per_second\":%.1f,"
		"\"copy_bytes_per_second\":%.0f,\"live_bytes\":%llu,\"peak_bytes\":%llu",
		figures.launches, figures.graphs, figures.copied,
		(unsigned long long)process->live_bytes, (unsigned long long)process->peak_bytes);
	write_totals(file, &process->total, !process->no_gpu);
	write_kernels(file, process);
	fputc('}', file);
}

/* Why the GPU was idle in the last seconds: the main cause comes first. */
static void write_causes(FILE *file, const struct top_model *model, const struct top_device *device)
{
	struct top_causes causes;

	fputs(",\"idle\":", file);
	if (!top_idle__of(&model->idle, device->uuid, device->number, &causes)) {
		fputs("null", file);
		return;
	}
	fprintf(file, "{\"observed_ns\":%llu,\"idle_ns\":%llu,\"causes\":[",
		(unsigned long long)causes.whole_ns, (unsigned long long)causes.idle_ns);
	for (int i = 0; i < causes.count; i++) {
		const struct top_cause *cause = &causes.causes[i];

		fprintf(file,
			"%s{\"cause\":\"%s\",\"ns\":%llu,\"share\":%.4f,\"place\":", i ? "," : "",
			idle_cause_keys[cause->cause], (unsigned long long)cause->ns,
			(double)cause->ns / causes.idle_ns);
		text__write_json(file, cause->place);
		fputc('}', file);
	}
	fputs("]}", file);
}

static void write_idle(FILE *file, const struct top_model *model)
{
	struct idle_missing missing;

	fputs(",\"idle\":", file);
	if (!model->idle.idle) {
		fputs("null", file);
		return;
	}
	idle__missing(model->idle.idle, &missing);
	fputs("{\"reduced\":", file);
	if (missing.reduced)
		text__write_json(file, missing.reduced);
	else
		fputs("null", file);
	fprintf(file, ",\"lost\":%llu,\"left_out\":%llu,\"late\":%llu}",
		(unsigned long long)missing.lost, (unsigned long long)missing.left_out,
		(unsigned long long)missing.late);
}

static void write_device(FILE *file, const struct top_model *model, int number, const char *comma)
{
	const struct top_device *device = &model->devices[number];
	double ns = model->interval_ns ? model->interval_ns : 1;

	fprintf(file, "%s{\"device\":%u,\"uuid\":", comma, device->number);
	if (*device->uuid)
		text__write_json(file, device->uuid);
	else
		fputs("null", file);
	fputs(",\"name\":", file);
	text__write_json(file, device->name);
	fprintf(file,
		",\"gpu_percent\":%.2f,\"copy_percent\":%.2f,\"live_bytes\":%llu,"
		"\"launches_per_second\":%.1f",
		100 * device->busy_ns / ns, 100 * device->copy_ns / ns,
		(unsigned long long)device->live_bytes, device->launches / (ns / 1e9));
	write_causes(file, model, device);
	fputc('}', file);
}

/* "lost" is the sum of those that stat counts in its total. */
static void write_losses(FILE *file, const struct top_model *model)
{
	struct live_loss rows[LIVE_LOST_MAX];
	uint32_t count = live_lost__list(&model->state, rows);

	fprintf(file, ",\"lost\":%llu,\"lost_by_reason\":{",
		(unsigned long long)top_model__lost(model));
	for (uint32_t i = 0; i < count; i++)
		fprintf(file, "%s\"%s\":%llu", i ? "," : "", rows[i].key,
			(unsigned long long)rows[i].count);
	fputc('}', file);
}

void top_json__write(FILE *file, struct top_model *model, const struct top_view *view)
{
	static const char *const sources[] = {
#define SOURCE_KEY(name, label) label,
		LIVE_SOURCES(SOURCE_KEY)
#undef SOURCE_KEY
	};
	const char *comma = "";
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(file, "{\"time\":%lld.%03ld,\"interval_s\":%.3f,\"devices\":[",
		(long long)now.tv_sec, now.tv_nsec / 1000000, model->interval_ns / 1e9);
	for (int i = 0; i < TOP_ROWS; i++)
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
	fputs("],\"sources\":{", file);
	for (int i = 0; i < LIVE_SOURCE_COUNT; i++)
		fprintf(file, "%s\"%s\":%u", i ? "," : "", sources[i], model->state.sources[i]);
	fputs("},\"sample\":", file);
	if (model->sample_on_ms)
		fprintf(file, "{\"on_ns\":%u000000,\"period_ns\":%u000000}", model->sample_on_ms,
			model->sample_every_ms);
	else
		fputs("null", file);
	write_idle(file, model);
	write_losses(file, model);
	fputs(",\"left_out\":{", file);
	for (int kind = 0; kind < LEFT_OUT_COUNT; kind++)
		fprintf(file, "%s\"%s\":%llu", kind ? "," : "", left_out__key(kind),
			(unsigned long long)model->state.left_out.counts[kind]);
	fputs("}}\n", file);
	fflush(file);
}
