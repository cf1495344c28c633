// SPDX-License-Identifier: BSD-2-Clause
/* The tool's own probe. Called by session__attach(). */
#include "cuda-trace/capture/link_check.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include "cuda-trace/attach/attachments.h"
#include "cuda-trace/capture/dispatcher.h"
#include "cuda-trace/attach/privileges.h"
#include "cuda-trace/attach/probe_selfcheck.h"
#include "cuda-trace/capture/session_filter.h"

/* Kernels of the 6.6 series without a later fix take the first thread for the process. */
static bool all_threads_arrive(struct attachments *attachments, struct ring_buffer *ring,
			       const struct dispatcher *dispatcher)
{
	if (attachments__add_selftest(attachments, getpid()) || probe_selfcheck__fire_in_thread())
		return false;
	ring_buffer__consume(ring);
	return dispatcher__selftest_came(dispatcher);
}

bool link_check__by_process(const struct session_options *options, struct attachments *attachments,
			    struct ring_buffer *ring, const struct dispatcher *dispatcher)
{
	const char *why = "this kernel has no links by process";

	if (!options->by_link || !options->pid)
		return false;
	if (session_filter__wants_links(options)) {
		if (all_threads_arrive(attachments, ring, dispatcher))
			return true;
		why = "this kernel's links by process miss threads";
	}
	if (options->verbose)
		fprintf(stderr,
			"cuda-trace: injection libraries of other processes are activated as well: "
			"%s\n",
			why);
	return false;
}

int link_check__by_file(struct attachments *attachments, struct ring_buffer *ring,
			const struct dispatcher *dispatcher)
{
	int err = attachments__add_selftest(attachments, 0);

	if (err == -EACCES && !privileges__has(CAP_SYS_ADMIN))
		return privileges__say_uprobes();
	if (err || probe_selfcheck__fire()) {
		fprintf(stderr, "cuda-trace: the self-test could not be run\n");
		return 0;
	}
	ring_buffer__consume(ring);
	if (!dispatcher__selftest_came(dispatcher))
		fprintf(stderr, "cuda-trace: a probe of the self-test fired, but its event did not "
				"arrive: expect to see nothing (see cuda-trace doctor)\n");
	return 0;
}
