// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own. */
#include "cuda-trace/capture/yields.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/capture/session.h"
#include "cuda-trace/yield/yield_gate.h"

struct yield_gate *yields__gate(const struct session_options *options)
{
	bool watches = options->yields && options->source != SESSION_DRIVER;

	return watches ? yield_gate__new(options->verbose) : NULL;
}

void yields__look(struct yield_gate *gate, struct process *process)
{
	if (!process->gated && process->status.state == CUDA_STATE_ACTIVE) {
		process->gated = true;
		yield_gate__add_active(gate, process->pid, &process->status);
	}
	if (process->status.state != CUDA_STATE_YIELDED)
		return;
	if (!yield_gate__client(gate, process->pid, process->client, sizeof(process->client)) &&
	    *process->status.holder)
		memcpy(process->client, process->status.holder, sizeof(process->client));
}

double yields__since(const struct cuda_status *status)
{
	uint64_t now = monotonic__ns();
	struct timespec wall;

	if (!status->yielded_since || status->yielded_since > now)
		return 0;
	clock_gettime(CLOCK_REALTIME, &wall);
	return wall.tv_sec + wall.tv_nsec / 1e9 - (now - status->yielded_since) / 1e9;
}

const char *yields__text(const struct cuda_status *status, const char *client, char *text,
			 size_t size)
{
	char shown[128], when[32] = "";
	time_t since = yields__since(status);
	struct tm local;

	if (since && localtime_r(&since, &local))
		strftime(when, sizeof(when), " since %F %T", &local);
	snprintf(text, size, "another CUPTI client%s%s%s has CUPTI%s", *client ? " (" : "",
		 text__show(shown, sizeof(shown), client, 60), *client ? ")" : "", when);
	return text;
}
