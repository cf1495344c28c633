/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Admits another CUPTI client to a process whose agent is active: docs/internals/yield.md. It has
 * its own thread, because a client waits for the answer, and the tool may be waiting for a slow
 * reader of its output.
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
/* A copy of the agent, before the probes that activate it are attached. Accepts NULL, as all of the
 * following do. */
void yield_gate__add_file(struct yield_gate *gate, const char *path);
/* No process maps it any more. */
void yield_gate__drop_file(struct yield_gate *gate, const char *path);
/* A libcupti that was passed to processes as an open file: they have no path to it. */
void yield_gate__know(struct yield_gate *gate, int file);
/* An agent was active before this tool attached. */
void yield_gate__add_active(struct yield_gate *gate, uint32_t pid,
			    const struct cuda_status *status);
/* Which file called CUPTI when the process last had to yield, for example "libtorch_cpu.so";
 * untrusted. False: none is known. */
bool yield_gate__client(struct yield_gate *gate, uint32_t pid, char *name, size_t size);
void yield_gate__free(struct yield_gate *gate);

#endif
