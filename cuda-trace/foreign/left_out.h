/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files and processes that the tool ignores because of a limit, or because they cannot be read:
 * counted, named, and shown in every output. Each counts once.
 */
#ifndef CUDA_TRACE_FOREIGN_LEFT_OUT_H
#define CUDA_TRACE_FOREIGN_LEFT_OUT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* X(enumerator, stable key, what one and what several are called) */
#define LEFT_OUT_KINDS(X)                            \
	X(FILES, "files", "file", "files")           \
	X(DRIVERS, "drivers", "libcuda", "libcudas") \
	X(PROCESSES, "processes", "process", "processes")

enum left_out_kind {
#define LEFT_OUT_ENUMERATOR(name, key, one, several) LEFT_OUT_##name,
	LEFT_OUT_KINDS(LEFT_OUT_ENUMERATOR)
#undef LEFT_OUT_ENUMERATOR
		LEFT_OUT_COUNT
};

#define LEFT_OUT_NAMED 8

/* Those of one kind and one user, with the same reason. */
struct left_out_group {
	enum left_out_kind kind;
	uid_t user;
	const char *reason; /* a literal */
	uint64_t count;
	uint64_t first; /* an inode, or a pid */
};

struct left_out {
	uint64_t counts[LEFT_OUT_COUNT];
	struct left_out_group groups[LEFT_OUT_NAMED]; /* the first ones */
	uint32_t group_count;
	uint64_t *recent; /* what has been counted */
};

#define LEFT_OUT_RECENT 16384
/* A reason for the moment only: see left_out__return(). */
#define LEFT_OUT_LATER \
	"so far: this user has so many of them that only a few are examined at a time"

/* One line on stderr for a new group. */
void left_out__add(struct left_out *left_out, enum left_out_kind kind, uid_t user, uint64_t id,
		   const char *reason);
/* It was left out so far, and is handled now. */
void left_out__return(struct left_out *left_out, enum left_out_kind kind, uid_t user, uint64_t id);
void left_out__free(struct left_out *left_out);
uint64_t left_out__sum(const struct left_out *left_out);
const char *left_out__key(enum left_out_kind kind);
/* "left out: 3 files of user 65534 (...)": a line for each group, after `prefix`. */
void left_out__print(const struct left_out *left_out, FILE *file, const char *prefix);

#endif
