// SPDX-License-Identifier: BSD-2-Clause
/*
 * The presets are made of single counters and ratios, not of *__throughput: that of the SM alone is
 * eight passes. Passes on an H100 stand in the manual page. Old names are in nvprof_names.c.
 */
#include "cuda-trace/profile/counters/counter_presets.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TIME "gpu__time_duration.sum"
#define BUSY                                                \
	"dram__bytes.sum.pct_of_peak_sustained_elapsed,"    \
	"lts__t_sectors.sum.pct_of_peak_sustained_elapsed," \
	"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
/* What L2 answers with goes over a port of its own, which is full before its tags are. */
#define L2_PORT "?lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed"
#define SHAPE                                                \
	"sm__cycles_active.avg,sm__cycles_active.max,"       \
	"sm__cycles_elapsed.max,"                            \
	"sm__warps_active.avg.pct_of_peak_sustained_active," \
	"smsp__issue_active.avg.pct_of_peak_sustained_active"
#define LANES "smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio"
#define SECTORS                                                            \
	"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio," \
	"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"
#define PIPES                                                                      \
	"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed,"            \
	"?sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_elapsed," \
	"?sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_elapsed,"          \
	"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed,"           \
	"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed,"            \
	"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed,"             \
	"?sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
#define SINGLE                                               \
	"sm__sass_thread_inst_executed_op_fadd_pred_on.sum," \
	"sm__sass_thread_inst_executed_op_fmul_pred_on.sum," \
	"sm__sass_thread_inst_executed_op_ffma_pred_on.sum," \
	"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"
#define DOUBLE                                               \
	"sm__sass_thread_inst_executed_op_dadd_pred_on.sum," \
	"sm__sass_thread_inst_executed_op_dmul_pred_on.sum," \
	"sm__sass_thread_inst_executed_op_dfma_pred_on.sum," \
	"sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained"
#define HALF                                                 \
	"sm__sass_thread_inst_executed_op_hadd_pred_on.sum," \
	"sm__sass_thread_inst_executed_op_hmul_pred_on.sum," \
	"sm__sass_thread_inst_executed_op_hfma_pred_on.sum," \
	"sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained"
#define ON_TENSOR(from)                          \
	",?sm__ops_path_tensor_src_" from ".sum" \
	",?sm__ops_path_tensor_src_" from ".sum.peak_sustained"
/* FP16 is one counter on some chips, and one by what is added up on others. */
#define TENSOR_HALF       \
	ON_TENSOR("fp16") \
	ON_TENSOR("fp16_dst_fp32") ON_TENSOR("fp16_dst_fp16") ON_TENSOR("fp16_bf16_tf32_dst_fp32")
#define TENSOR_LONG ON_TENSOR("fp64") ON_TENSOR("tf32_dst_fp32") ON_TENSOR("bf16_dst_fp32")
/* And so is what is narrower; Blackwell's instructions for FP8 take FP6 and FP4, too. */
#define TENSOR_FP8    ON_TENSOR("fp8") ON_TENSOR("fp8_dst_fp32") ON_TENSOR("fp8_dst_fp16")
#define TENSOR_FP6    ON_TENSOR("fp4_fp6_dst_fp32") ON_TENSOR("fp4_fp6_dst_fp16")
#define TENSOR_ALL    ON_TENSOR("fp4_fp6_fp8_dst_fp32") ON_TENSOR("fp4_fp6_fp8_dst_fp16")
#define TENSOR_NARROW ON_TENSOR("int8") TENSOR_FP8 TENSOR_FP6 TENSOR_ALL ON_TENSOR("fp4_dst_fp32")
#define TENSOR	      TENSOR_LONG TENSOR_HALF TENSOR_NARROW
#define DRAM                                              \
	"dram__bytes.sum,dram__bytes.sum.peak_sustained," \
	"dram__cycles_elapsed.avg.per_second,sm__cycles_elapsed.avg.per_second"
#define STALLS                                                                         \
	"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio,"    \
	"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio,"   \
	"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio,"            \
	"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio,"               \
	"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio," \
	"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio,"        \
	"smsp__average_warps_active_per_issue_active.ratio"

