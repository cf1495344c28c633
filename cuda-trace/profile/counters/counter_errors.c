// SPDX-License-Identifier: BSD-2-Clause
/*
 * Why there are no counters, and how to fix it.
 */
#include <stdio.h>
#include <string.h>
#include "cuda-trace/profile/counters/counter_report.h"
#include "cuda-trace/base/text.h"

/* CUptiResult */
#define OUT_OF_MEMORY  8
#define UNKNOWN_METRIC 17
#define HARDWARE_BUSY  26
#define NOT_SUPPORTED  27
#define NO_RIGHTS      35

#define TOO_OLD	       "libcupti " /* the beginning of the agent's messages for that */
#define OF_GRAPHS      "the graph"
#define RANGE_PROFILER "cuptiRangeProfiler"
#define KNOWS_CHIP     "cuptiProfilerHostInitialize" /* or not */
#define TRY_OTHERS                                                                           \
	"try --replay launches, which counts different launches and replays none, --replay " \
	"application, which runs PROGRAM once for each pass, or metrics of one pass (quick)"

static const struct {
	int result;
	const char *text;
} reasons[] = {
	{HARDWARE_BUSY,
	 "the GPU's counters are held by another profiler (ncu, DCGM: `dcgmi profile "
	 "--pause`, or another cuda-trace): one at a time"},
	{33, "this virtual GPU does not allow reading its counters: its host must set "
	     "enable_profiling"},
	{NO_RIGHTS, "no permission to read the GPU's counters (ERR_NVGPUCTRPERM). Give the program "
		    "CAP_SYS_ADMIN (in a container: --cap-add SYS_ADMIN), or allow it for all "
		    "users: `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in "
		    "/etc/modprobe.d/cuda-trace.conf, then load the driver again or reboot"},
	{40, "no permission to read this virtual GPU's counters: its host must set "
	     "enable_profiling"},
	{41, "confidential computing blocks the counters"},
	{42, "NVIDIA's mining processors have no counters"},
	{43, "the counters of this MIG instance cannot be read"},
	{44, "the counters cannot be read while SLI is on"},
	{CUDA_COUNTERS_NO_END,
	 "the counted kernel did not end within 60 s: its launch has returned, the kernel still "
	 "runs, and no other is counted; exclude it with -k"},
	{CUDA_COUNTERS_HELD,
	 "the counted kernel has not ended within 60 s, and CUPTI waits for it inside the launch "
	 "call, which returns only when the kernel ends; nothing can interrupt it. No other kernel "
	 "is counted; launches of other threads wait 60 s each. Ctrl-C ends cuda-trace, but the "
	 "program keeps waiting. Exclude the kernel with -k"},
	{CUDA_COUNTERS_SILENT,
	 "kernels ran, but CUPTI returned no values and reported no error. CUPTI of CUDA 12.8 and "
	 "12.9 does this with driver 580: use that of CUDA 13.0 or later (`cuda-trace doctor` "
	 "lists what is installed, CUDA_TRACE_LIBCUPTI=FILE selects one)"},
	{CUDA_COUNTERS_WORN,
	 "this process launches graphs, and CUPTI was switched on in it three times, or failed: if "
	 "it were switched on once more, kernels might have no effect (seen with CUDA 13.0). Each "
	 "profile switches it on once, --replay launches once for each set of metrics. Start the "
	 "program again: `cuda-trace profile --counters ... -- PROGRAM`"},
	{45, "this WSL does not give access to the counters: driver 525 and Windows 11 are needed"},
};

const char *counter_report__outcome(uint32_t outcome)
{
	static const char *const keys[] = {"waiting", "on", "done", "failed"};

	return outcome < sizeof(keys) / sizeof(keys[0]) ? keys[outcome] : "unknown";
}

static const char *reason_of(int result)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].result == result)
			return reasons[i].text;
	return NULL;
}

