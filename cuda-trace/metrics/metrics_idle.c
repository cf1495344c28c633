// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every cause of every GPU has a sample from the first on, as rates need: at most
 * GPU_SET_MAX * IDLE_CAUSE_COUNT.
 */
#include "cuda-trace/metrics/metrics_idle.h"

#include <stdio.h>
#include "cuda-trace/idle/idle.h"
#include "cuda-trace/live/live_idle.h"

static const struct metric seconds = {
	METRIC_COUNTER, "cuda_gpu_idle_seconds", "seconds",
	"Time in which a GPU was idle while a process lived that had used it, by cause."};
static const struct metric observed = {METRIC_COUNTER, "cuda_gpu_observed_seconds", "seconds",
				       "Time of a GPU that has been explained, idle or busy: what "
				       "cuda_gpu_idle_seconds_total is a "
				       "part of."};
static const struct metric reduced = {
	METRIC_GAUGE, "cuda_trace_idle_reduced", "",
	"1 where scheduler events or samples are missing, so that causes are not known."};
static const struct metric lost = {METRIC_COUNTER, "cuda_trace_idle_lost", "",
				   "What is missing for cuda_gpu_idle_seconds_total, by reason."};

static void write_gpu(struct exposition *exposition, const struct idle_gpu *gpu, double started)
{
	char uuid[48], labels[160];

	live_idle__uuid(uuid, gpu);
	for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
		snprintf(labels, sizeof(labels), "device=\"%u\",uuid=\"%s\",cause=\"%s\"",
			 gpu->ordinal, uuid, idle_cause_keys[cause]);
		exposition__value(exposition, labels, gpu->ns[cause] / 1e9, started);
	}
}

void metrics_idle__write(struct exposition *exposition, struct idle *idle, double started)
{
	struct idle_gpu gpus[GPU_SET_MAX];
	const struct idle_sums *sums;
	char uuid[48], labels[128];
	uint32_t count;

	if (!idle)
		return;
	count = idle__gpus(idle, gpus);
	exposition__family(exposition, &seconds);
	for (uint32_t i = 0; i < count; i++)
		write_gpu(exposition, &gpus[i], started);
	exposition__family(exposition, &observed);
	for (uint32_t i = 0; i < count; i++) {
		live_idle__uuid(uuid, &gpus[i]);
		snprintf(labels, sizeof(labels), "device=\"%u\",uuid=\"%s\"", gpus[i].ordinal,
			 uuid);
		exposition__value(exposition, labels, gpus[i].whole_ns / 1e9, started);
	}
	sums = idle__sums(idle);
	exposition__family(exposition, &reduced);
	exposition__count(exposition, "", sums->reduced != NULL, 0);
	exposition__family(exposition, &lost);
	exposition__count(exposition, "reason=\"waits\"", sums->lost, started);
	exposition__count(exposition, "reason=\"threads\"", sums->left_out, started);
	exposition__count(exposition, "reason=\"late\"", sums->late, started);
}
