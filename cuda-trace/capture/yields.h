/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that yield CUPTI to another client.
 */
#ifndef CUDA_TRACE_CAPTURE_YIELDS_H
#define CUDA_TRACE_CAPTURE_YIELDS_H

#include <stddef.h>
#include <stdint.h>

struct cuda_status;
struct process;
struct session_options;
struct yield_gate;

/* NULL = a command that does not watch, or a kernel that cannot. */
struct yield_gate *yields__gate(const struct session_options *options);
/* Admits other clients of a process that was active before this tool attached, and notes them. */
void yields__look(struct yield_gate *gate, struct process *process);
/* When it began to yield, as Unix time; 0 = it does not. */
double yields__since(const struct cuda_status *status);
/* "another CUPTI client (libtorch_cpu.so) has had CUPTI since 14:03:22": into text, which is shown
 * as it is. client: "" = not known. */
const char *yields__text(const struct cuda_status *status, const char *client, char *text,
			 size_t size);

#endif
