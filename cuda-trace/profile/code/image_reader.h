/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the image of a module contains. Its bytes are a traced program's: a process without rights
 * parses them (foreign_job.h), and what that one answers is checked against the image's bounds. One
 * thread.
 */
#ifndef CUDA_TRACE_PROFILE_CODE_IMAGE_READER_H
#define CUDA_TRACE_PROFILE_CODE_IMAGE_READER_H

#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/profile/code/code_lines.h"
#include "cuda-trace/profile/code/cubin.h"

struct foreign_output;

struct image_reader {
	const uint8_t *image; /* at most 4 GiB */
	size_t size;
	uint64_t until_ms; /* monotonic; no image is read after that */
};

#define IMAGE_READER_MS 5000 /* for all images of a command */

/* An instruction. */
struct image_place {
	const char *function; /* mangled */
	uint64_t offset;
};

/*
 * Calls found() for each place, in their order, that the line table has a line of: see
 * pc_lines__at(). The texts lie in the image. 0 or -errno: see foreign_job.h.
 */
int image_reader__lines(const struct image_reader *reader, const struct image_place *places,
			uint32_t count,
			void (*found)(void *context, uint32_t place, const struct pc_line *chain,
				      size_t depth),
			void *context);
/* The code of functions (mangled), which lies in the image; .bytes is NULL where it has none, or
 * none of a size that can be. 0 or -errno. */
int image_reader__codes(const struct image_reader *reader, const char *const *functions,
			uint32_t count, struct cubin_code *codes);

/* What runs in the other process, for tests: jobs of foreign_job.h. */
struct image_reader_lines_job {
	const struct image_reader *reader;
	const struct image_place *places;
	uint32_t count;
};

int image_reader__send_lines(int fd, uint64_t size, const void *job, struct foreign_output *output);
/* Reports an answer to that; the bytes may be anything. */
void image_reader__read_lines(const struct image_reader_lines_job *job, const uint8_t *answer,
			      size_t answer_size,
			      void (*found)(void *context, uint32_t place,
					    const struct pc_line *chain, size_t depth),
			      void *context);

#endif
