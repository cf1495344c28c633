/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends a signal, which the process ignores, to each of its threads that enters libcuda. A seized
 * thread stops at the function's entry because of it. The kernel removes the probes when the tool
 * ends, however it ends. One thread.
 */
#ifndef CUDA_TRACE_INJECT_ENTRY_STOP_H
#define CUDA_TRACE_INJECT_ENTRY_STOP_H

struct entry_stop;
struct injection_target;

/* Disarmed. 0 or -errno; *reason is plain text then. */
int entry_stop__new(struct entry_stop **stop, const struct injection_target *target,
		    const char **reason);
int entry_stop__arm(struct entry_stop *stop);
void entry_stop__disarm(struct entry_stop *stop);
/* Accepts NULL. */
void entry_stop__free(struct entry_stop *stop);

#endif
