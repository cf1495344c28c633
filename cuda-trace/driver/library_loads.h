/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the followed processes load libcuda and initialise it: each waits there until the tool has
 * attached. Used by the session; one thread.
 */
#ifndef CUDA_TRACE_DRIVER_LIBRARY_LOADS_H
#define CUDA_TRACE_DRIVER_LIBRARY_LOADS_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct left_out;
struct library_loads;

/* Before the object is loaded: prepares its programs, or leaves them out (then NULL: this kernel
 * cannot, or it is not wanted). */
struct library_loads *library_loads__new(struct bpf_object *object, bool wanted, bool verbose,
					 struct left_out *left_out);
/* Accepts NULL, as all of the following do. */
void library_loads__free(struct library_loads *loads);
/* From now on the loader and cuInit() stop those who call them; false: not any more. Returns how
 * many threads may wait at a time: each keeps a CPU busy. */
uint32_t library_loads__let_wait(struct library_loads *loads, bool wait);
/* The system's loaders and libcudas, before a program starts. */
void library_loads__prepare(struct library_loads *loads);
/* START_EXEC: the process may have a loader that is not known yet. */
void library_loads__note_exec(struct library_loads *loads, uint32_t pid);
/* The return of cuInit() in the libcuda that this process maps. */
enum library_probe {
	LIBRARY_WAS_PROBED,
	LIBRARY_IS_PROBED, /* from now on */
	LIBRARY_UNPROBED,  /* it cannot be: unreadable, or the kernel refused */
};
enum library_probe library_loads__note_library(struct library_loads *loads, uint32_t pid);
/* A process that has loaded libcuda before, and maybe initialised it: it will not wait. */
void library_loads__note_running(struct library_loads *loads, uint32_t pid);
/* The same for one that did not wait until cuInit() was probed: it may have returned already. */
void library_loads__abandon(struct library_loads *loads, uint32_t pid);
/* A thread of it waits for library_loads__answer(). */
bool library_loads__waits(const struct library_loads *loads, uint32_t pid);
/* Ends the wait of this process's thread. False: it has ended already, or the thread did not wait,
 * because too many did. */
bool library_loads__answer(struct library_loads *loads, uint32_t pid);
/* It has loaded libcuda while it was observed and has not called cuInit(), which will be reported.
 * Or it is in the table of library_loads__note_mapped(). */
bool library_loads__expects(const struct library_loads *loads, uint32_t pid);
/* It maps libcuda, and its loader has not reported that: either it is about to, or it loaded
 * libcuda before anybody was stopped. */
bool library_loads__may_report(const struct library_loads *loads, uint32_t pid);
/* It has 250 ms to report it. True, also without a place for it: it will be looked at another time.
 */
bool library_loads__note_mapped(struct library_loads *loads, uint32_t pid);
/* It has reported something, so that the tool will decide about it, or runs another program. */
void library_loads__note_report(struct library_loads *loads, uint32_t pid);
/* The next process in the table whose time is over, to be looked at again: it is no longer expected
 * to report anything. Once nobody waits any more, every process in the table. 0: none is left. */
uint32_t library_loads__next_unreported(struct library_loads *loads);

#endif
