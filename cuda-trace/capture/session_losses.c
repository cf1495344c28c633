// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a session lost: records, as the dispatcher and eBPF count them, and processes that were not
 * or not fully observed. One thread.
 */
#include "cuda-trace/capture/session_losses.h"

#include <bpf/libbpf.h>
#include "bpf/event.h"
#include "bpf/stream.skel.h"
#include "cuda-trace/attach/attachments.h"
#include "cuda-trace/capture/descendants.h"
#include "cuda-trace/capture/dispatcher.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/capture/observations.h"
#include "cuda-trace/capture/session_parts.h"
#include "cuda-trace/capture/stream_sums.h"
#include "cuda-trace/inject/injections.h"

#define RUNNING_MAX 64 /* of what PROGRAM left running */

static void note_open(void *context, uint32_t pid)
{
	const struct session *session = context;

	if (!dispatcher__knows(session->dispatcher, pid))
		observations__miss(session->observations, pid, UNOBSERVED_NOT_YET);
}

void session_losses__note_missed(struct session *session)
{
	uint32_t pids[RUNNING_MAX], count = 0;

	if (session->options.held)
		count = descendants__list(session, session->options.pid, pids, RUNNING_MAX);
	for (uint32_t i = 0; i < count && i < RUNNING_MAX; i++)
		observations__miss(session->observations, pids[i], UNOBSERVED_STILL_RUNS);
	injections__each_open(session->injections, note_open, session);
}

void session__lost(const struct session *session, struct session_lost_counts *counts)
{
	struct stream_counters sum;

	stream_sums__read(bpf_map__fd(session->skeleton->maps.counters), &sum);
	dispatcher__lost(session->dispatcher, &sum, session->options.groups, counts);
	counts->session[SESSION_LOST_FILES] = session->left_out.counts[LEFT_OUT_FILES] +
					      attachments__failures(session->attachments);
	counts->session[SESSION_LOST_DRIVERS] = session->left_out.counts[LEFT_OUT_DRIVERS];
	counts->session[SESSION_LOST_PROCESSES] = session->left_out.counts[LEFT_OUT_PROCESSES];
	counts->session[SESSION_LOST_UNOBSERVED] =
		observations__unobserved(session->observations) + sum.unfollowed;
	counts->session[SESSION_LOST_LATE] =
		observations__late(session->observations) + sum.starts_full;
	counts->total = losses__total(counts);
}

void session__say_unobserved(const struct session *session, FILE *file)
{
	observations__say(session->observations, file);
}

const struct unobserved *session__missed(const struct session *session, uint32_t n)
{
	return observations__missed(session->observations, n);
}
