/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a spool to a recording: reads every block that is whole, fills an SQLite file beside it and
 * gives that its name in one step. Until then the spool is the recording.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_IMPORT_H
#define CUDA_TRACE_RECORDING_STORE_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

struct spool_lost;

struct import_options {
	const char *spool;
	const char *path; /* of the recording; one that exists is kept as PATH.old */
	bool keep_spool;
	bool compress;		       /* gzip the finished file */
	bool progress;		       /* on stderr */
	const struct spool_lost *lost; /* known better than the spool could say; NULL = not */
	uint64_t since_last;	       /* ns: only events of the last so many; 0 = all */
};

struct import_result {
	uint64_t rows;
	uint64_t damaged_bytes; /* skipped, see struct spool_damage */
	bool unfinished;	/* the spool has no proper end: its writer died */
};

/* A recording gets its name by rename(): what has that name must be a file, no device or link. */
int import__check_path(const char *path);

/* 0 or -errno; errors are printed. */
int import__run(const struct import_options *options, struct import_result *result);

#endif