/* Those before Turing, whose counters only the Event and Metric APIs of CUDA 12 and before read. */
static bool is_before_turing(const struct counter_process *process)
{
	static const char *const families[] = {"GF", "GK", "GM", "GP", "GV"};

	for (size_t i = 0; i < sizeof(process->devices) / sizeof(process->devices[0]); i++)
		if (process->devices[i].capability > 0 && process->devices[i].capability < 75)
			return true;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!strncmp(process->chip, families[i], strlen(families[i])))
			return true;
	return false;
}

/* A GPU that the range profiler does not know: too old for it, or newer than this libcupti. */
static void say_chip(const struct counter_process *process, const char *chip)
{
	const char *shown = *chip ? chip : "this GPU";

	if (is_before_turing(process))
		fprintf(stderr,
			"no counters: %s is too old for CUPTI's range profiler (compute capability "
			"7.5, Turing, is the minimum); nvprof of CUDA 12 or older supports it, "
			"through the Event and Metric APIs, which CUDA 13 removed\n",
			shown);
	else
		fprintf(stderr,
			"no counters: this libcupti does not know %s; a newer one may (`cuda-trace "
			"doctor` says which one is used); compute capability 7.5 is the minimum\n",
			shown);
}

/* Between passes CUPTI saves and puts back what the kernel may write. */
static bool is_of_replay(const struct counter_process *process)
{
	return process->state.passes > 1 &&
	       !strncmp(process->function, RANGE_PROFILER, strlen(RANGE_PROFILER));
}

void counter_report__say_passes(uint32_t passes)
{
	fprintf(stderr,
		"the metrics need %u passes, and no graph is launched again for a further "
		"one: " TRY_OTHERS "\n",
		passes);
}

void counter_report__say_failure(const struct counter_process *process)
{
	const struct cuda_counters_state *state = &process->state;
	const char *reason = reason_of(state->result);
	char comm[80], function[300], metric[600], chip[140];

	text__show(comm, sizeof(comm), process->comm, 16);
	text__show(function, sizeof(function), process->function, 64);
	text__show(metric, sizeof(metric), process->metric, 120);
	text__show(chip, sizeof(chip), process->chip, 30);
	fprintf(stderr, "cuda-trace profile: process %u (%s): ", process->pid, comm);
	if (state->result == UNKNOWN_METRIC && *process->metric)
		fprintf(stderr, "%s has no metric %s; see --list-metrics\n",
			*chip ? chip : "this GPU", metric);
	else if (state->result == NOT_SUPPORTED && *process->metric)
		fprintf(stderr,
			"%s cannot be collected together with the metrics before it; request it "
			"alone\n",
			metric);
	else if (state->result == CUDA_COUNTERS_PASSES)
		counter_report__say_passes(state->passes);
	else if (state->result == CUDA_COUNTERS_NO_END && !strcmp(function, OF_GRAPHS))
		fprintf(stderr, "the counted graph did not end within 60 s: its launch has "
				"returned, the graph still runs, and no other is counted\n");
	else if (reason)
		fprintf(stderr, "%s\n", reason);
	else if (state->result == NOT_SUPPORTED && !strncmp(function, TOO_OLD, strlen(TOO_OLD)))
		fprintf(stderr,
			"no counters: the one in use is a %s (`cuda-trace doctor` says which one, "
			"and lists the others)\n",
			function);
	else if (state->result == NOT_SUPPORTED && !strcmp(function, KNOWS_CHIP))
		say_chip(process, chip);
	else if (state->result == OUT_OF_MEMORY && is_of_replay(process))
		fprintf(stderr,
			"no counters: no memory to save what the kernel may write, for its %u "
			"passes "
			"(%s gave error %d): " TRY_OTHERS "\n",
			state->passes, function, state->result);
	else
		fprintf(stderr, "no counters: %s gave error %d%s\n", *function ? function : "CUPTI",
			state->result,
			is_of_replay(process)
				? "; if these kernels cannot run several times: " TRY_OTHERS
				: "");
}
