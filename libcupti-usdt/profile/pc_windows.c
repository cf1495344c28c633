// SPDX-License-Identifier: BSD-2-Clause
/*
 * CUPTI samples contexts: each is enabled and configured once, and started and stopped for each
 * window. None of it is made on a thread of the program's.
 *
 * A launch or a memset in the middle of a Start, Stop or Disable never returned, nor did that: seen
 * on an H200 (libcupti 13.0 Update 1) each time that threads launched, also with pauses, whether
 * the call came from another thread or from a launch's own callback. With each launching thread
 * held at the entry of its launch all of them returned, after 0.1 to 0.3 s at first, then Start
 * after 0.1 ms and Stop after 3 to 8 ms, or when the kernels of the window were done. Copies,
 * waits, events and allocations of other threads did no harm meanwhile, and asking for data needs
 * none of that.
 *
 * Failure modes: 0. the thread that holds the others is stuck: they go on after 3 s, see
 * pc_sampling.c. 1. a context is destroyed meanwhile: see pc_contexts.c. 2. the administrator does
 * not allow it: said once for each context, which is left alone until the group is wanted anew;
 * another process samples the GPU: said once, and tried in each window. 3. CUPTI's buffer on the
 * GPU takes memory that the program wants: we set a small size. 4. more samples than one hit may
 * carry: handed out in parts, and in so many parts only that this thread comes back to its other
 * work. 5. the names of functions: CUPTI's header has the caller free them, but it hands out the
 * same one again (30 ranges on an H200), and crashed when it was freed in between. They are left to
 * it, and do not grow.
 */
#include "libcupti-usdt/profile/pc_windows.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/profile/stream_captures.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/profile/launch_gate.h"
#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/profile/pc_contexts.h"
#include "libcupti-usdt/profile/pc_source.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"

#define CONTEXTS 8
#define REASONS	 64
#define RECORDS	 512 /* fetched from CUPTI at a time */
#define SPARE	 64  /* what CUPTI hands out by itself, when a context ends or a module goes */
#define PARTS	 64  /* of one window */

/* CUPTI's own choice is 512 MiB, which it maps in the process, and a look each 2^11 cycles: 100,000
 * samples a millisecond, which Stop takes 28 ns each to sort. */
#define BUFFER_BYTES ((size_t)32 << 20)
#define PERIOD	     16
#define PAUSE_NS     3000000000ULL /* that captures are held up for, each a little */

static struct record_buffer record_buffer;

static size_t reason_count;
static uint32_t reason_indexes[REASONS];
static char reason_texts[REASONS][CUPTI_PC_REASON_NAME];
static uint32_t reason_names[REASONS]; /* ids */

static struct batch batch;
static uint64_t held_ns; /* that launches were, since the last report */

/* ---- memory ---- */

static void *take(char **at, size_t bytes)
{
	void *taken = *at;

	*at += (bytes + 63) & ~(size_t)63;
	return taken;
}

static void furnish(struct record_buffer *to, size_t count, char **at)
{
	to->count = count;
	to->records = take(at, count * sizeof(*to->records));
	to->stalls = take(at, count * sizeof(*to->stalls));
}

int pc_windows__prepare(void)
{
	size_t each = sizeof(struct cupti_pc_record) + sizeof(struct cupti_pc_stall[REASONS]);
	char *memory;

	if (record_buffer.records)
		return 0;
	memory = memory__map((RECORDS + CONTEXTS * SPARE) * each + (CONTEXTS + 1) * 128);
	if (!memory)
		return -ENOMEM;
	furnish(&record_buffer, RECORDS, &memory);
	for (int i = 0; i < CONTEXTS; i++)
		furnish(&pc_contexts__slot(i)->spare, SPARE, &memory);
	return 0;
}

/* As CUPTI wants it before each call: it writes over some of it. */
static void prepare(struct record_buffer *to)
{
	memset(&to->data, 0, sizeof(to->data));
	to->data.size = sizeof(to->data);
	to->data.capacity = to->count;
	to->data.records = to->records;
	for (size_t i = 0; i < to->count; i++) {
		memset(&to->records[i], 0, sizeof(to->records[i]));
		to->records[i].size = sizeof(to->records[i]);
		to->records[i].stalls = to->stalls[i];
	}
}

