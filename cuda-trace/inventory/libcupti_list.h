/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every libcupti in a tree: each real file once, with the names that lead to it and what it is.
 */
#ifndef CUDA_TRACE_INVENTORY_LIBCUPTI_LIST_H
#define CUDA_TRACE_INVENTORY_LIBCUPTI_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include "cuda-trace/inventory/elf_reader.h"
#include "cuda-trace/inventory/filetree.h"

/* Where it was found. X(enumerator, stable key, text) */
#define LIBRARY_SOURCES(X)                               \
	X(TOOLKIT, "toolkit", "CUDA toolkit")            \
	X(DISTRIBUTION, "distribution", "distribution")  \
	X(PIP, "pip", "Python wheel")                    \
	X(TRITON, "triton", "Triton's own copy")         \
	X(CONDA, "conda", "conda")                       \
	X(HPC_SDK, "hpc_sdk", "HPC SDK")                 \
	X(NSIGHT, "nsight", "Nsight's private copy")     \
	X(ADMIN, "admin", "placed by the administrator") \
	X(LD_CACHE, "ld_cache", "loader's cache")        \
	X(MAPPED, "mapped", "mapped by a process")       \
	X(OTHER, "other", "elsewhere")

enum library_source {
#define LIBRARY_SOURCE_ENUMERATOR(name, key, text) LIBRARY_SOURCE_##name,
	LIBRARY_SOURCES(LIBRARY_SOURCE_ENUMERATOR)
#undef LIBRARY_SOURCE_ENUMERATOR
		LIBRARY_SOURCE_COUNT
};

/* What it is. Only USABLE ones can be opened by the agent. X(enumerator, stable key, text) */
#define LIBRARY_VERDICTS(X)                                                                 \
	X(USABLE, "usable", "usable")                                                       \
	X(DANGLING, "dangling", "a link to a file that does not exist")                     \
	X(LOOP, "loop", "a link that leads to itself")                                      \
	X(NOT_FILE, "not_file", "not a regular file")                                       \
	X(DENIED, "denied", "may not be read by this user")                                 \
	X(EMPTY, "empty", "an empty file")                                                  \
	X(NOT_LIBRARY, "not_library", "not a shared library")                               \
	X(TRUNCATED, "truncated", "truncated: the file is shorter than its headers say")    \
	X(DAMAGED, "damaged", "damaged")                                                    \
	X(WRONG_MACHINE, "wrong_machine", "for another processor")                          \
	X(STUB, "stub", "a stub: it lacks functions of CUPTI")                              \
	X(PRIVATE, "private", "private to Nsight: not for other programs")                  \
	X(TOO_OLD, "too_old", "older than CUDA 11.8")                                       \
	X(FAULTY, "faulty", "CUPTI of CUDA 13.0 before Update 1, which can hang and crash") \
	X(TOO_NEW, "too_new", "newer than the driver's CUDA")                               \
	X(VANISHED, "vanished", "removed or changed while it was examined")

enum library_verdict {
#define LIBRARY_VERDICT_ENUMERATOR(name, key, text) LIBRARY_##name,
	LIBRARY_VERDICTS(LIBRARY_VERDICT_ENUMERATOR)
#undef LIBRARY_VERDICT_ENUMERATOR
		LIBRARY_VERDICT_COUNT
};

enum version_how { VERSION_UNKNOWN, VERSION_CALLED, VERSION_READ };

struct library {
	char *path; /* the first name found, below the tree's root; untrusted like all texts here */
	char *real; /* after all links, or NULL */
	char **names; /* further ones */
	size_t name_count;
	uint64_t dev, ino, size;
	uint32_t uid, mode;
	enum library_source source;
	enum library_verdict verdict;
	struct elf_facts elf;
	unsigned int cuda_major, cuda_minor; /* 0 = unknown; minor is set only if minor_known */
	bool minor_known;
	uint32_t api; /* cuptiGetVersion(), 0 = unknown */
	enum version_how how;
	char owner[160]; /* package and version, "" = unknown */
	bool checked;
};

struct packages;

struct libraries {
	struct filetree *tree;
	uint16_t machine;	   /* what the tree's programs run on */
	unsigned int driver_major; /* the driver's CUDA, 0 = unknown */
	bool ask;		   /* may be run: the tree is this machine's own */
	struct library **list;
	size_t count;
	struct packages *packages; /* NULL: not read */
	bool crowded;		   /* more files than are ever looked at */
	char **headers;		   /* each cupti.h */
	size_t header_count;
};

/* Takes note of a path; each real file is inspected once. Returns it, or NULL (no memory). */
struct library *libraries__add(struct libraries *libraries, const char *path,
			       enum library_source source);
void libraries__add_header(struct libraries *libraries, const char *path);
/* Looks in every known place; with deep, everywhere. progress may be NULL. */
void libraries__search(struct libraries *libraries, bool deep, void (*progress)(const char *path));
/* What needs all of them known: owners, versions, the final verdicts. */
void libraries__check(struct libraries *libraries);
void libraries__free(struct libraries *libraries);
unsigned int libraries__usable(const struct libraries *libraries);
struct library *libraries__by_file(const struct libraries *libraries, uint64_t dev, uint64_t ino);
/* The one that a path of the tree leads to, checked; NULL: no such file. */
struct library *libraries__at(struct libraries *libraries, const char *path);
/* The three steps of judging one: it could not be opened (-errno), what it is, what it is worth. */
void library__unopened(struct library *library, const struct libraries *libraries, int err);
void library__inspect(struct library *library, const struct libraries *libraries, int fd);
void libcupti_check__run(struct library *library, const struct libraries *libraries);
const char *library__source_key(enum library_source source);
const char *library__source_text(enum library_source source);
const char *library__verdict_key(enum library_verdict verdict);
const char *library__verdict_text(enum library_verdict verdict);
/* "13.0", "12" or "unknown". */
const char *library__cuda(const struct library *library, char out[16]);

#endif
