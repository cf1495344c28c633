// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/capture/record_sizes.h"

/* What this version reads of each kind; older agents may send less, newer ones more. */
size_t record_sizes__known(uint16_t kind)
{
	static const uint16_t sizes[] = {
		[CUDA_RECORD_LAUNCH] = sizeof(struct cuda_launch),
		[CUDA_RECORD_GRAPH_LAUNCH] = sizeof(struct cuda_launch),
		[CUDA_RECORD_KERNEL] = sizeof(struct cuda_kernel),
		[CUDA_RECORD_MEMCPY] = sizeof(struct cuda_memcpy),
		[CUDA_RECORD_MEMSET] = sizeof(struct cuda_memset),
		[CUDA_RECORD_MEMORY] = sizeof(struct cuda_memory),
		[CUDA_RECORD_MEMORY_POOL] = sizeof(struct cuda_memory_pool),
		[CUDA_RECORD_SYNC] = sizeof(struct cuda_sync),
		[CUDA_RECORD_GRAPH] = sizeof(struct cuda_graph),
		[CUDA_RECORD_API] = sizeof(struct cuda_api),
		[CUDA_RECORD_GRAPH_INSTANTIATE] = sizeof(struct cuda_api),
		[CUDA_RECORD_OVERHEAD] = sizeof(struct cuda_overhead),
		[CUDA_RECORD_JIT] = sizeof(struct cuda_jit),
		[CUDA_RECORD_UVM] = sizeof(struct cuda_uvm),
		[CUDA_RECORD_NVTX] = sizeof(struct cuda_nvtx),
		[CUDA_RECORD_DEVICE] = sizeof(struct cuda_device),
		[CUDA_RECORD_CONTEXT] = sizeof(struct cuda_context),
		[CUDA_RECORD_STREAM] = sizeof(struct cuda_stream),
		[CUDA_RECORD_COUNTERS] = sizeof(struct cuda_counters),
		[CUDA_RECORD_COUNTERS_METRIC] = sizeof(struct cuda_counters_metric),
		[CUDA_RECORD_COUNTERS_STATE] = sizeof(struct cuda_counters_state),
		[CUDA_RECORD_SASS] = sizeof(struct cuda_sass),
		[CUDA_RECORD_PC_SAMPLE] = sizeof(struct cuda_pc_sample),
		[CUDA_RECORD_PC_IMAGE] = sizeof(struct cuda_pc_image),
		[CUDA_RECORD_PC_WINDOW] = sizeof(struct cuda_pc_window),
	};

	return kind < sizeof(sizes) / sizeof(sizes[0]) ? sizes[kind] : 0;
}

/* Lengths that a reader believes must be those that came. */
bool record_sizes__are_of_stack(const struct event *event)
{
	const struct event_stack *stack = (const void *)event->data;

	return event->bytes >= offsetof(struct event_stack, python_frames) &&
	       stack->depth <= STACK_ADDRESSES && stack->frames <= STACK_PYTHON_FRAMES &&
	       event->bytes >= offsetof(struct event_stack, python_frames) +
				       stack->frames * sizeof(stack->python_frames[0]);
}

bool record_sizes__are_of_stack_copy(const struct event *event)
{
	const struct event_stack_copy *copy = (const void *)event->data;

	return event->bytes >= sizeof(*copy) && copy->bytes <= event->bytes - sizeof(*copy);
}

bool record_sizes__are_of_code(const struct event *event)
{
	const struct event_code *code = (const void *)event->data;

	return event->bytes >= sizeof(*code) && code->file_bytes <= CODE_FILE_LEN &&
	       code->name_bytes <= CODE_NAME_LEN &&
	       code->table_bytes <= event->bytes - sizeof(*code);
}
