/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the probes of a file are: read from its .note.stapsdt, as <sys/sdt.h> writes it.
 */
#ifndef CUDA_TRACE_ATTACH_PROBE_SITES_H
#define CUDA_TRACE_ATTACH_PROBE_SITES_H

#include <stdbool.h>
#include <stdint.h>

#define PROBE_NAME_LEN 48

struct probe_site {
	char name[PROBE_NAME_LEN];
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* offset in the file; 0 = none */
	bool regular;	    /* its arguments lie where those of a call do */
};

/* The sites of a provider, at most `room`, into sites[]: how many, or -errno. A hostile file is an
 * error or has odd sites, no more: the kernel checks what it is given. */
int probe_sites__read(const char *path, const char *provider, struct probe_site *sites, int room);

#endif
