/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probe sites of a file, read from its .note.stapsdt, as <sys/sdt.h> writes it.
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
	uint32_t arguments; /* how many it has, if so: libraries of other versions have others */
};

struct foreign_output;

/* Reads at most `most` sites of a provider into sites[]. Returns how many, or -errno: -ENOENT = it
 * has none, -EALREADY = it is known to be unreadable. A hostile file causes an error or odd sites,
 * nothing worse: the kernel checks them. The path is "/proc/self/fd/N" of a foreign file, or
 * /proc/self/exe. */
int probe_sites__read(const char *path, const char *provider, struct probe_site *sites, int most);
/* The parser; runs in a process without privileges, and is fuzzed. */
int probe_sites__send(int fd, uint64_t size, const void *provider, struct foreign_output *output);

#endif
