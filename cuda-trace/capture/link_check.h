/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does a probe reach this tool, and does a link of one process mean all of its threads? No version
 * number says so; it is tried out.
 */
#ifndef CUDA_TRACE_CAPTURE_LINK_CHECK_H
#define CUDA_TRACE_CAPTURE_LINK_CHECK_H

#include <stdbool.h>

struct attachments;
struct dispatcher;
struct ring_buffer;
struct session_options;

/* True if links of one process are wanted and work; the tool's own probe is attached then. */
bool link_check__by_process(const struct session_options *options, struct attachments *attachments,
			    struct ring_buffer *ring, const struct dispatcher *dispatcher);
/* The same with a link of all processes. A failure is only reported (some sandboxes hide the tool's
 * own file, and all is well), but for one reason: then -errno. */
int link_check__by_file(struct attachments *attachments, struct ring_buffer *ring,
			const struct dispatcher *dispatcher);

#endif