/* ---- switching on ---- */

static int learn_reasons(void *context)
{
	const struct cupti *cupti = cupti_api__get();
	char *texts[REASONS];
	size_t count = 0;
	struct cupti_pc_reason_count how_many = {
		.size = CUPTI_PC_SIZE(struct cupti_pc_reason_count, count),
		.context = context,
		.count = &count,
	};
	struct cupti_pc_reasons which = {
		.size = CUPTI_PC_SIZE(struct cupti_pc_reasons, names),
		.context = context,
		.indexes = reason_indexes,
		.names = texts,
	};
	int result = cupti->PCSamplingGetNumStallReasons(&how_many);

	if (result)
		return result;
	if (!count || count > REASONS)
		return -E2BIG;
	for (size_t i = 0; i < count; i++)
		texts[i] = reason_texts[i];
	which.count = count;
	result = cupti->PCSamplingGetStallReasons(&which);
	if (result)
		return result;
	reason_count = count;
	for (size_t i = 0; i < count; i++) {
		reason_texts[i][CUPTI_PC_REASON_NAME - 1] = '\0';
		/* Two of them are no reasons, but counters. */
		reason_names[i] = strstr(reason_texts[i], "stalled")
					  ? interned_names__intern(reason_texts[i])
					  : 0;
	}
	return 0;
}

static int configure(struct slot *slot, void *context)
{
	struct cupti_pc_attribute attributes[] = {
		{.type = CUPTI_PC_MODE, .number = CUPTI_PC_CONTINUOUS},
		{.type = CUPTI_PC_START_STOP, .number = 1},
		{.type = CUPTI_PC_FORMAT, .number = CUPTI_PC_PARSED},
		{.type = CUPTI_PC_DATA, .data = &slot->spare.data},
		{.type = CUPTI_PC_REASONS, .reasons = {reason_count, reason_indexes}},
		{.type = CUPTI_PC_BUFFER_BYTES, .bytes = BUFFER_BYTES},
		{.type = CUPTI_PC_PERIOD, .number = PERIOD},
	};
	struct cupti_pc_configuration all = {
		.size = CUPTI_PC_SIZE(struct cupti_pc_configuration, attributes),
		.context = context,
		.count = sizeof(attributes) / sizeof(attributes[0]),
		.attributes = attributes,
	};

	prepare(&slot->spare);
	return cupti_api__get()->PCSamplingSetConfigurationAttribute(&all);
}

static uint32_t period_of(void *context)
{
	struct cupti_pc_attribute attribute = {.type = CUPTI_PC_PERIOD};
	struct cupti_pc_configuration one = {
		.size = CUPTI_PC_SIZE(struct cupti_pc_configuration, attributes),
		.context = context,
		.count = 1,
		.attributes = &attribute,
	};

	if (!cupti_api__get()->PCSamplingGetConfigurationAttribute ||
	    cupti_api__get()->PCSamplingGetConfigurationAttribute(&one) || attribute.status)
		return 0;
	return attribute.number;
}

static void enable(struct slot *slot)
{
	const struct cupti *cupti = cupti_api__get();
	int result = pc_contexts__call(slot, cupti->PCSamplingEnable);
	const char *what = "cuptiPCSamplingEnable";
	void *context;

	if (result) {
		pc_contexts__refuse(slot, result, what);
		return;
	}
	slot->enabled = true;
	context = pc_contexts__enter(slot);
	if (!context)
		return;
	cupti->GetDeviceId(context, &slot->device);
	cupti->GetContextId(context, &slot->id);
	/* CUPTI lists them only of a context that is enabled. */
	what = "cuptiPCSamplingGetStallReasons";
	result = learn_reasons(context);
	if (!result) {
		what = "cuptiPCSamplingSetConfigurationAttribute";
		result = configure(slot, context);
	}
	if (!result)
		slot->period = period_of(context);
	pc_contexts__leave();
	if (result) {
		pc_contexts__call(slot, cupti->PCSamplingDisable);
		slot->enabled = false;
		pc_contexts__refuse(slot, result, what);
	}
}

