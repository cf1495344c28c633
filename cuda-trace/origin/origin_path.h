/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the path of a control group says about the place.
 */
#ifndef CUDA_TRACE_ORIGIN_ORIGIN_PATH_H
#define CUDA_TRACE_ORIGIN_ORIGIN_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/origin/origin.h"

#define CONTAINER_ID_LENGTH 64

/* Engines that may know a container, by the names of its groups. */
enum origin_engine {
	ENGINE_CRI = 1,	   /* containerd, CRI-O */
	ENGINE_DOCKER = 2, /* also below Kubernetes, with cri-dockerd */
	ENGINE_PODMAN = 4,
};

struct origin_container {
	char id[CONTAINER_ID_LENGTH + 1]; /* lower-case hexadecimal digits */
	unsigned int engines;		  /* of enum origin_engine, as bits */
};

/* Slurm job and step, or the systemd unit. */
void origin_path__parse(const char *path, struct origin *origin);
/* Slurm job and step under version 1 of control groups, which /proc names. */
void origin_path__read_slurm(uint32_t pid, const char *path, struct origin *origin);
/* False: no container that a service of this machine could know. */
bool origin_path__container(const char *path, struct origin_container *container);

#endif
