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
struct agents;
struct switches;

/* linked: the map of that name. switches may be NULL. */
struct agents *process_links__new(struct attachments *attachments, struct switches *switches,
				  int linked, bool verbose);
/* Accepts NULL; what is attached is the attachments' to drop. */
void process_links__free(struct agents *agents);
/* A library file that processes may load: these will be reported. */
void process_links__add_file(struct agents *agents, const char *path);
/* Nobody maps it any more. */
void process_links__drop_file(struct agents *all, const char *path);
int process_links__files(const struct agents *agents);
/* A process that is meant, and the agent that it maps or is going to: listens to it, unless that is
 * so already. */
void process_links__add_process(struct agents *agents, uint32_t pid, const char *path);
/* Before and after a process is added that was reported: says so if that came too late for it. */
void process_links__expect(struct agents *agents);
void process_links__note_time(struct agents *agents, const struct event_start *event);
/* Accepts NULL. What a process said of itself: another tool may have ended its wait before us. */
void process_links__note_begin(struct agents *agents, uint32_t pid,
			       const struct cuda_status *status);
/* START_WITHOUT_FIRST: goes over to a link that does not need the process's first thread. */
void process_links__lost_first(struct agents *agents, uint32_t pid);
/* Releases those that have ended. */
void process_links__prune(struct agents *agents);

#endif
