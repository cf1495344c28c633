// SPDX-License-Identifier: BSD-2-Clause
/* A handle that is given more names than there is space for. Prints how a launch of it is called.
 */
#include <stdio.h>
#include <string.h>
#include "cuda-trace/driver/driver_functions.h"
#include "cuda-trace/capture/driver_names.h"
#include "cuda-trace/base/names.h"

#define HANDLE 0x7000u

const char *driver_functions__name(uint32_t function)
{
	(void)function;
	return NULL;
}

uint16_t driver_functions__cbid(uint32_t function)
{
	return function;
}

static void name(struct process *process, int number)
{
	char text[32];

	snprintf(text, sizeof(text), "kernel_%d", number);
	driver_names__put(process, 1, text, sizeof(text));
}

static void launch(struct process *process, const char *when)
{
	struct driver_launch launch = {
		.launch = {.head = {CUDA_RECORD_LAUNCH, sizeof(launch), 0}, .name = 1},
		.kernel = HANDLE,
	};
	struct driver_names_capacity capacity;
	const struct cuda_launch *translated =
		(const void *)driver_names__translate(process, &launch.launch.head, &capacity);

	printf("%s: %s\n", when, process__pretty_name(process, translated->name));
}

int main(void)
{
	struct process *process = process__new(1, DRIVER_INSTANCE);
	int last = 40000;

	process->source = EVENT_SOURCE_DRIVER;
	name(process, 1);
	name(process, 2);
	launch(process, "the second");
	name(process, 1);
	launch(process, "the first again");
	for (int i = 3; i <= last; i++)
		name(process, i);
	launch(process, "one too many");
	name(process, 32768);
	launch(process, "the last one that fits");
	name(process, last);
	launch(process, "one too many again");
	process__free(process);
	return 0;
}
