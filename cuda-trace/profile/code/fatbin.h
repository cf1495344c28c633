/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What nvcc puts into a program: the section .nv_fatbin holds containers one behind the other, each
 * of them images for several architectures, which may be compressed. The file is untrusted and may
 * change meanwhile: it is read, never mapped, and nothing in it is believed.
 */
#ifndef CUDA_TRACE_PROFILE_CODE_FATBIN_H
#define CUDA_TRACE_PROFILE_CODE_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FATBIN_LARGEST (64ul << 20) /* an image, packed or not */

enum fatbin_packing { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

/* A cubin: machine code of one architecture. */
struct fatbin_image {
	uint64_t at, packed;   /* where its bytes are in the file, and how many */
	uint64_t size;	       /* when they are unpacked; at most FATBIN_LARGEST */
	uint32_t architecture; /* 90 for sm_90 */
	enum fatbin_packing packing;
};

/* Where .nv_fatbin is in an ELF file. False: it has none. */
bool fatbin__section(int fd, uint64_t *at, uint64_t *size);
/* Every cubin of a section, until `each` answers false. False: it did. */
bool fatbin__each(int fd, uint64_t at, uint64_t size,
		  bool (*each)(void *context, const struct fatbin_image *image), void *context);
/* The first `wanted` bytes of an image, or fewer where it has no more: how many came to `to`, 0 =
 * it cannot be read. */
size_t fatbin__unpack(int fd, const struct fatbin_image *image, uint8_t *to, size_t wanted);

#endif
