/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that writes the queue and sends it, so that collecting never waits for a disk or a
 * network. Each item is sent until the receiver has taken or refused it, with growing pauses.
 */
#ifndef CUDA_TRACE_PUSH_PUSH_SENDER_H
#define CUDA_TRACE_PUSH_PUSH_SENDER_H

#include "cuda-trace/push/push_transport.h"

struct push_sender_options {
	struct push_transport_options transport;
	const char *queue;   /* folder; NULL = in memory */
	uint64_t queue_size; /* bytes */
	/* How many profiles the receiver did not take, by the answer to a request that succeeded.
	 */
	uint64_t (*rejected)(const uint8_t *answer, size_t size);
	bool verbose;
};

struct push_sender;

/* NULL after a message. */
struct push_sender *push_sender__open(const struct push_sender_options *options);
/* Takes the item over; never waits. */
void push_sender__add(struct push_sender *sender, struct push_item *item);
/* Sends on until nothing is left or so much time has passed; then counts. Frees the sender. */
void push_sender__close(struct push_sender *sender, uint64_t wait_ms, struct push_counts *counts);

#endif
