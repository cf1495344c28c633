// SPDX-License-Identifier: BSD-2-Clause
// The metrics that the simulated GPU has, and the values that SIMCUDA_COUNTERS scripts for them.
// The names are those of a GH100 with libcupti 13.0 Update 1, units and kinds, too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/simcuda/profiler.h"

#define LINES 512

static const struct sim_metric metrics[] = {
	{"gpu__time_duration", "nanosecond", 0},
	{"dram__bytes", "byte", 0},
	{"dram__bytes_read", "byte", 0},
	{"dram__bytes_write", "byte", 0},
	{"dram__cycles_elapsed", "dram_cycle", 0},
	{"lts__t_sectors", "l2_sector", 0},
	{"lts__lts2xbar_cycles_active", "lts_cycle", 0},
	{"lts__t_sector_hit_rate", "", 1},
	{"l1tex__t_sector_hit_rate", "", 1},
	{"l1tex__data_pipe_lsu_wavefronts", "l1tex_wavefront", 0},
	{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld",
	 "l2_sector/l1tex_request", 1},
	{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st",
	 "l2_sector/l1tex_request", 1},
	{"sm__cycles_active", "gpc_cycle", 0},
	{"sm__cycles_elapsed", "gpc_cycle", 0},
	{"sm__warps_active", "gpc_cyclewarp", 0},
	{"smsp__issue_active", "gpc_cycle", 0},
	{"smsp__inst_executed", "instruction", 0},
	{"sm__inst_executed", "instruction", 0},
	{"smsp__warps_eligible", "gpc_cyclewarp", 0},
	{"smsp__average_thread_inst_executed_pred_on_per_inst_executed", "", 1},
	{"smsp__sass_average_branch_targets_threads_uniform", "", 1},
	{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld", "byte/l2_sector", 1},
	{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st", "byte/l2_sector", 1},
	{"sm__inst_executed_pipe_fma", "instruction", 0},
	{"sm__inst_executed_pipe_fma_type_fp16", "instruction", 0},
	{"sm__inst_executed_pipe_fp64", "instruction", 0},
	{"sm__inst_executed_pipe_alu", "instruction", 0},
	{"sm__inst_executed_pipe_xu", "instruction", 0},
	{"sm__inst_executed_pipe_tensor", "instruction", 0},
	{"sm__inst_executed_pipe_tensor_op_hmma", "instruction", 0},
	{"sm__inst_executed_pipe_tensor_op_gmma", "instruction", 0},
	{"sm__inst_executed_pipe_tensor_op_imma", "instruction", 0},
	{"sm__inst_executed_pipe_tensor_op_dmma", "instruction", 0},
	{"sm__pipe_tensor_cycles_active", "gpc_cycle", 0},
	{"sm__ops_path_tensor_src_fp16", "math_op", 0},
	{"sm__ops_path_tensor_src_bf16_dst_fp32", "math_op", 0},
	{"sm__ops_path_tensor_src_tf32_dst_fp32", "math_op", 0},
	{"sm__ops_path_tensor_src_int8", "math_op", 0},
	{"sm__ops_path_tensor_src_fp64", "math_op", 0},
	{"sm__sass_thread_inst_executed_op_fadd_pred_on", "instruction", 0},
	{"sm__sass_thread_inst_executed_op_fmul_pred_on", "instruction", 0},
	{"sm__sass_thread_inst_executed_op_ffma_pred_on", "instruction", 0},
	{"sm__sass_thread_inst_executed_op_dadd_pred_on", "instruction", 0},
	{"sm__sass_thread_inst_executed_op_dmul_pred_on", "instruction", 0},
	{"sm__sass_thread_inst_executed_op_dfma_pred_on", "instruction", 0},
	{"sm__sass_thread_inst_executed_op_hadd_pred_on", "instruction", 0},
	{"sm__sass_thread_inst_executed_op_hmul_pred_on", "instruction", 0},
	{"sm__sass_thread_inst_executed_op_hfma_pred_on", "instruction", 0},
	{"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active", "instruction", 1},
	{"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active", "instruction", 1},
	{"smsp__average_warps_issue_stalled_barrier_per_issue_active", "instruction", 1},
	{"smsp__average_warps_issue_stalled_wait_per_issue_active", "instruction", 1},
	{"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active", "instruction", 1},
	{"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active", "instruction", 1},
	{"smsp__average_warps_active_per_issue_active", "warp", 1},
	/* for PM sampling */
	{"gr__cycles_active", "sys_cycle", 0},
	{"sm__warps_active_realtime", "gpc_cyclewarp", 0},
	{"sm__inst_executed_realtime", "instruction", 0},
	{"sm__pipe_tensor_cycles_active_realtime", "gpc_cycle", 0},
	{"pcie__read_bytes", "byte", 0},
	{"pcie__write_bytes", "byte", 0},
	{"nvlrx__bytes", "byte", 0},
	{"nvltx__bytes", "byte", 0},
	{"gpu__compute_memory_throughput", "percent", 2},
	{"sm__throughput", "percent", 2},
	/* Not of any GPU: it goes with no other one. */
	{"sim__alone", "", 0},
	{"sim__heavy", "", 0},
};
#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

static const char *const counter_rollups[] = {".sum",
					      ".avg",
					      ".max",
					      ".min",
					      ".sum.per_second",
					      ".avg.per_second",
					      ".avg.per_cycle_active",
					      ".avg.per_cycle_elapsed",
					      ".sum.peak_sustained",
					      ".sum.pct_of_peak_sustained_elapsed",
					      ".avg.pct_of_peak_sustained_elapsed",
					      ".avg.pct_of_peak_sustained_active",
					      ".sum.pct_of_peak_sustained_active"};
static const char *const ratio_rollups[] = {".max_rate", ".pct", ".ratio"};
static const char *const throughput_rollups[] = {".avg.pct_of_peak_sustained_elapsed",
						 ".max.pct_of_peak_sustained_elapsed"};

const char *const *sim_metric__rollups(int type, size_t *count)
{
	*count = type == 0   ? sizeof(counter_rollups) / sizeof(counter_rollups[0])
		 : type == 1 ? sizeof(ratio_rollups) / sizeof(ratio_rollups[0])
			     : sizeof(throughput_rollups) / sizeof(throughput_rollups[0]);
	return type == 0 ? counter_rollups : type == 1 ? ratio_rollups : throughput_rollups;
}

/* SIMCUDA_LACKS=NAME,...: an older GPU. */
static bool is_lacking(const char *name, size_t length)
{
	const char *list = getenv("SIMCUDA_LACKS");

	for (; list && *list; list += strcspn(list, ",") + (list[strcspn(list, ",")] == ','))
		if (strcspn(list, ",") == length && !strncmp(list, name, length))
			return true;
	return false;
}

static bool is_rollup(int type, const char *rollup)
{
	size_t count;
	const char *const *rollups = sim_metric__rollups(type, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(rollups[i], rollup))
			return true;
	return false;
}

const struct sim_metric *sim_metric__at(size_t index)
{
	return index < METRICS ? &metrics[index] : NULL;
}

const struct sim_metric *sim_metric__find(const char *name, bool with_rollup)
{
	size_t length = strcspn(name, ".");

	for (size_t i = 0; i < METRICS; i++)
		if (strlen(metrics[i].name) == length && !strncmp(metrics[i].name, name, length) &&
		    !is_lacking(name, length) &&
		    (!with_rollup || is_rollup(metrics[i].type, name + length)))
			return &metrics[i];
	return NULL;
}

/* Lines of "kernel metric value", * for any kernel; the last that fits counts. */
double sim_metric__value(const char *kernel, const char *metric)
{
	const char *path = getenv("SIMCUDA_COUNTERS");
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[LINES], *name, *which, *number, *rest;
	double value = 1;

	while (file && fgets(line, sizeof(line), file)) {
		name = strtok_r(line, " \n", &rest);
		which = strtok_r(NULL, " \n", &rest);
		number = strtok_r(NULL, " \n", &rest);
		if (number && (!strcmp(name, "*") || !strcmp(name, kernel)) &&
		    !strcmp(which, metric))
			value = strtod(number, NULL);
	}
	if (file)
		fclose(file);
	return value;
}

int sim_profiler__fault(const char *function)
{
	const char *fault = getenv("SIMCUDA_PROFILER");
	size_t length = strlen(function);

	if (!fault || strncmp(fault, function, length) || fault[length] != ':')
		return 0;
	return atoi(fault + length + 1);
}
