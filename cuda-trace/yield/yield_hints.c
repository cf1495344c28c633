// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hint is valid for seconds only, so nothing is left behind if the tool is killed. Where the word
 * cannot be written (a security module), the semaphore alone says it, later.
 */
#include "cuda-trace/yield/yield_hints.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>
#include "bpf/yield.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/foreign/foreign_child.h"

struct yield_hints {
	struct ring_buffer *ring;
	int claims, requested;
	pthread_t thread;
	bool runs;
	int wake; /* an eventfd: the end */
};

struct hint {
	const struct yield_hints *hints;
	uint32_t pid;
	uint64_t value;
};

/* In a child, as a process can make writing to its memory wait (userfaultfd). An exec removes the
 * claim before the new program runs: what was looked up just now is its own. */
static int write_now(void *context)
{
	struct hint *hint = context;
	struct iovec from = {&hint->value, sizeof(hint->value)};
	struct yield_claim claim;

	if (bpf_map_lookup_elem(hint->hints->claims, &hint->pid, &claim))
		return -errno;
	if (!claim.hint)
		return -ENOENT;
	return process_vm_writev((pid_t)hint->pid, &from, 1,
				 &(struct iovec){(void *)(uintptr_t)claim.hint, from.iov_len}, 1,
				 0) < 0
		       ? -errno
		       : 0;
}

static bool write_hint(const struct yield_hints *hints, uint32_t pid, uint64_t value)
{
	struct hint hint = {hints, pid, value};

	return !foreign_child__run(
		pid,
		&(struct foreign_work){.run = write_now, .context = &hint, .uses = hints->claims});
}

static int on_waits(void *context, void *data, size_t size)
{
	const struct yield_waits *waits = data;
	struct yield_hints *hints = context;
	const uint32_t one = 1;

	if (write_hint(hints, waits->pid, monotonic__ns()))
		bpf_map_update_elem(hints->requested, &waits->pid, &one, BPF_ANY);
	return 0;
}

static void *run(void *context)
{
	struct yield_hints *hints = context;
	struct pollfd ready[] = {
		{.fd = ring_buffer__epoll_fd(hints->ring), .events = POLLIN},
		{.fd = hints->wake, .events = POLLIN},
	};

	while (!ready[1].revents) {
		ring_buffer__consume(hints->ring);
		poll(ready, 2, -1);
	}
	return NULL;
}

static bool start(struct yield_hints *hints)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	hints->runs = !pthread_create(&hints->thread, NULL, run, hints);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return hints->runs;
}

struct yield_hints *yield_hints__new(int yield_calls, int claims, int requested)
{
	struct yield_hints *hints = calloc(1, sizeof(*hints));

	if (!hints)
		return NULL;
	hints->claims = claims;
	hints->requested = requested;
	hints->wake = eventfd(0, EFD_CLOEXEC);
	hints->ring = ring_buffer__new(yield_calls, on_waits, hints, NULL);
	if (hints->wake >= 0 && hints->ring && start(hints))
		return hints;
	yield_hints__free(hints);
	return NULL;
}

void yield_hints__free(struct yield_hints *hints)
{
	if (!hints)
		return;
	if (hints->runs) {
		eventfd_write(hints->wake, 1);
		pthread_join(hints->thread, NULL);
	}
	if (hints->wake >= 0)
		close(hints->wake);
	ring_buffer__free(hints->ring);
	free(hints);
}
