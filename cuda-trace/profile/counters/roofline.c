// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which counters make up the operations of a precision, and its peak. Chips name those of the
 * tensor cores differently: a precision is known when all that belongs to one naming was counted.
 */
#include "cuda-trace/profile/counters/roofline.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define EXECUTED(op) "sm__sass_thread_inst_executed_op_" op "_pred_on.sum"
#define TENSOR(what) "sm__ops_path_tensor_src_" what ".sum"
#define PEAK	     ".peak_sustained"

#define DENSE_MAX    1.05 /* clocks and counters are not that exact; what does more is sparse */

/* An instruction of half precision works on two numbers, which is how ncu counts them. */
static const struct input {
	const char *metric;
	enum roofline_precision precision;
	double operations; /* that one is */
} inputs[] =
	{
		{EXECUTED("fadd"), ROOFLINE_FP32, 1},
		{EXECUTED("fmul"), ROOFLINE_FP32, 1},
		{EXECUTED("ffma"), ROOFLINE_FP32, 2},
		{EXECUTED("dadd"), ROOFLINE_FP64, 1},
		{EXECUTED("dmul"), ROOFLINE_FP64, 1},
		{EXECUTED("dfma"), ROOFLINE_FP64, 2},
		{EXECUTED("hadd"), ROOFLINE_FP16, 2},
		{EXECUTED("hmul"), ROOFLINE_FP16, 2},
		{EXECUTED("hfma"), ROOFLINE_FP16, 4},
		{TENSOR("fp64"), ROOFLINE_TENSOR_FP64, 1},
		{TENSOR("tf32_dst_fp32"), ROOFLINE_TENSOR_TF32, 1},
		{TENSOR("bf16_dst_fp32"), ROOFLINE_TENSOR_BF16, 1},
		{TENSOR("fp16"), ROOFLINE_TENSOR_FP16, 1},
		{TENSOR("fp16_dst_fp32"), ROOFLINE_TENSOR_FP16, 1},
		{TENSOR("fp16_bf16_tf32_dst_fp32"), ROOFLINE_TENSOR_FP16, 1},
		{TENSOR("fp16_dst_fp16"), ROOFLINE_TENSOR_HALF, 1},
		{TENSOR("fp8"), ROOFLINE_TENSOR_FP8, 1},
		{TENSOR("fp8_dst_fp32"), ROOFLINE_TENSOR_FP8, 1},
		{TENSOR("fp8_dst_fp16"), ROOFLINE_TENSOR_FP8, 1},
		{TENSOR("fp4_fp6_dst_fp32"), ROOFLINE_TENSOR_FP8, 1},
		{TENSOR("fp4_fp6_dst_fp16"), ROOFLINE_TENSOR_FP8, 1},
		{TENSOR("fp4_fp6_fp8_dst_fp32"), ROOFLINE_TENSOR_FP8, 1},
		{TENSOR("fp4_fp6_fp8_dst_fp16"), ROOFLINE_TENSOR_FP8, 1},
		{TENSOR("fp4_dst_fp32"), ROOFLINE_TENSOR_FP4, 1},
		{TENSOR("int8"), ROOFLINE_TENSOR_INT8, 1},
},
  peaks[] = {
	  {EXECUTED("ffma") PEAK, ROOFLINE_FP32, 2},
	  {EXECUTED("dfma") PEAK, ROOFLINE_FP64, 2},
	  {EXECUTED("hfma") PEAK, ROOFLINE_FP16, 4},
	  {TENSOR("fp64") PEAK, ROOFLINE_TENSOR_FP64, 1},
	  {TENSOR("tf32_dst_fp32") PEAK, ROOFLINE_TENSOR_TF32, 1},
	  {TENSOR("bf16_dst_fp32") PEAK, ROOFLINE_TENSOR_BF16, 1},
	  {TENSOR("fp16") PEAK, ROOFLINE_TENSOR_FP16, 1},
	  {TENSOR("fp16_dst_fp32") PEAK, ROOFLINE_TENSOR_FP16, 1},
	  {TENSOR("fp16_bf16_tf32_dst_fp32") PEAK, ROOFLINE_TENSOR_FP16, 1},
	  {TENSOR("fp16_dst_fp16") PEAK, ROOFLINE_TENSOR_HALF, 1},
	  {TENSOR("fp8") PEAK, ROOFLINE_TENSOR_FP8, 1},
	  {TENSOR("fp8_dst_fp32") PEAK, ROOFLINE_TENSOR_FP8, 1},
	  {TENSOR("fp8_dst_fp16") PEAK, ROOFLINE_TENSOR_FP8, 1},
	  {TENSOR("fp4_fp6_dst_fp32") PEAK, ROOFLINE_TENSOR_FP8, 1},
	  {TENSOR("fp4_fp6_dst_fp16") PEAK, ROOFLINE_TENSOR_FP8, 1},
	  {TENSOR("fp4_fp6_fp8_dst_fp32") PEAK, ROOFLINE_TENSOR_FP8, 1},
	  {TENSOR("fp4_fp6_fp8_dst_fp16") PEAK, ROOFLINE_TENSOR_FP8, 1},
	  {TENSOR("fp4_dst_fp32") PEAK, ROOFLINE_TENSOR_FP4, 1},
	  {TENSOR("int8") PEAK, ROOFLINE_TENSOR_INT8, 1},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void roofline__take(struct roofline_work *work, const char *metric, double value)
{
	for (size_t i = 0; i < COUNT(inputs); i++)
		if (!strcmp(inputs[i].metric, metric)) {
			work->of[inputs[i].precision].operations += value * inputs[i].operations;
			work->of[inputs[i].precision].known++;
		}
	for (size_t i = 0; i < COUNT(peaks); i++)
		if (!strcmp(peaks[i].metric, metric))
			work->of[peaks[i].precision].peak = fmax(work->of[peaks[i].precision].peak,
								 value * peaks[i].operations);
}

/* Sums, of which one part that is missing would be a figure too small. */
static bool is_known(const struct roofline_work *work, enum roofline_precision precision)
{
	int needed = precision <= ROOFLINE_FP16 ? 3 : 1;

	return work->of[precision].known >= needed;
}

/*
 * The peak that libcupti reports of the tensor cores is that of sparse operands, twice what dense
 * ones reach (GH100: 8,192 operations of FP16 a cycle and multiprocessor), but for FP64, which has
 * none.
 */
static double peak_of(const struct roofline_work *work, const struct roofline_memory *memory,
		      enum roofline_precision precision)
{
	double peak = work->of[precision].peak;
	bool as_reported = precision <= ROOFLINE_TENSOR_FP64 || !memory->sparse ||
			   work->of[precision].operations / memory->ns * 1e9 >
				   DENSE_MAX * peak / 2 * memory->clock;

	return as_reported ? peak : peak / 2;
}

struct roofline_point roofline__point(const struct roofline_work *work,
				      const struct roofline_memory *memory,
				      enum roofline_precision precision)
{
	struct roofline_point point = {NAN, NAN, NAN, NAN, NAN};
	double operations = work->of[precision].operations;
	double arithmetic = peak_of(work, memory, precision) * memory->clock;

	if (!is_known(work, precision))
		return point;
	if (memory->bytes > 0)
		point.intensity = operations / memory->bytes;
	if (memory->ns > 0)
		point.performance = operations / memory->ns * 1e9;
	if (arithmetic > 0)
		point.share = point.performance / arithmetic;
	if (memory->bandwidth > 0 && arithmetic > 0) {
		point.ridge = arithmetic / memory->bandwidth;
		if (!isnan(point.intensity))
			point.roof = fmin(arithmetic, point.intensity * memory->bandwidth);
	}
	return point;
}

enum roofline_precision roofline__busiest(const struct roofline_work *work,
					  const struct roofline_memory *memory)
{
	enum roofline_precision busiest = ROOFLINE_FP32;
	double most = 0;

	for (int i = 0; i < ROOFLINE_COUNT; i++) {
		double share = work->of[i].operations / peak_of(work, memory, i);

		if (is_known(work, i) && work->of[i].peak > 0 && share > most) {
			most = share;
			busiest = i;
		}
	}
	return busiest;
}

const char *roofline__key(enum roofline_precision precision)
{
	static const char *const keys[] = {
#define KEY(name, key, words) [ROOFLINE_##name] = key,
		ROOFLINES(KEY)
#undef KEY
	};

	return keys[precision];
}

const char *roofline__words(enum roofline_precision precision)
{
	static const char *const shown[] = {
#define WORDS(name, key, words) [ROOFLINE_##name] = words,
		ROOFLINES(WORDS)
#undef WORDS
	};

	return shown[precision];
}
