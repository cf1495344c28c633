/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that were requested to yield, and for whom. The gate's thread, or under its lock.
 */
#ifndef CUDA_TRACE_YIELD_YIELD_REQUESTS_H
#define CUDA_TRACE_YIELD_YIELD_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yield_client;
struct yield_requests;

/* program: any, for a link; requested: the map of that name. */
struct yield_requests *yield_requests__new(int program, int requested, bool verbose);
/* Requests that the agent of that process yields to this client. */
void yield_requests__raise(struct yield_requests *requests, uint32_t pid,
			   const struct yield_client *client);
/* Calls is_there() for each process that yields; false: its client has left. */
void yield_requests__review(struct yield_requests *requests,
			    bool (*is_there)(void *context, uint32_t pid), void *context);
/* How many yield. */
unsigned int yield_requests__count(const struct yield_requests *requests);
bool yield_requests__client(const struct yield_requests *requests, uint32_t pid, char *name,
			    size_t size);
/* The process has ended. */
void yield_requests__forget(struct yield_requests *requests, uint32_t pid);
void yield_requests__free(struct yield_requests *requests);

#endif
