// SPDX-License-Identifier: BSD-2-Clause
/* Any thread. */
#include "cuda-trace/capture/nccl_calls.h"

#include <stdbool.h>
#include <stddef.h>

static const char *const operations[NCCL_OPERATIONS] = {
	[NCCL_ALL_REDUCE] = "all_reduce",
	[NCCL_BROADCAST] = "broadcast",
	[NCCL_REDUCE] = "reduce",
	[NCCL_ALL_GATHER] = "all_gather",
	[NCCL_REDUCE_SCATTER] = "reduce_scatter",
	[NCCL_ALL_TO_ALL] = "all_to_all",
	[NCCL_GATHER] = "gather",
	[NCCL_SCATTER] = "scatter",
	[NCCL_SEND] = "send",
	[NCCL_RECV] = "recv",
};

/* By ncclDataType_t. */
static const struct {
	const char *name;
	uint64_t bytes;
} types[] = {
	{"int8", 1},	{"uint8", 1},	 {"int32", 4},	    {"uint32", 4},
	{"int64", 8},	{"uint64", 8},	 {"float16", 2},    {"float32", 4},
	{"float64", 8}, {"bfloat16", 2}, {"float8e4m3", 1}, {"float8e5m2", 1},
};

static bool is_known(int32_t type)
{
	return type >= 0 && (size_t)type < sizeof(types) / sizeof(types[0]);
}

const char *nccl_calls__operation(uint32_t function)
{
	return function < NCCL_OPERATIONS ? operations[function] : NULL;
}

const char *nccl_calls__type(int32_t type)
{
	return is_known(type) ? types[type].name : NULL;
}

uint64_t nccl_calls__bytes(const struct event_collective *call)
{
	uint64_t bytes;

	if (!is_known(call->type) ||
	    __builtin_mul_overflow(call->count, types[call->type].bytes, &bytes) || bytes >> 50)
		return 0;
	return bytes;
}
