// SPDX-License-Identifier: BSD-2-Clause
/*
 * Words for the agent's states. No state of its own, any thread.
 */
#include "cuda-trace/capture/agent_state.h"

#include <stddef.h>
#include "bpf/event.h"

const char *agent_state__key(const struct cuda_status *status)
{
	static const char *const keys[] = {
		[CUDA_STATE_DORMANT] = "dormant", [CUDA_STATE_ACTIVE] = "active",
		[CUDA_STATE_YIELDED] = "yielded", [CUDA_STATE_INERT] = "inert",
		[CUDA_STATE_ENDED] = "ended",
	};

	if (!status->version || status->state >= sizeof(keys) / sizeof(keys[0]))
		return "unknown";
	if (agent_state__is_profiled(status))
		return "profiled";
	return keys[status->state];
}

const char *agent_state__source(const struct cuda_status *status, uint32_t source)
{
	if (source == EVENT_SOURCE_DRIVER)
		return "driver";
	/* An agent that never worked saw nothing; one that met a fatal error did before. */
	if (agent_state__was_inert(status) && status->reason != CUDA_INERT_FATAL)
		return "none";
	return "cupti";
}

static const char *inert_reason(__u32 reason)
{
	switch (reason) {
	case CUDA_INERT_NO_CUPTI:
		return "no usable libcupti was found (cuda-trace doctor -p PID says where it "
		       "looked)";
	case CUDA_INERT_OFF:
		return "switched off by environment";
	case CUDA_INERT_SECURE:
		return "the program is setuid, setgid or has file capabilities";
	case CUDA_INERT_FORKED:
		return "CUDA does not work in a forked child";
	case CUDA_INERT_FATAL:
		return "CUPTI reported a fatal error";
	case CUDA_INERT_SANDBOXED:
		return "since cuInit() it has restricted its own system calls (seccomp), and CUPTI "
		       "may make a forbidden one";
	case CUDA_INERT_UNSUITABLE:
		return "its libcupti has a known fault";
	default:
		return "the injection library gave up";
	}
}

const char *agent_state__trouble(const struct cuda_status *status)
{
	if (!status->version)
		return NULL;
	if (agent_state__was_inert(status))
		return inert_reason(status->reason);
	if (status->state == CUDA_STATE_YIELDED)
		return "another CUPTI client (profiler, debugger) holds the process";
	return NULL;
}

const char *agent_state__no_times(const struct cuda_status *status)
{
	const char *trouble = agent_state__trouble(status);

	if (!trouble && agent_state__is_profiled(status))
		return "PC samples are taken of it (cuda-trace profile --pc)";
	return trouble;
}
