/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link attaches programs to probes of a file; freeing it detaches them all. bpf/arguments.h is
 * the part in eBPF. On the tool's one thread.
 */
#ifndef CUDA_TRACE_ATTACH_PROBE_LINK_H
#define CUDA_TRACE_ATTACH_PROBE_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct probe_link;

struct probe_wish {
	const char *program;
	const char *probe;
	uint32_t value; /* what probe_value() of bpf/arguments.h returns in the program */
};

/* Where: the probes of a file, in every process that maps it or in one. */
struct probe_place {
	const char *path;
	uint32_t pid;	/* 0 = every process */
	uint32_t whose; /* PROBE_OF_LINKED and PROBE_LINK(), PROBE_OF_OTHERS, or 0 */
};

/* Before the object is loaded. */
void probe_link__prepare(struct bpf_object *object);
/* After the load: connects its programs with each other. 0 or -errno. */
int probe_link__introduce(struct bpf_object *object);

/*
 * Attaches to those of the wished probes that the file has; *missing gets a bit for each other one.
 * 0 with a link, even if nothing is attached, or -errno: -EBADMSG if the file's probes have their
 * arguments at unexpected places.
 */
int probe_link__new(struct probe_link **link, struct bpf_object *object,
		    const struct probe_place *place, const char *provider,
		    const struct probe_wish *wishes, int count, uint64_t *missing);
/* Accepts NULL. Detaches in the background: see link_closer__wait(). */
void probe_link__free(struct probe_link *link);

#endif
