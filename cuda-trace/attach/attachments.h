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
/* Names and states first, so that no batch comes from an unknown process; of one process, whose
 * number is not 0, cuda:watched last. 0, or -errno when not even those could be attached (said on
 * stderr, unless the process has gone). */
int attachments__add(struct attachments *attachments, const struct probe_place *place,
		     uint64_t number);
/* A process is over. */
void attachments__drop_process(struct attachments *attachments, uint64_t number);
/* Nobody maps the file any more: all of its links go, and what keeps it open. */
void attachments__drop_file(struct attachments *attachments, const char *path);
/* One probe more, in every process that maps the file; the program has its name. 0 or -errno:
 * -ENOENT if the file has no such probe. */
int attachments__add_probe(struct attachments *attachments, const char *path, const char *probe);
/* Has stacks taken at one in `period` launches, which is one of CUDA_STACK_PROBES, in the files
 * that are watched and that will be; another period before that ends. 0 = none. */
void attachments__set_stack_period(struct attachments *attachments, uint32_t period);
/* Requests names and states from the agents again, by another hello probe than the last time: each
 * counts as a new request. */
void attachments__say_hello(struct attachments *attachments);
/* Has the agents send all that they recorded until now; their status says so. 0, or -errno if
 * some do not know that. */
int attachments__request_flush(struct attachments *attachments);
/* Attaches a program that is no probe of the agent: sched_process_exit and the like. */
int attachments__add_program(struct attachments *attachments, const char *program);
/* The tool's own probe, in one process or (0) in all. */
int attachments__add_selftest(struct attachments *attachments, uint32_t pid);
/* Switches the agents off: only names and states go on. */
void attachments__drop_batches(struct attachments *attachments);
/* How many were added and not dropped. */
/* ns, when everything but the answer to cuda:start was attached for the last process that got one.
 */
uint64_t attachments__ready(const struct attachments *attachments);
int attachments__places(const struct attachments *attachments);

#endif
