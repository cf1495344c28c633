// SPDX-License-Identifier: BSD-2-Clause
/*
 * Items go through a list under a lock. If this thread is held up by a disk, they wait there up to
 * PUSH_MEMORY_MAX bytes; then the oldest of them lose their bodies, and are counted by the thread.
 */
#include "cuda-trace/push/push_sender.h"
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/push/push_queue.h"

#define FIRST_PAUSE_MS 1000
#define MAX_PAUSE_MS   60000
#define MAX_AFTER_S    600 /* that a receiver may ask for */
#define LOOK_MS	       1000

struct push_sender {
	struct push_sender_options options;
	struct push_transport *transport;
	struct push_queue *queue;
	struct push_counts counts; /* the thread's */
	pthread_t thread;
	pthread_mutex_t lock;
	/* Under the lock. */
	struct push_item *first, *last;
	size_t waiting;
	bool closing;
	uint64_t deadline; /* ms */
	/* The thread's. */
	uint64_t not_before; /* ms */
	unsigned int failures;
	char said[256]; /* the last failure that was printed */
};

/* What happened since the last call; the items are the caller's. */
static struct push_item *remove_new(struct push_sender *sender, bool *closing)
{
	struct push_item *items;

	pthread_mutex_lock(&sender->lock);
	items = sender->first;
	sender->first = sender->last = NULL;
	sender->waiting = 0;
	*closing = sender->closing;
	pthread_mutex_unlock(&sender->lock);
	return items;
}

static void enqueue(struct push_sender *sender, struct push_item *item)
{
	while (item) {
		struct push_item *next = item->next;

		item->next = NULL;
		push_counts__produced(&sender->counts, item);
		if (item->body) {
			push_queue__add(sender->queue, item);
		} else {
			push_counts__lost(&sender->counts, item, PUSH_LOST_QUEUE_FULL);
			push_item__free(item);
		}
		item = next;
	}
}

/* Each pause is twice the one before, and a part of it is random, so that a thousand nodes do not
 * come back together. */
static uint64_t pause_ms(const struct push_sender *sender, long after_s)
{
	unsigned int doublings = sender->failures < 7 ? sender->failures - 1 : 6;
	uint64_t ms = (uint64_t)FIRST_PAUSE_MS << doublings;

	ms = ms < MAX_PAUSE_MS ? ms : MAX_PAUSE_MS;
	ms = ms * 3 / 4 + ms / 2 * (monotonic__ns() % 1024) / 1024;
	if (after_s > MAX_AFTER_S)
		after_s = MAX_AFTER_S;
	return (uint64_t)after_s * 1000 > ms ? (uint64_t)after_s * 1000 : ms;
}

/* The same failure is printed once, until a request succeeds. */
static void say_failure(struct push_sender *sender, const struct push_answer *answer,
			const char *what)
{
	char text[sizeof(sender->said)];

	if (answer->status)
		snprintf(text, sizeof(text), "the receiver answered %ld%s%.150s: %s",
			 answer->status, *answer->error ? ": " : "", answer->error, what);
	else
		snprintf(text, sizeof(text), "%.200s: %s", answer->error, what);
	if (!strcmp(text, sender->said) && !sender->options.verbose)
		return;
	memcpy(sender->said, text, sizeof(text));
	fprintf(stderr, "cuda-trace push: %s\n", text);
}

/* Whether the same request may succeed later. */
static bool may_succeed_later(long status)
{
	return !status || status == 408 || status == 425 || status == 429 ||
	       (status >= 500 && status != 501 && status != 505);
}

static void retry_later(struct push_sender *sender, const struct push_answer *answer)
{
	sender->failures++;
	sender->counts.failed++;
	sender->not_before = monotonic__ms() + pause_ms(sender, answer->retry_after);
	say_failure(sender, answer, "it will be tried again");
	push_queue__retry(sender->queue);
}

static void handle_answer(struct push_sender *sender, const struct push_answer *answer)
{
	const struct push_item *item = push_queue__first(sender->queue);
	uint64_t rejected = 0;

	if (may_succeed_later(answer->status)) {
		retry_later(sender, answer);
		return;
	}
	sender->failures = 0;
	sender->not_before = 0;
	if (answer->status >= 200 && answer->status <= 299) {
		if (sender->options.rejected)
			rejected = sender->options.rejected(answer->body, answer->size);
		push_counts__sent(&sender->counts, item, rejected);
		*sender->said = 0;
		if (sender->options.verbose)
			fprintf(stderr, "cuda-trace push: sent %" PRIu64 " profiles, %zu bytes%s\n",
				item->profiles, item->size, rejected ? "; some were rejected" : "");
	} else {
		sender->counts.failed++;
		push_counts__lost(&sender->counts, item, PUSH_LOST_REJECTED);
		say_failure(sender, answer, "these profiles are lost");
	}
	push_queue__done(sender->queue);
}

