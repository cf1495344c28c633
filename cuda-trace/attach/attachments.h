/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The eBPF programs of a session, attached to the probes of library files.
 */
#ifndef CUDA_TRACE_ATTACH_ATTACHMENTS_H
#define CUDA_TRACE_ATTACH_ATTACHMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct attachments;
struct probe_place;

/* Before the object is loaded: batches that are not requested get no program. */
void attachments__prepare(struct bpf_object *object, uint32_t groups);
struct attachments *attachments__new(struct bpf_object *object, uint32_t groups, bool verbose);
/* Detaches what is attached; accepts NULL. */
void attachments__free(struct attachments *attachments);
/* Attaches names and states first, so that no batch comes from an unknown process; for a single
 * process (number is not 0) cuda:watched last. 0, or -errno if not even names and states could be
 * attached (reported on stderr, unless the process has ended). */
int attachments__add(struct attachments *attachments, const struct probe_place *place,
		     uint64_t number);
/* The process has ended. */
void attachments__drop_process(struct attachments *attachments, uint64_t number);
/* No process maps the file any more: closes its links and the file. */
void attachments__drop_file(struct attachments *attachments, const char *path);
/* Attaches to cuda:start and cuda:cupti_wanted, in every process that maps the file. 0 or -errno:
 * -ENOENT if the file has no cuda:start. */
int attachments__add_starts(struct attachments *attachments, const char *path);
/* Collects the stack of one in `period` launches, which is one of CUDA_STACK_PROBES, in all present
 * and future files, instead of the former period. 0 = none. */
void attachments__set_stack_period(struct attachments *attachments, uint32_t period);
/* Before places are added: agents send NVTX ranges at once, as they begin and end. */
void attachments__send_ranges_at_once(struct attachments *attachments);
/* Requests names and states from the agents again, by another hello probe than the last time: each
 * counts as a new request. */
void attachments__say_hello(struct attachments *attachments);
/* Requests that the agents send all that they have recorded until now; their status reports when
 * they have. 0, or -errno if some agents do not support that. */
int attachments__request_flush(struct attachments *attachments);
/* Attaches a program that is no probe of the agent: sched_process_exit and the like. */
int attachments__add_program(struct attachments *attachments, const char *program);
/* The tool's own probe, in one process or (0) in all. */
int attachments__add_selftest(struct attachments *attachments, uint32_t pid);
/* Switches the agents off: only names and states go on. Accepts NULL. */
void attachments__drop_batches(struct attachments *attachments);
/* ns, when everything but the answer to cuda:start was attached for the last process that got one.
 */
uint64_t attachments__ready(const struct attachments *attachments);
/* How many places (files or processes) were added and not dropped. */
int attachments__places(const struct attachments *attachments);
/* How many could not be attached to, in whole or in part; each was named on stderr. */
uint64_t attachments__failures(const struct attachments *attachments);

#endif
