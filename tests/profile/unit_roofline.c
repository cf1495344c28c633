// SPDX-License-Identifier: BSD-2-Clause
// Counters of the tensor cores by the names that chips have for them.
#include <stdio.h>
#include <string.h>

#include "cuda-trace/profile/counters/roofline.h"

#define TENSOR(what) "sm__ops_path_tensor_src_" what ".sum"
#define PEAK	     ".peak_sustained"

static struct roofline_work work;
static const char *const ffma[] = {"sm__sass_thread_inst_executed_op_fadd_pred_on.sum",
				   "sm__sass_thread_inst_executed_op_fmul_pred_on.sum",
				   "sm__sass_thread_inst_executed_op_ffma_pred_on.sum"};

static void tell(const char *chip, bool sparse, const char *more)
{
	/* A cycle a nanosecond, and 10 of them. */
	const struct roofline_memory memory = {
		.bytes = 1, .bandwidth = 1e18, .clock = 1e9, .ns = 10, .sparse = sparse};
	enum roofline_precision busiest = roofline__busiest(&work, &memory);
	struct roofline_point point = roofline__point(&work, &memory, busiest);

	printf("%s: %s, %.0f operations%s", chip, roofline__key(busiest),
	       work.of[busiest].operations, more);
	if (point.share > 0)
		printf(", %.0f %%", 100 * point.share);
	puts(sparse ? "" : " of its peak, which is of dense operands");
	memset(&work, 0, sizeof(work));
}

int main(void)
{
	roofline__take(&work, TENSOR("fp16_bf16_tf32_dst_fp32"), 500);
	roofline__take(&work, TENSOR("fp16_bf16_tf32_dst_fp32") PEAK, 100);
	tell("Turing", false, "");
	roofline__take(&work, TENSOR("fp16_dst_fp32"), 500);
	roofline__take(&work, TENSOR("fp16_dst_fp32") PEAK, 200);
	tell("Ampere", true, "");
	roofline__take(&work, TENSOR("fp8"), 500);
	roofline__take(&work, TENSOR("fp8") PEAK, 200);
	tell("Hopper", true, "");
	roofline__take(&work, TENSOR("fp8_dst_fp32"), 200);
	roofline__take(&work, TENSOR("fp8_dst_fp16"), 200);
	roofline__take(&work, TENSOR("fp4_fp6_dst_fp32"), 300);
	roofline__take(&work, TENSOR("fp4_fp6_dst_fp16"), 400);
	/* Which of them has the higher one does not matter. */
	roofline__take(&work, TENSOR("fp8_dst_fp16") PEAK, 400);
	roofline__take(&work, TENSOR("fp8_dst_fp32") PEAK, 200);
	tell("Blackwell", true, " of four counters");
	roofline__take(&work, TENSOR("fp4_dst_fp32"), 500);
	roofline__take(&work, TENSOR("fp4_dst_fp32") PEAK, 200);
	roofline__take(&work, TENSOR("fp4_fp6_fp8_dst_fp32"), 20);
	roofline__take(&work, TENSOR("fp4_fp6_fp8_dst_fp32") PEAK, 100);
	tell("Blackwell", true, "");
	roofline__take(&work, TENSOR("fp64"), 500);
	roofline__take(&work, TENSOR("fp64") PEAK, 100);
	tell("FP64", true, "");
	/* 40 % of the dense peak beside 30 %, though of the peaks as they are reported 20 %. */
	for (int i = 0; i < 3; i++)
		roofline__take(&work, ffma[i], i == 2 ? 150 : 0);
	roofline__take(&work, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum" PEAK, 50);
	roofline__take(&work, TENSOR("bf16_dst_fp32"), 400);
	roofline__take(&work, TENSOR("bf16_dst_fp32") PEAK, 200);
	tell("both", true, "");
	tell("nothing", true, "");
	return 0;
}
