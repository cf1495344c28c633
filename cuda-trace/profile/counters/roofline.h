/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel on the roofline of each precision it computes in: docs/reference/verdict.md has the
 * formulas. Pure functions; a figure that nobody knows is NAN.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_ROOFLINE_H
#define CUDA_TRACE_PROFILE_COUNTERS_ROOFLINE_H

#include <stdbool.h>

/* X(enumerator, stable key, words). Tensor cores: by what goes in, and what is added up. */
#define ROOFLINES(X)                                                  \
	X(FP32, "fp32", "single precision")                           \
	X(FP64, "fp64", "double precision")                           \
	X(FP16, "fp16", "half precision")                             \
	X(TENSOR_FP64, "tensor_fp64", "tensor cores, FP64")           \
	X(TENSOR_TF32, "tensor_tf32", "tensor cores, TF32")           \
	X(TENSOR_BF16, "tensor_bf16", "tensor cores, BF16")           \
	X(TENSOR_FP16, "tensor_fp16", "tensor cores, FP16")           \
	X(TENSOR_HALF, "tensor_fp16_fp16", "tensor cores, FP16 only") \
	X(TENSOR_FP8, "tensor_fp8", "tensor cores, FP8")              \
	X(TENSOR_FP4, "tensor_fp4", "tensor cores, FP4")              \
	X(TENSOR_INT8, "tensor_int8", "tensor cores, INT8")

enum roofline_precision {
#define ROOFLINE_ENUMERATOR(name, key, words) ROOFLINE_##name,
	ROOFLINES(ROOFLINE_ENUMERATOR)
#undef ROOFLINE_ENUMERATOR
		ROOFLINE_COUNT
};

/* What was counted. */
struct roofline_work {
	struct {
		double operations; /* of the kernel */
		double peak;	   /* operations a cycle of the whole GPU */
		int known;	   /* of the counters that make them up */
	} of[ROOFLINE_COUNT];
};

/* A roof that the memory has in common with all precisions, in figures of a second. */
struct roofline_memory {
	double bytes;	  /* of DRAM, by the kernel */
	double bandwidth; /* bytes a second that it has at most */
	double clock;	  /* cycles of the multiprocessors a second */
	double ns;	  /* that the kernel took */
	bool sparse;	  /* the tensor cores take sparse operands, which their peak is of */
};

struct roofline_point {
	double intensity;   /* operations a byte */
	double performance; /* operations a second */
	double roof;	    /* the best at that intensity */
	double ridge;	    /* intensity from which on the arithmetic is the roof */
	double share;	    /* of the peak of its arithmetic, 1 = all */
};

/* Takes the value if it is part of one. `work` begins as {}. */
void roofline__take(struct roofline_work *work, const char *metric, double value);
/* Of a precision of which not everything was counted, all of it is NAN. */
struct roofline_point roofline__point(const struct roofline_work *work,
				      const struct roofline_memory *memory,
				      enum roofline_precision precision);
/* In which the kernel is nearest to the peak of its arithmetic; single where nothing is known. */
enum roofline_precision roofline__busiest(const struct roofline_work *work,
					  const struct roofline_memory *memory);
const char *roofline__key(enum roofline_precision precision);
const char *roofline__words(enum roofline_precision precision);

#endif