/* ---- samples ---- */

static uint32_t reason_name(uint32_t index)
{
	for (size_t i = 0; i < reason_count; i++)
		if (reason_indexes[i] == index)
			return reason_names[i];
	return 0;
}

static void send(const struct cuda_pc_sample *sample)
{
	if (site_wanted(pc_samples))
		probe_sites__pc_samples(sample, interned_names__text(sample->function),
					interned_names__text(sample->reason),
					interned_names__text(sample->file));
	batch__add(&batch, CUDA_GROUP_PC_SAMPLES, &sample->head);
}

static void add_record(const struct slot *slot, const struct cupti_pc_record *record, uint64_t time)
{
	struct cuda_pc_sample sample = {
		.head = {.kind = CUDA_RECORD_PC_SAMPLE, .size = sizeof(sample)},
		.time = time,
		.cubin = record->cubin,
		.offset = record->offset,
		.function = interned_names__intern(record->function),
		.device = slot->device,
		.context = slot->id,
	};
	struct cuda_pc_image image;

	if (pc_source__image(record->cubin, &image))
		batch__add(&batch, CUDA_GROUP_PC_SAMPLES, &image.head);
	sample.line = pc_source__line(record->cubin, record->function, sample.function,
				      record->offset, &sample.file);
	for (size_t i = 0; i < record->stall_count && i < REASONS; i++) {
		sample.samples = record->stalls[i].samples;
		sample.reason = reason_name(record->stalls[i].reason);
		if (sample.samples && sample.reason)
			send(&sample);
	}
}

static void add_records(const struct slot *slot, const struct record_buffer *from,
			struct cuda_pc_window *window, uint64_t time)
{
	size_t count = from->data.count < from->count ? from->data.count : from->count;

	for (size_t i = 0; i < count; i++)
		add_record(slot, &from->records[i], time);
	window->total += from->data.total;
	window->dropped += from->data.dropped;
	window->other += from->data.other;
	window->overflows |= from->data.full;
}

static int ask(struct slot *slot)
{
	struct cupti_pc_get get = {
		.size = CUPTI_PC_SIZE(struct cupti_pc_get, data),
		.data = &record_buffer.data,
	};
	int result;

	prepare(&record_buffer);
	get.context = pc_contexts__enter(slot);
	if (!get.context) {
		pc_contexts__clear(slot);
		return -ENOENT;
	}
	result = cupti_api__get()->PCSamplingGetData(&get);
	pc_contexts__leave();
	return result;
}

static struct cuda_pc_window window_of(const struct slot *slot, uint64_t now)
{
	return (struct cuda_pc_window){
		.head = {.kind = CUDA_RECORD_PC_WINDOW, .size = sizeof(struct cuda_pc_window)},
		.start = slot->since,
		.end = now,
		.device = slot->device,
		.context = slot->id,
		.period = slot->period,
	};
}

/* The context ended first: its samples went to CUPTI's spare buffer, too late to be trusted. */
static void tell_cut(struct slot *slot)
{
	struct cuda_pc_window window = window_of(slot, clock__now());

	window.overflows = 1;
	batch__add(&batch, CUDA_GROUP_PC_SAMPLES, &window.head);
	batch__send(&batch, CUDA_GROUP_PC_SAMPLES);
}

static void collect(struct slot *slot)
{
	uint64_t now = clock__now();
	struct cuda_pc_window window = window_of(slot, now);
	int result = 0;

	for (int part = 0; part < PARTS; part++) {
		result = ask(slot);
		if (result)
			break;
		add_records(slot, &record_buffer, &window, now);
		if (!record_buffer.data.remaining)
			break;
	}
	if (result == CUPTI_OUT_OF_MEMORY)
		window.overflows = 1;
	else if (result > 0)
		pc_contexts__refuse(slot, result, "cuptiPCSamplingGetData");
	slot->since = now;
	window.held = held_ns;
	held_ns = 0;
	batch__add(&batch, CUDA_GROUP_PC_SAMPLES, &window.head);
	batch__send(&batch, CUDA_GROUP_PC_SAMPLES);
}

