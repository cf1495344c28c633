/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lets another CUPTI client of a process whose agent works for us:
 * docs/internals/yield.md. It has a thread of its own, because a client waits for its answer, and
 * the tool may be waiting for a slow reader of its output.
 */
#ifndef CUDA_TRACE_YIELD_YIELD_GATE_H
#define CUDA_TRACE_YIELD_YIELD_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuda_status;
struct yield_gate;

/* Before anything is attached to an agent. NULL: this kernel cannot (it needs Linux 6.6), which is
 * reported if verbose. */
struct yield_gate *yield_gate__new(bool verbose);
/* A copy of the agent, before the probes that switch it on. Accepts NULL, as all that follow. */
void yield_gate__add_file(struct yield_gate *gate, const char *path);
/* No process maps it any more. */
void yield_gate__drop_file(struct yield_gate *gate, const char *path);
/* An agent was on before we came. */
void yield_gate__add_active(struct yield_gate *gate, uint32_t pid,
			    const struct cuda_status *status);
/* Which object has called CUPTI in that process, at the last time that it had to yield: "libtorch_
 * cpu.so"; untrusted. False: none is known. */
bool yield_gate__client(struct yield_gate *gate, uint32_t pid, char *name, size_t size);
void yield_gate__free(struct yield_gate *gate);

#endif
