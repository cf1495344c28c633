// SPDX-License-Identifier: BSD-2-Clause
// What the ring buffer hands over: each event has its length in front, as 16 bits.
#include <string.h>
#include "bpf/event.h"
#include "cuda-trace/capture/dispatcher.h"
#include "cuda-trace/capture/observations.h"
#include "tests/fuzz/fuzz.h"

static void on_process(void *context, struct process *process)
{
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sink sink = {
		.process_start = on_process, .record = on_record, .process_end = on_process};
	struct observations *observations = observations__new();
	struct dispatcher *dispatcher = dispatcher__new(&sink, UINT32_MAX, observations);
	uint16_t length;

	while (size > sizeof(length)) {
		struct event *event;
		size_t space;

		memcpy(&length, data, sizeof(length));
		data += sizeof(length);
		size -= sizeof(length);
		length = length < size ? length : size;
		/* The programs send whole headers; what they say is the process's. */
		space = length < sizeof(*event) ? sizeof(*event) : length;
		event = calloc(1, space);
		memcpy(event, data, length);
		if (event->bytes > space - sizeof(*event))
			event->bytes = space - sizeof(*event);
		dispatcher__event(dispatcher, event, space);
		free(event);
		data += length;
		size -= length;
	}
	dispatcher__end_all(dispatcher);
	dispatcher__report_ends(dispatcher);
	dispatcher__free(dispatcher);
	observations__free(observations);
	return 0;
}
