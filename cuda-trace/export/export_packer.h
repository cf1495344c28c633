/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many numbers in few letters: base64 of a stream of LEB128 numbers, as page-data.js reads it.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_PACKER_H
#define CUDA_TRACE_EXPORT_EXPORT_PACKER_H

#include <stdint.h>
#include <stdio.h>

struct packer {
	FILE *out;
	uint8_t bytes[3];
	int count;
};

void packer__number(struct packer *packer, uint64_t number);
/* Zigzag: 0, -1, 1, -2 ... */
void packer__signed(struct packer *packer, int64_t number);
/* Zeros to a whole group of three: how many numbers there are must be known otherwise. */
void packer__end(struct packer *packer);

#endif