/* True: a request is under way. */
static bool start_next(struct push_sender *sender)
{
	struct push_item *item = NULL;
	struct push_answer answer;

	if (monotonic__ms() >= sender->not_before)
		item = push_queue__first(sender->queue);
	if (!item)
		return false;
	sender->counts.requests++;
	if (push_transport__start(sender->transport, item, &answer))
		return true;
	retry_later(sender, &answer);
	return false;
}

static int wait_ms(const struct push_sender *sender, bool closing)
{
	uint64_t now = monotonic__ms(), until = now + LOOK_MS;

	if (sender->not_before > now && sender->not_before < until)
		until = sender->not_before;
	if (closing && sender->deadline < until)
		until = sender->deadline;
	return until > now ? (int)(until - now) : 0;
}

static bool is_over(struct push_sender *sender, bool closing, bool active)
{
	struct push_item *more;

	if (!closing)
		return false;
	if (monotonic__ms() >= sender->deadline)
		return true;
	if (active)
		return false;
	more = push_queue__first(sender->queue);
	if (more)
		push_queue__retry(sender->queue);
	/* A pause that is longer than what is left: nothing will happen any more. */
	return !more || sender->not_before >= sender->deadline;
}

static void *sender_main(void *context)
{
	struct push_sender *sender = context;
	struct push_answer answer;
	bool active = false, closing = false;

	while (!is_over(sender, closing, active)) {
		enqueue(sender, remove_new(sender, &closing));
		if (!active)
			active = start_next(sender);
		if (push_transport__poll(sender->transport, wait_ms(sender, closing), &answer)) {
			active = false;
			handle_answer(sender, &answer);
		}
	}
	if (active) {
		push_transport__cancel(sender->transport);
		push_queue__retry(sender->queue);
	}
	return NULL;
}

/* Signals are the main thread's business. */
static int start_thread(struct push_sender *sender)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	err = pthread_create(&sender->thread, NULL, sender_main, sender);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

struct push_sender *push_sender__open(const struct push_sender_options *options)
{
	struct push_sender *sender = calloc(1, sizeof(*sender));

	if (!sender)
		return NULL;
	sender->options = *options;
	pthread_mutex_init(&sender->lock, NULL);
	sender->transport = push_transport__open(&options->transport);
	if (sender->transport &&
	    !push_queue__open(&sender->queue, options->queue, options->queue_size,
			      &sender->counts) &&
	    !start_thread(sender))
		return sender;
	push_queue__close(sender->queue);
	push_transport__close(sender->transport);
	free(sender);
	return NULL;
}

/* Under the lock: bodies that are too many. */
static void drop_oldest(struct push_sender *sender)
{
	for (struct push_item *item = sender->first; item && sender->waiting > PUSH_MEMORY_MAX;
	     item = item->next) {
		if (!item->body)
			continue;
		sender->waiting -= item->size;
		free(item->body);
		item->body = NULL;
	}
}

void push_sender__add(struct push_sender *sender, struct push_item *item)
{
	item->next = NULL;
	pthread_mutex_lock(&sender->lock);
	if (sender->last)
		sender->last->next = item;
	else
		sender->first = item;
	sender->last = item;
	sender->waiting += item->size;
	drop_oldest(sender);
	pthread_mutex_unlock(&sender->lock);
	push_transport__wake(sender->transport);
}

void push_sender__close(struct push_sender *sender, uint64_t left_ms, struct push_counts *counts)
{
	bool closing;

	memset(counts, 0, sizeof(*counts));
	if (!sender)
		return;
	pthread_mutex_lock(&sender->lock);
	sender->deadline = monotonic__ms() + left_ms;
	sender->closing = true;
	pthread_mutex_unlock(&sender->lock);
	push_transport__wake(sender->transport);
	pthread_join(sender->thread, NULL);
	enqueue(sender, remove_new(sender, &closing));
	push_queue__close(sender->queue);
	*counts = sender->counts;
	push_transport__close(sender->transport);
	pthread_mutex_destroy(&sender->lock);
	free(sender);
}
