/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out in the background whether the kernel's links of one process work as they should. Used
 * by one thread.
 */
#ifndef CUDA_TRACE_DRIVER_DRIVER_TRIAL_H
#define CUDA_TRACE_DRIVER_DRIVER_TRIAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct bpf_object;

/* Zeroed at first. */
struct driver_trial {
	struct bpf_object *object;
	pthread_t thread;
	bool started;
	atomic_bool over;
	bool outcome;	    /* once it is over */
	bool known, result; /* the answer that was given */
};

void driver_trial__start(struct driver_trial *trial, struct bpf_object *object);
/* Starts the trial if it was not started, and waits for it; always returns the same answer. waits:
 * a thread of a process waits for the tool, so a trial that is not over counts as failed. */
bool driver_trial__result(struct driver_trial *trial, struct bpf_object *object, bool waits);
/* Waits for the trial, if it was started. */
void driver_trial__end(struct driver_trial *trial);

#endif
