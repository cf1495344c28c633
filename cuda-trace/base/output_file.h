/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens files for output: all output goes through here, so that neither a recording nor an input is
 * overwritten. Messages go to stderr. Any thread.
 */
#ifndef CUDA_TRACE_BASE_OUTPUT_FILE_H
#define CUDA_TRACE_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct output_file {
	const char *command, *path; /* the caller's */
	FILE *file;
	char *partial; /* what becomes the file once it is complete; NULL = written in place */
};

/* 0, or -EEXIST after a message: `path` is a recording or the spool of one, or the same file as one
 * of the inputs (NULL-terminated; may be NULL). "-" and NULL are no files. */
int output_file__check(const char *command, const char *path, const char *const *inputs);
/* Checks as above, then opens for writing in place (stdout for "-"); NULL after a message. */
FILE *output_file__open_stream(const char *command, const char *path, const char *const *inputs);
/* Checks as above, then opens a file beside it, which takes its place when it is closed without an
 * error: until then the older file stays. 0, or -errno after a message. */
int output_file__open(struct output_file *output, const char *command, const char *path,
		      const char *const *inputs);
/* `err`: an earlier error, already reported. A reader that closed the pipe is no error. 0, or
 * -errno after a message. */
int output_file__close(struct output_file *output, int err);
/* True if the file looks like a recording: SQLite, the same compressed, or a recorder's spool. */
bool output_file__is_recording(const char *path);

#endif
