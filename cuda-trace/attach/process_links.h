/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listening to the agents of some processes, without waking those of others: links by process. One
 * probe, cuda:start, reports processes that load the agent from now on: nothing but this is
 * due to it. Used by the session; one thread.
 */
#ifndef CUDA_TRACE_ATTACH_PROCESS_LINKS_H
#define CUDA_TRACE_ATTACH_PROCESS_LINKS_H

#include <stdbool.h>
#include <stdint.h>

struct attachments;
struct cuda_status;
struct event_start;
struct guests;
struct switches;

/* linked: the map of that name. switches may be NULL. */
struct guests *guests__new(struct attachments *attachments, struct switches *switches, int linked,
			   bool verbose);
/* Accepts NULL; what is attached is the attachments' to drop. */
void guests__free(struct guests *guests);
/* A library file that processes may load: these will be reported. */
void guests__add_file(struct guests *guests, const char *path);
/* Nobody maps it any more. */
void guests__drop_file(struct guests *all, const char *path);
int guests__files(const struct guests *guests);
/* A process that is meant, and the agent that it maps or is going to: listens to it, unless that is
 * so already. */
void guests__add_process(struct guests *guests, uint32_t pid, const char *path);
/* Before and after a process is added that was reported: says so if that came too late for it. */
void guests__expect(struct guests *guests);
void guests__note_time(struct guests *guests, const struct event_start *event);
/* Accepts NULL. What a process said of itself: another tool may have ended its wait before us. */
void guests__note_begin(struct guests *guests, uint32_t pid, const struct cuda_status *status);
/* START_WITHOUT_FIRST: goes over to a link that does not need the process's first thread. */
void guests__lost_first(struct guests *guests, uint32_t pid);
/* Releases those that have ended. */
void guests__tidy(struct guests *guests);

#endif
