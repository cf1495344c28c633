/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links of single processes: attach to the agents of some processes and leave those of others
 * dormant. One probe, cuda:start, is attached in all processes: it reports those that load the
 * agent and switches nothing on. Used by the session; one thread.
 */
#ifndef CUDA_TRACE_ATTACH_PROCESS_LINKS_H
#define CUDA_TRACE_ATTACH_PROCESS_LINKS_H

#include <stdbool.h>
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
/* Accepts NULL. Does not detach: attachments.h owns the links. */
void process_links__free(struct agents *agents);
/* A library file: processes that load it from now on are reported. */
void process_links__add_file(struct agents *agents, const char *path);
/* Nobody maps it any more. */
void process_links__drop_file(struct agents *all, const char *path);
int process_links__files(const struct agents *agents);
/* Attaches to a selected process and the agent that it maps or will map, if not yet done. */
void process_links__add_process(struct agents *agents, uint32_t pid, const char *path);
/* Is it attached to the agent of this process? */
bool process_links__reach(const struct agents *agents, uint32_t pid);
/* Before and after a reported process is added. True: that was too late for it, which is said if it
 * has just started. runs: it has not, and what it did before is missing in any case. */
void process_links__expect(struct agents *agents);
bool process_links__note_time(struct agents *agents, const struct event_start *event, bool runs);
/* Accepts NULL. Compares with the process's status: another tool may have ended its wait earlier.
 * Likewise. */
bool process_links__note_begin(struct agents *agents, uint32_t pid,
			       const struct cuda_status *status);
/* START_WITHOUT_FIRST: changes to a link that does not need the process's first thread. */
void process_links__lost_first(struct agents *agents, uint32_t pid);
/* Releases those that have ended. */
void process_links__prune(struct agents *agents);

#endif