const struct counter_preset counter_presets[] = {
	{"quick", "what is busy, in one pass",
	 TIME "," BUSY "," SHAPE "," LANES ",?dram__bytes_read.sum,?dram__bytes_write.sum"},
	{"overview", "all that the verdict reads",
	 TIME "," BUSY "," L2_PORT "," SHAPE "," LANES "," SECTORS "," PIPES "," DRAM "," SINGLE
	      "," DOUBLE "," HALF "," STALLS},
	{"memory", "bytes, hit rates and how accesses are coalesced",
	 TIME "," BUSY "," L2_PORT ",dram__bytes.sum,?dram__bytes_read.sum,?dram__bytes_write.sum,"
	      "lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct," SECTORS ","
	      "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio,"
	      "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"},
	{"compute", "instructions, pipes and floating-point operations",
	 TIME ",smsp__inst_executed.sum,sm__inst_executed.avg.per_cycle_active,"
	      "smsp__issue_active.avg.pct_of_peak_sustained_active," LANES "," PIPES "," SINGLE
	      "," DOUBLE "," HALF},
	{"tensor", "what the tensor cores do",
	 TIME ",?sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,"
	      "?sm__inst_executed_pipe_tensor.sum,?sm__inst_executed_pipe_tensor_op_hmma.sum,"
	      "?sm__inst_executed_pipe_tensor_op_gmma.sum,"
	      "?sm__inst_executed_pipe_tensor_op_imma.sum,"
	      "?sm__inst_executed_pipe_tensor_op_dmma.sum" TENSOR},
	{"occupancy", "warps: how many there are, and how many can issue",
	 TIME "," SHAPE ",sm__warps_active.avg.per_cycle_active,"
	      "smsp__warps_eligible.avg.per_cycle_active"},
	{"roofline", "operations and bytes, with the roofs",
	 TIME "," DRAM "," SINGLE "," DOUBLE "," HALF TENSOR
	      ",?sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
	{},
};

static bool contains(const char *list, const char *name, size_t length)
{
	while (*list) {
		size_t each = strcspn(list, ",");
		const char *bare = list + (*list == '?');

		if (each - (*list == '?') == length && !strncmp(bare, name, length))
			return true;
		list += each + (list[each] == ',');
	}
	return false;
}

static void add(char *to, const char *metrics)
{
	while (*metrics) {
		size_t length = strcspn(metrics, ",");
		bool optional = *metrics == '?';

		if (!contains(to, metrics + optional, length - optional)) {
			if (*to)
				strcat(to, ",");
			strncat(to, metrics, length);
		}
		metrics += length + (metrics[length] == ',');
	}
}

static const char *meaning(const char *word, FILE *notes)
{
	for (const struct counter_preset *preset = counter_presets; preset->name; preset++)
		if (!strcmp(preset->name, word))
			return preset->metrics;
	for (const struct counter_alias *alias = counter_aliases; alias->old; alias++) {
		if (strcmp(alias->old, word))
			continue;
		if (!alias->now)
			return NULL;
		fprintf(notes, "cuda-trace: %s is now called %s%s%s%s\n", word, alias->now,
			alias->note ? " (" : "", alias->note ? alias->note : "",
			alias->note ? ")" : "");
		return alias->now;
	}
	/* Every metric has its unit before two underscores. */
	return strstr(word, "__") ? word : NULL;
}

static size_t presets_length(void)
{
	size_t most = 1;

	for (const struct counter_preset *preset = counter_presets; preset->name; preset++)
		most += strlen(preset->metrics) + 1;
	for (const struct counter_alias *alias = counter_aliases; alias->old; alias++)
		most += alias->now ? strlen(alias->now) + 1 : 0;
	return most;
}

char *counter_presets__expand(const char *list, FILE *notes, char *unknown, size_t size)
{
	char *words = strdup(list), *to = calloc(1, presets_length() + strlen(list) + 2),
	     *rest = words;
	const char *word, *metrics;

	*unknown = 0;
	while (words && to && (word = strsep(&rest, ", "))) {
		if (!*word)
			continue;
		metrics = meaning(word, notes);
		if (!metrics) {
			snprintf(unknown, size, "%s", word);
			free(to);
			to = NULL;
			break;
		}
		add(to, metrics);
	}
	free(words);
	return to;
}

bool counter_presets__has_no_counterpart(const char *word)
{
	for (const struct counter_alias *alias = counter_aliases; alias->old; alias++)
		if (!strcmp(alias->old, word))
			return !alias->now;
	return false;
}
