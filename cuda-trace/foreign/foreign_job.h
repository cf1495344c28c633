/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a parser of an untrusted file in a child process without capabilities, under seccomp: a bug
 * in the parser cannot be exploited in a process of root, and a parser that does not end is killed.
 */
#ifndef CUDA_TRACE_FOREIGN_FOREIGN_JOB_H
#define CUDA_TRACE_FOREIGN_FOREIGN_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/foreign/foreign_file.h"

struct foreign_output;

/* The parser: it has only memory and the file's descriptor. Returns 0 or -errno. */
typedef int (*foreign_job)(int fd, uint64_t size, const void *argument,
			   struct foreign_output *output);
/* Appends to the answer; if it does not fit, the job ends with -EFBIG. */
bool foreign_output__fits(const struct foreign_output *output, size_t size);
void foreign_output__put(struct foreign_output *output, const void *bytes, size_t size);

/* One that writes to `fd`: there is one in a process. */
struct foreign_output *foreign_output__to(int fd, size_t most);

struct foreign_answer {
	uint8_t *bytes; /* untrusted: the file's author may control them */
	size_t size;
};

/*
 * ms: of a processor; see foreign_allowance.h.
 * 0 and the answer, whose bytes the caller frees, or -errno: what the job returned, -ETIMEDOUT,
 * -EFAULT = it crashed, -EFBIG = the answer is larger than `most`, or the file's tables are too
 * large. A file that failed is not read again until it changes: -EALREADY. If a limit was reached,
 * a line on stderr says so.
 */
int foreign_job__run(foreign_job job, const struct foreign_file *file, const void *argument,
		     uint32_t ms, size_t most, struct foreign_answer *answer);
/* The same for what the tool has copied from a process, which the argument leads to: the job's
 * process has a copy of all memory. It reads no file; nothing is remembered or printed. */
int foreign_job__run_in_memory(foreign_job job, const void *argument, uint32_t ms, size_t most,
			       struct foreign_answer *answer);

#endif
