/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's stacks in a file (CUDA_CALLCHAINS, ours or Nsight's), by number; what had no name when
 * it was recorded gets one here, if its file is at hand.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_CALLSTACKS_H
#define CUDA_TRACE_EXPORT_EXPORT_CALLSTACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/export/export_names.h"
#include "cuda-trace/report/report_file.h"

struct export_callstacks;

/* *callstacks is NULL where the file has none. The names must live as long. 0 or -errno. */
int export_callstacks__open(struct export_callstacks **callstacks, const struct report_file *file,
			    const struct names_of_file *names);
/* Frames of that chain, innermost first, clean; NULL and 0 of an unknown one. */
const char *const *export_callstacks__frames(const struct export_callstacks *callstacks, int64_t id,
					     size_t *count);
/* Where a frame's code is: the file, and the address in it as its ELF headers count. */
struct chain_place {
	const char *module;   /* path, as in the process; NULL = not known */
	const char *build_id; /* hexadecimal; NULL = not known: `address` means nothing then */
	uint64_t address;
	const char *source; /* path of the source file; NULL = not known, nor the line */
	uint32_t line;
	bool native;  /* the file has no function of Python at all */
	bool inlined; /* into the next frame, which has the same address; marked in the name */
};
/* Of the frames of that chain, in the same order. */
const struct chain_place *export_callstacks__places(const struct export_callstacks *callstacks,
						    int64_t id);
/* One in so many launches has a chain; 1 where the file does not say. */
uint32_t export_callstacks__period(const struct export_callstacks *callstacks);
/* Frames that are addresses still. */
uint64_t export_callstacks__nameless(const struct export_callstacks *callstacks);
void export_callstacks__close(struct export_callstacks *callstacks);

/*
 * Makes temp.launch_callstacks (correlation, pid, chain) of the launches that have one; pid as in
 * globalPid / 0x1000000. 1 = made, 0 = the file has none, -errno.
 */
int export_callstacks__of_launches(const struct report_file *file);
/* An SQL expression: the chain of the row of table alias k, or NULL. */
#define CHAIN_OF_K                                                                              \
	"(SELECT chain FROM temp.launch_callstacks AS l WHERE l.correlation = k.correlationId " \
	"AND l.pid = k.globalPid / 0x1000000)"

#endif
