// SPDX-License-Identifier: BSD-2-Clause
/*
 * By time and not by launches, as the copies of `stat` are: in sums over kernels, graphs and copies
 * there is no one count that they could be compared with.
 */
#include "cuda-trace/live/live_sample.h"

#include <stddef.h>
#include <time.h>
#include "cuda-trace/live/live.h"

void live__sample(struct live_options *options, const struct sample *sample)
{
	options->sample = *sample;
	/* A copy does not say its stream before it is done: an unknown one could run at any time.
	 */
	options->sample.whole_copies = options->idle && sample->on_ms;
	options->session.groups = sample_options__groups(&options->sample, options->session.groups);
	options->session.sample_on_ms = sample->on_ms;
	options->session.sample_every_ms = sample->every_ms;
}

/* What launches took is counted in the kernel, and read as often as decisions are due. */
void live_sample__tick(struct live_pace *pace, const struct aggregate *aggregate,
		       struct session *session, struct session_options *options)
{
	struct overhead_finding finding;
	struct aggregate_spans sum;
	time_t now = time(NULL);

	if (!pace->overhead || now == pace->next)
		return;
	pace->next = now;
	aggregate__spans(aggregate, &sum);
	overhead_limit__spans(pace->overhead, &sum);
	overhead_limit__tick(pace->overhead, session, options->verbose ? pace->command : NULL);
	if (overhead_limit__finding(pace->overhead, &finding))
		options->sample_on_ms = finding.on_ms;
}

double live_sample__scale(const struct session_options *options, const struct process *traced,
			  struct live_sample *last)
{
	const struct cuda_status *status = traced ? &traced->status : NULL;
	double watched, open;

	if (!options->sample_on_ms)
		return 1;
	if (!last->scale)
		last->scale = (double)options->sample_every_ms / options->sample_on_ms;
	if (!status || !status->sample_start || status->time <= last->time)
		return last->scale;
	if (last->start != status->sample_start)
		*last = (struct live_sample){.scale = last->scale,
					     .start = status->sample_start,
					     .time = status->sample_start};
	watched = status->time - last->time;
	open = (double)status->sample_open_ns - last->open_ns;
	/* No window since: what comes is late, and of those before. */
	if (open > 0)
		last->scale = open < watched ? watched / open : 1;
	last->time = status->time;
	last->open_ns = status->sample_open_ns;
	return last->scale;
}

static uint64_t times(uint64_t number, double scale)
{
	return number * scale + 0.5;
}

static bool is_sampled(const struct tally_key *key, bool whole_copies)
{
	return key->kind == TALLY_KERNEL ||
	       (!whole_copies && (key->kind == TALLY_MEMCPY || key->kind == TALLY_MEMSET));
}

bool live_sample__expand(const struct tally_key *key, const struct tally *tally, double scale,
			 bool whole_copies, struct tally *whole)
{
	if (scale <= 1 || !is_sampled(key, whole_copies))
		return false;
	*whole = (struct tally){
		.count = times(tally->count, scale),
		.errors = times(tally->errors, scale),
		.bytes = times(tally->bytes, scale),
		.ns = times(tally->ns, scale),
		.max_ns = tally->max_ns,
		.busy_ns = times(tally->busy_ns, scale),
	};
	for (int i = 0; i < AGGREGATE_BUCKETS; i++) {
		uint64_t in = times(tally->ns_log2[i], scale);

		whole->ns_log2[i] = in < UINT32_MAX ? in : UINT32_MAX;
	}
	return true;
}

double live_sample__variance(const struct tally *whole, double scale)
{
	double sum = 0;

	for (int i = 0; i < AGGREGATE_BUCKETS; i++)
		sum += whole->ns_log2[i] * (double)(1ull << i) * (double)(1ull << i);
	return sum * (scale - 1);
}
