// SPDX-License-Identifier: BSD-2-Clause
/*
 * Contexts of a process are sampled at a time: each has a burst of its own that is not complete.
 * Of more samples than are kept the burst says so, as it does when CUPTI's buffer was full.
 */
#include "cuda-trace/base/held_bursts.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"

#define SAMPLES	 (1u << 17) /* of a process, 8 MiB */
#define CONTEXTS 64

struct held_bursts {
	struct held_burst *begun; /* one for each context */
	struct held_burst *first, **last;
	struct held_burst *taken;
	size_t samples, contexts;
};

static void free_burst(struct held_burst *burst)
{
	if (burst)
		free(burst->samples);
	free(burst);
}

static void free_list(struct held_burst *burst)
{
	while (burst) {
		struct held_burst *next = burst->next;

		free_burst(burst);
		burst = next;
	}
}

void held_bursts__free(struct held_bursts *bursts)
{
	if (!bursts)
		return;
	free_list(bursts->begun);
	free_list(bursts->first);
	free_burst(bursts->taken);
	free(bursts);
}

static struct held_burst *burst_of(struct held_bursts *bursts, __u32 context)
{
	struct held_burst *burst = bursts->begun;

	while (burst && burst->window.context != context)
		burst = burst->next;
	if (burst || bursts->contexts == CONTEXTS)
		return burst;
	burst = calloc(1, sizeof(*burst));
	if (burst) {
		burst->window.context = context;
		burst->next = bursts->begun;
		bursts->begun = burst;
		bursts->contexts++;
	}
	return burst;
}

/* An older or newer agent's may be shorter or longer. */
static void copy(void *to, size_t size, const struct cuda_record *from)
{
	memset(to, 0, size);
	memcpy(to, from, from->size < size ? from->size : size);
	((struct cuda_record *)to)->size = (__u16)size;
}

static void add_sample(struct held_bursts *bursts, const struct cuda_record *record)
{
	struct cuda_pc_sample sample;
	struct held_burst *burst;

	copy(&sample, sizeof(sample), record);
	burst = burst_of(bursts, sample.context);
	if (!burst)
		return;
	if (bursts->samples >= SAMPLES ||
	    !array_grow__for_one(burst->samples, burst->capacity, burst->count)) {
		burst->window.overflows = 1;
		return;
	}
	burst->samples[burst->count++] = sample;
	bursts->samples++;
}

static void end_burst(struct held_bursts *bursts, const struct cuda_record *record, __u64 now)
{
	struct cuda_pc_window window;
	struct held_burst *burst, **at = &bursts->begun;

	copy(&window, sizeof(window), record);
	while (*at && (*at)->window.context != window.context)
		at = &(*at)->next;
	burst = *at;
	if (burst) {
		*at = burst->next;
		bursts->contexts--;
		window.overflows |= burst->window.overflows;
	} else {
		/* No sample was taken, or there was no space for its context. */
		burst = calloc(1, sizeof(*burst));
		window.overflows |= bursts->contexts == CONTEXTS;
	}
	if (!burst)
		return;
	burst->window = window;
	burst->came = now;
	burst->next = NULL;
	*bursts->last = burst;
	bursts->last = &burst->next;
}

void held_bursts__add(struct held_bursts **bursts, const struct cuda_record *record, __u64 now)
{
	if (!*bursts) {
		*bursts = calloc(1, sizeof(**bursts));
		if (!*bursts)
			return;
		(*bursts)->last = &(*bursts)->first;
	}
	if (record->kind == CUDA_RECORD_PC_SAMPLE)
		add_sample(*bursts, record);
	else
		end_burst(*bursts, record, now);
}

struct held_burst *held_bursts__take(struct held_bursts *bursts, __u64 until)
{
	struct held_burst *burst = bursts ? bursts->first : NULL;

	if (!burst || burst->came > until)
		return NULL;
	bursts->first = burst->next;
	if (!bursts->first)
		bursts->last = &bursts->first;
	bursts->samples -= burst->count;
	free_burst(bursts->taken);
	bursts->taken = burst;
	return burst;
}
