/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an instruction to its line of source, by CUPTI, which wants the module's image for it. On
 * the guest's own thread, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PC_SOURCE_H
#define LIBCUPTI_USDT_PC_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* Images are kept from now on; forgotten, and their memory given back. */
int pc_source__open(void);
void pc_source__close(void);
/* A module was loaded: from CUPTI's callback, on any thread. The image is valid during it only. */
void pc_source__module(const void *image, size_t size);
/* The line, and in *file the id of its path's name; 0 = unknown. */
uint32_t pc_source__line(uint64_t cubin, const char *function, uint32_t function_name,
			 uint64_t offset, uint32_t *file);

#endif
