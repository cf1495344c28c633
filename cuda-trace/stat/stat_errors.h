/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The failed calls of `stat`, by call and code: of one process while it lives, and of all of them.
 */
#ifndef CUDA_TRACE_STAT_STAT_ERRORS_H
#define CUDA_TRACE_STAT_STAT_ERRORS_H

#include "cuda-trace/capture/process.h"

#define STAT_MAX_ERRORS 65 /* the last line is for all that find none */

struct stat_error {
	uint32_t name; /* id, while the process lives; 0 = it is in text */
	char text[96]; /* untrusted */
	uint8_t domain;
	int32_t result; /* 0: of the line of others */
	uint64_t count;
	struct cuda_api last; /* as far as it says what was requested: flags, arguments, start */
	char kernel[96];      /* of its launch, once the process is gone; untrusted */
};

struct stat_failure; /* a call that failed a moment ago */

struct stat_errors {
	struct stat_error *lines; /* STAT_MAX_ERRORS; NULL until a call fails */
	uint64_t total;
	/* Launch calls of the runtime API that failed before they reached the driver. */
	uint64_t runtime_launches;
	struct stat_failure *recent; /* NULL until a call fails */
};

/* Each takes any record of its kind: what did not fail is none. Records that report a failure
 * beside the one of the group API_ERROR must not be handed in where that is listened to. */
void stat_errors__call(struct stat_errors *errors, const struct process *process,
		       const struct cuda_api *call);
void stat_errors__launch(struct stat_errors *errors, const struct cuda_launch *launch);
void stat_errors__wait(struct stat_errors *errors, const struct cuda_sync *sync);
/* The next line that counts something, from *at on, which is 0 at first; NULL = there is none. */
const struct stat_error *stat_errors__next(const struct stat_errors *errors, uint32_t *at);
/* Adds those of a process that ends to the sum, and frees what they hold. */
void stat_errors__merge(struct stat_errors *sum, struct stat_errors *of, struct process *process);

/* "CUDA_ERROR_INVALID_VALUE"; "unknown", and "several" in the line of others. */
const char *stat_errors__result(const struct stat_error *error);

#endif
