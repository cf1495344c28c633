/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One HTTP request at a time, and its answer. One thread, but for __wake(). No credential is in any
 * message.
 */
#ifndef CUDA_TRACE_PUSH_PUSH_TRANSPORT_H
#define CUDA_TRACE_PUSH_PUSH_TRANSPORT_H

#include "cuda-trace/push/push_item.h"

#define PUSH_ANSWER_MAX 4096

struct push_transport_options {
	const char *url;	/* without a "/" at its end */
	const char *token_file; /* NULL = none; read anew for each request */
	const char *header;	/* "NAME: VALUE", or "@FILE" with lines of these; NULL = none */
	const char *ca_file;	/* NULL = the system's */
	uint64_t timeout_ms;
};

struct push_answer {
	long status;	  /* of HTTP; 0 = there was none */
	long retry_after; /* s; 0 = it does not say */
	char error[256];  /* "" or what failed, or how the answer begins; clean */
	size_t size;	  /* of the answer's body, as far as it is kept */
	uint8_t body[PUSH_ANSWER_MAX];
};

struct push_transport;

/* NULL after a message. */
struct push_transport *push_transport__open(const struct push_transport_options *options);
/* Begins to send it; false = it cannot, and answer->error says why. */
bool push_transport__start(struct push_transport *transport, const struct push_item *item,
			   struct push_answer *answer);
/* Waits so long at most; true = the request has ended, and `answer` says how. */
bool push_transport__poll(struct push_transport *transport, int timeout_ms,
			  struct push_answer *answer);
/* Gives up the request. */
void push_transport__cancel(struct push_transport *transport);
/* Ends the wait of __poll(); any thread. */
void push_transport__wake(struct push_transport *transport);
void push_transport__close(struct push_transport *transport);

#endif
