/* SPDX-License-Identifier: BSD-2-Clause */
/* An image or chroot that is not running: what it is, what it lacks, and how to bring that in. */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_IMAGE_H
#define CUDA_TRACE_DOCTOR_DOCTOR_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/inventory/filetree.h"

struct findings;
struct libraries;

/* Flavours as NVIDIA's images have them: each holds the one before. */
enum flavour { FLAVOUR_NONE, FLAVOUR_BASE, FLAVOUR_RUNTIME, FLAVOUR_DEVEL };

struct image {
	char id[32], version[32], name[96]; /* of the distribution; untrusted */
	bool musl;
	bool redhat;
	bool torch; /* PyTorch in some Python environment */
	enum flavour flavour;
	unsigned int cuda_major, cuda_minor; /* 0 = no CUDA runtime found */
	bool minor_known;
	char cuda_full[32];		/* "12.4.1", "" = unknown */
	char cudart[FILETREE_PATH_MAX]; /* a libcudart, "" = none */
	bool wheel;			/* that one came with a Python wheel */
};

void image__read(struct filetree *tree, struct image *image);
/* The processor that a tree's programs run on (EM_…), 0 = unknown. */
uint16_t image__machine(struct filetree *tree);
void image__report(struct libraries *libraries, const struct image *image,
		   struct findings *findings);
/* The package that brings CUPTI for this CUDA: "cuda-cupti-12-4"; false if the release is unknown.
 */
bool image__package(const struct image *image, char out[64]);
/* The command that installs it with this distribution's (or Python's) package manager. */
void image__install_command(const struct image *image, char *out, size_t size);

#endif
