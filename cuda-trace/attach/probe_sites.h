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

struct foreign_output;

/* The sites of a provider, at most `most`, into sites[]: how many, or -errno: -ENOENT = it has
 * none, -EALREADY = it had been found to be unreadable. A hostile file is an error or has odd
 * sites, no more: the kernel checks what it is given. The path is one of ours:
 * "/proc/self/fd/N" of a foreign file, or /proc/self/exe. */
int probe_sites__read(const char *path, const char *provider, struct probe_site *sites, int most);
/* The parser, for the process without privileges, and for fuzzing. */
int probe_sites__send(int fd, uint64_t size, const void *provider, struct foreign_output *output);

#endif
