/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parsers of programs and libraries that traced processes map, in a process without privileges
 * (foreign_job.h): 5 s for a file, and 30 s for all files of a run together, so that who maps a
 * thousand large ones does not hold the tool up. Called on the tool's one thread.
 */
#ifndef CUDA_TRACE_SYMBOLS_FILE_PARSER_H
#define CUDA_TRACE_SYMBOLS_FILE_PARSER_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/foreign/foreign_job.h"

struct file_parser {
	foreign_job job;
	size_t max_answer;    /* bytes */
	const char *too_late; /* what took 30 s, and what is missing for that, as a message */
	uint64_t spent;	      /* ns */
	bool complained;
};

/* 0 and the answer, whose bytes the caller frees, or -errno: -ETIMEDOUT after those 30 s. */
int file_parser__run(struct file_parser *parser, const struct foreign_file *file,
		     const void *argument, struct foreign_answer *answer);

#endif
