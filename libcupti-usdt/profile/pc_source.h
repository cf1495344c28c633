/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an instruction to its line of source, by CUPTI, which wants the module's image for it; and
 * the images that samples are of. On the threads that sample or count, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PROFILE_PC_SOURCE_H
#define LIBCUPTI_USDT_PROFILE_PC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who wants lines of source. */
enum pc_source_user { PC_SOURCE_SAMPLES = 1, PC_SOURCE_SASS = 2 };
/* Images are kept from now on; forgotten, and their memory freed, when nobody wants them. */
int pc_source__open(enum pc_source_user user);
void pc_source__close(enum pc_source_user user);
/* A module was loaded: from CUPTI's callback, on any thread. The image is valid during it only. */
void pc_source__module(const void *image, size_t size);
struct cuda_pc_image;

/* True once for each image that samples are of: where its copy lies. All of them once more after
 * the second. On the thread of pc_sampling.c. */
bool pc_source__image(uint64_t cubin, struct cuda_pc_image *image);
void pc_source__tell_again(void);
/* The same of an image that has lines, however often it is called. On any thread, as below. */
bool pc_source__lined_image(uint64_t cubin, struct cuda_pc_image *image);
/* The line, and in *file the id of its path's name; 0 = unknown. On any thread; waits for another
 * that asks, 0.1 s at most. */
uint32_t pc_source__line(uint64_t cubin, const char *function, uint32_t function_name,
			 uint64_t offset, uint32_t *file);

#endif
