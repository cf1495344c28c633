// SPDX-License-Identifier: BSD-2-Clause
/* launch_window.h: kernels that come before the launches of their threads. Prints what is
 * delivered. */
#include <stdio.h>
#include "cuda-trace/capture/launch_window.h"

static void deliver(void *context, struct process *process, const struct cuda_record *record)
{
	(void)context, (void)process;
	printf("%s %u\n", record->kind == CUDA_RECORD_KERNEL ? "kernel" : "launch",
	       record->correlation);
}

static void launch(struct launch_window *window, struct process *process, uint32_t correlation,
		   uint64_t start)
{
	struct cuda_launch record = {
		.head = {.kind = CUDA_RECORD_LAUNCH,
			 .size = sizeof(record),
			 .correlation = correlation},
		.start = start,
	};

	launch_window__take(window, process, &record.head);
}

static void kernel(struct launch_window *window, struct process *process, uint32_t correlation,
		   uint64_t start)
{
	struct cuda_kernel record = {
		.head = {.kind = CUDA_RECORD_KERNEL,
			 .size = sizeof(record),
			 .correlation = correlation},
		.start = start,
		.end = start + 10,
	};

	launch_window__take(window, process, &record.head);
}

int main(void)
{
	static struct process process;
	struct launch_window *window = launch_window__new(true, deliver, NULL);

	process.status.groups = 1u << CUDA_GROUP_LAUNCH;
	launch(window, &process, 100, 5000000);
	kernel(window, &process, 40, 4999000); /* launched before the observed time */
	kernel(window, &process, 60, 4999500); /* its launch is still in another thread's ring */
	kernel(window, &process, 100, 5000100);
	launch(window, &process, 50, 4999200);
	launch(window, &process, 60, 4999400);
	launch_window__close(window, 9000000);
	kernel(window, &process, 200, 8999500); /* its time may be off: it is known below */
	kernel(window, &process, 110, 8999600);
	launch(window, &process, 110, 8999000);
	launch(window, &process, 200, 9000100);
	launch_window__finish(window, &process);
	launch_window__free(window);
	return 0;
}
