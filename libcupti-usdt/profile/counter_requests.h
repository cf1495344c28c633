/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is to be counted, of which kernels: the environment says it at the start, or somebody who
 * may write into this process while it runs (counter_request.h). The agent's own
 * thread reads it; what was accepted stays as it is while it is in use.
 */
#ifndef LIBCUPTI_USDT_PROFILE_COUNTER_REQUESTS_H
#define LIBCUPTI_USDT_PROFILE_COUNTER_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

struct request {
	const char *metrics; /* separated by commas */
	const char *kernels; /* a regular expression, or NULL */
	uint64_t skip, limit;
	bool graphs; /* launches of graphs are counted, and no kernels */
};

/* After settings and status: offers the place, if the environment does not say what to count. */
void counter_requests__open(void);
/*
 * Somebody listens; a request is in use. False: there is no request, or the one in use is no longer
 * the current one and must be released before the next one can be accepted.
 */
bool counter_requests__look(bool listened, bool in_use);
/* The one that was taken last; metrics NULL = none ever was. */
const struct request *counter_requests__get(void);

#endif
