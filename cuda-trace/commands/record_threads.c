// SPDX-License-Identifier: BSD-2-Clause
/* One thread. */
#include "cuda-trace/commands/record_threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/intern.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/idle/idle_threads.h"
#include "cuda-trace/idle/wait_causes.h"

#define TEXTS_MAX     65536
#define TEXTS_BYTES   (16u << 20)
#define FUNCTIONS_MAX 16384 /* of idle_functions.c */
#define STATE_RUNNING 0	    /* see enum idle_state for the others */
#define STATE_LOST    5

struct record_threads {
	struct store *store;
	struct idle_functions *functions;
	struct idle_threads *threads;
	struct interned *texts;
	uint32_t function_texts[FUNCTIONS_MAX + 1];
	uint64_t last_read, lost;
	uint64_t from, until; /* ns: what is recorded */
};

/* The number of a text, which is in the recording before what refers to it. */
static uint32_t text_of(struct record_threads *threads, const char *text, size_t most)
{
	size_t length = strnlen(text, most);
	bool is_new = false;
	uint32_t number;

	if (!length)
		return 0;
	number = intern__number(threads->texts, text, length, &is_new);
	if (is_new && number)
		store__put(threads->store, SPOOL_TEXT, &number, sizeof(number), text, length);
	return number;
}

static uint32_t function_text(struct record_threads *threads, uint32_t function)
{
	const char *name;

	if (!function || function > FUNCTIONS_MAX)
		return 0;
	if (!threads->function_texts[function]) {
		name = idle_functions__name(threads->functions, function);
		threads->function_texts[function] = text_of(threads, name, strlen(name));
	}
	return threads->function_texts[function];
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* False: all of it is outside. */
static bool clip(const struct record_threads *threads, struct spool_thread *thread)
{
	uint64_t length;

	if (thread->start >= threads->from && thread->end <= threads->until)
		return true;
	if (thread->end < threads->from || thread->start >= threads->until)
		return false;
	if (thread->start < threads->from)
		thread->start = threads->from;
	thread->end = least(thread->end, threads->until);
	length = thread->end - thread->start;
	thread->off_ns = least(thread->off_ns, length);
	thread->delay_ns = least(thread->delay_ns, length);
	return true;
}

static void put(struct record_threads *threads, struct spool_thread *thread)
{
	if (!clip(threads, thread))
		return;
	thread->head = (struct cuda_record){SPOOL_THREAD, sizeof(*thread), 0};
	store__put(threads->store, SPOOL_RECORD, thread, sizeof(*thread), NULL, 0);
}

/* Who woke it may be no watched thread: a report knows all that are. */
static void put_wait(struct record_threads *threads, const struct idle_wait *wait,
		     uint32_t function)
{
	struct idle_span span = {
		.syscall = wait->syscall,
		.file = wait->file,
		.mode = wait->mode,
		.state = wait->state,
		.name = wait->name,
	};
	struct spool_thread thread = {
		.start = wait->start,
		.end = wait->end,
		.off_ns = wait->off_ns,
		.delay_ns = wait->delay_ns,
		.pid = wait->pid,
		.tid = wait->tid,
		.waker_pid = wait->other.pid,
		.waker_tid = wait->other.tid,
		.waker = text_of(threads, wait->other.comm, sizeof(wait->other.comm)),
		.rival = text_of(threads, wait->rival.comm, sizeof(wait->rival.comm)),
		.function = function_text(threads, function),
		.state = wait->state,
		.cause = wait_causes__of(&span, false),
	};
	char name[IDLE_FILE_LEN + 1] = "", text[128];

	memcpy(name, wait->name, IDLE_FILE_LEN);
	span.name = name;
	if (wait->state != IDLE_RUNNABLE)
		thread.text = text_of(threads, wait_causes__text(text, sizeof(text), &span),
				      sizeof(text));
	put(threads, &thread);
}

static void add(void *context, const struct idle_wait *wait, const struct idle_sample *sample,
		uint32_t function)
{
	struct record_threads *threads = context;
	struct spool_thread thread = {.state = STATE_RUNNING, .cause = IDLE_CPU};

	if (wait) {
		put_wait(threads, wait, function);
		return;
	}
	thread.start = thread.end = sample->time;
	thread.pid = sample->pid;
	thread.tid = sample->tid;
	thread.function = function_text(threads, function);
	put(threads, &thread);
}

struct record_threads *record_threads__new(const struct session *session, struct store *store)
{
	struct record_threads *threads = calloc(1, sizeof(*threads));

	if (!threads)
		return NULL;
	threads->store = store;
	threads->until = UINT64_MAX;
	threads->last_read = monotonic__ns();
	threads->texts = intern__new(TEXTS_MAX, TEXTS_BYTES);
	threads->functions = idle_functions__new();
	if (threads->texts && threads->functions)
		threads->threads = idle_threads__new(session, threads->functions, add, threads);
	if (threads->threads)
		return threads;
	record_threads__free(threads);
	return NULL;
}

void record_threads__process(struct record_threads *threads, const struct process *process)
{
	if (threads)
		idle_evidence__add(idle_threads__evidence(threads->threads), process->pid);
}

void record_threads__only(struct record_threads *threads, uint64_t from, uint64_t until)
{
	if (!threads)
		return;
	threads->from = from;
	threads->until = until;
}

void record_threads__read(struct record_threads *threads)
{
	struct idle_counters counters;
	uint64_t now = monotonic__ns();
	struct spool_thread lost;

	if (!threads)
		return;
	idle_evidence__read(idle_threads__evidence(threads->threads));
	idle_evidence__counters(idle_threads__evidence(threads->threads), &counters);
	if (counters.ring_full > threads->lost) {
		lost = (struct spool_thread){
			.start = threads->last_read,
			.end = now,
			.state = STATE_LOST,
		};
		put(threads, &lost);
	}
	threads->lost = counters.ring_full;
	threads->last_read = now;
}

void record_threads__finish(struct record_threads *threads)
{
	struct idle_evidence *evidence;
	struct idle_counters counters;
	const char *reduced;
	uint32_t missing = 0;
	char text[256];
	bool scheduler;

	if (!threads)
		return;
	evidence = idle_threads__evidence(threads->threads);
	record_threads__read(threads);
	idle_evidence__finish(evidence);
	idle_evidence__counters(evidence, &counters);
	reduced = idle_evidence__reduced(evidence, &scheduler);
	if (reduced)
		snprintf(text, sizeof(text), "%s", reduced);
	else if (counters.ring_full || counters.threads_full || counters.unfollowed)
		snprintf(text, sizeof(text), "%llu waits were lost, %llu threads did not fit",
			 (unsigned long long)counters.ring_full,
			 (unsigned long long)(counters.threads_full + counters.unfollowed));
	else
		*text = 0;
	store__put(threads->store, SPOOL_TEXT, &missing, sizeof(missing), text, strlen(text));
	if (*text)
		fprintf(stderr, "cuda-trace record: thread states are reduced: %s\n", text);
}

void record_threads__free(struct record_threads *threads)
{
	if (!threads)
		return;
	idle_threads__free(threads->threads);
	idle_functions__free(threads->functions);
	intern__free(threads->texts);
	free(threads);
}
