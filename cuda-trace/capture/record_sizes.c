// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/capture/record_sizes.h"

/* What this version reads of each kind; older agents may send less, newer ones more. */
size_t record_sizes__known(uint16_t kind)
{
	static const uint16_t sizes[] = {
#define RECORD_SIZE(name, number, structure, times) [number] = sizeof(struct structure),
		CUDA_RECORDS(RECORD_SIZE)
#undef RECORD_SIZE
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