/* ---- windows ---- */

static bool can_start(const struct slot *slot)
{
	return !slot->started && !slot->refused && !pc_contexts__has_rival(slot);
}

/* Programs that start together have their first windows at the same time. */
static void report_rival(struct slot *slot)
{
	if (!slot->rivalled)
		status__trouble(CUPTI_HARDWARE_BUSY, "cuptiPCSamplingStart",
				"the GPU is sampled already, by another process or for another "
				"context: tried again in each window");
	slot->rivalled = true;
}

static void start(struct slot *slot)
{
	int result;

	if (!slot->enabled && !slot->refused)
		enable(slot);
	if (!slot->enabled || !can_start(slot))
		return;
	result = pc_contexts__call(slot, cupti_api__get()->PCSamplingStart);
	slot->started = !result;
	slot->stale = result ? slot->stale : 0;
	slot->since = clock__now();
	if (result == CUPTI_HARDWARE_BUSY)
		report_rival(slot);
	else if (result > 0)
		pc_contexts__refuse(slot, result, "cuptiPCSamplingStart");
}

static void stop(struct slot *slot)
{
	int result;

	if (!slot->started)
		return;
	result = pc_contexts__call(slot, cupti_api__get()->PCSamplingStop);
	slot->started = false;
	slot->stopped = !result;
	if (result > 0)
		pc_contexts__refuse(slot, result, "cuptiPCSamplingStop");
}

static void collect_stopped(struct slot *slot)
{
	if (slot->stopped)
		collect(slot);
	slot->stopped = false;
}

static bool postponed;

/* Each capture that is under way would fail (H200): it ends first, and those to come wait a little.
 * Nobody begins one in the middle of the call, as that is held like a launch. */
static void disable(struct slot *slot)
{
	if (stream_captures__any()) {
		postponed |= slot->enabled;
		return;
	}
	if (slot->enabled)
		pc_contexts__call(slot, cupti_api__get()->PCSamplingDisable);
	slot->enabled = slot->started = false;
}

/* No thread is in a launch, and none comes into one; false: one does not get done. */
static bool held(void (*do_it)(struct slot *))
{
	uint64_t before = clock__now();
	bool alone = launch_gate__enter_alone();

	if (alone) {
		pc_contexts__each(do_it, tell_cut);
		launch_gate__leave_alone();
	}
	held_ns += clock__now() - before;
	return alone;
}

static bool wanting;

static void ask_whether_wanting(struct slot *slot)
{
	wanting |= can_start(slot);
}

bool pc_windows__open(void)
{
	pc_source__tell_again();
	wanting = false;
	pc_contexts__each(ask_whether_wanting, tell_cut);
	return !wanting || held(start);
}

bool pc_windows__close(void)
{
	if (!held(stop))
		return false;
	pc_contexts__each(collect_stopped, tell_cut);
	return true;
}

static void collect_started(struct slot *slot)
{
	if (slot->started)
		collect(slot);
}

void pc_windows__part(void)
{
	pc_contexts__each(collect_started, tell_cut);
	pc_windows__open();
}

/* One that never ends must not hold up the others for ever; samples stay enabled then, without a
 * window, until it does. */
static void pause_captures(void)
{
	static uint64_t since;

	if (!postponed)
		since = 0;
	else if (!since)
		since = clock__now();
	stream_captures__pause(postponed && clock__now() - since < PAUSE_NS);
}

bool pc_windows__make_way(void)
{
	bool done;

	postponed = false;
	done = pc_windows__close() && held(disable) && !postponed;
	pause_captures();
	return done;
}

bool pc_windows__end(void)
{
	if (!pc_windows__make_way())
		return false;
	pc_contexts__each(pc_contexts__free, tell_cut);
	pc_source__close(PC_SOURCE_SAMPLES);
	return true;
}
