// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fork for each file. That is cheap as long as results are kept by their callers, and leaves no
 * parser behind that an earlier file could have taken over. Called on the tool's one thread.
 */
#include "cuda-trace/foreign/foreign_job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/foreign/foreign_allowance.h"
#include "cuda-trace/foreign/foreign_sandbox.h"

#define MAX_MEMORY   (4ul << 30) /* addresses: those of the tool are among them */
#define MAX_FAILURES 4096
#define MAX_MESSAGES 16

struct foreign_output {
	int fd;
	size_t sent, most, pending;
	uint8_t buffer[65536];
};

/* ---- the child ---- */

static void flush(struct foreign_output *output)
{
	for (size_t done = 0; done < output->pending;) {
		ssize_t n = write(output->fd, output->buffer + done, output->pending - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(EPIPE);
		done += n;
	}
	output->pending = 0;
}

bool foreign_output__fits(const struct foreign_output *output, size_t size)
{
	return size <= output->most - output->sent;
}

void foreign_output__put(struct foreign_output *output, const void *bytes, size_t size)
{
	if (!foreign_output__fits(output, size))
		_exit(EFBIG);
	output->sent += size;
	while (size) {
		size_t free_bytes = sizeof(output->buffer) - output->pending;
		size_t part = size < free_bytes ? size : free_bytes;

		memcpy(output->buffer + output->pending, bytes, part);
		output->pending += part;
		bytes = (const uint8_t *)bytes + part;
		size -= part;
		if (output->pending == sizeof(output->buffer))
			flush(output);
	}
}

struct foreign_output *foreign_output__to(int fd, size_t most)
{
	static struct foreign_output output;

	output.fd = fd;
	output.most = most;
	output.sent = output.pending = 0;
	return &output;
}

static _Noreturn void be_the_child(foreign_job job, int in, uint64_t size, const void *argument,
				   int out, uint32_t ms, size_t most)
{
	struct foreign_output *output = foreign_output__to(SANDBOX_OUT, most);
	int err;

	if (!foreign_sandbox__enter(in, out, MAX_MEMORY, ms / 1000 + 2))
		_exit(EPERM);
	err = job(SANDBOX_IN, size, argument, output);
	flush(output);
	_exit(err < 0 ? -err : 0);
}

/* ---- the tool ---- */

/* Files that could not be read. A later one may take the place of an earlier one, which is then
 * read again. */
static struct failure {
	dev_t device;
	ino_t inode;
	uint64_t changed, size;
	foreign_job job;
} failures[MAX_FAILURES];

static struct failure *place_of(foreign_job job, const struct foreign_file *file)
{
	uint64_t hash = file->inode * 0x9e3779b97f4a7c15ull ^ file->device ^ (uintptr_t)job;

	return &failures[(hash >> 20 ^ hash) % MAX_FAILURES];
}

static bool has_failed(foreign_job job, const struct foreign_file *file)
{
	const struct failure *failure = place_of(job, file);

	return failure->inode == file->inode && failure->device == file->device &&
	       failure->changed == file->changed && failure->size == file->size &&
	       failure->job == job;
}

static const char *reason_of(int err)
{
	switch (err) {
	case -EFBIG:
		return "its tables are larger than 64 MiB";
	case -ETIMEDOUT:
		return "reading its tables took too long";
	case -EFAULT:
		return "reading its tables crashed";
	}
	return NULL;
}

static void note_failure(foreign_job job, const struct foreign_file *file, int err)
{
	static uint32_t messages;
	char shown[512];

	*place_of(job, file) =
		(struct failure){file->device, file->inode, file->changed, file->size, job};
	if (!reason_of(err) || messages > MAX_MESSAGES)
		return;
	if (messages++ == MAX_MESSAGES)
		fprintf(stderr, "cuda-trace: further files could not be read and are not named\n");
	else
		fprintf(stderr, "cuda-trace: %s is not examined: %s\n",
			foreign_file__show(file->path, shown, sizeof(shown)), reason_of(err));
}

/* 1 = there is something to read or the end, 0 = it takes too long. */
static int wait_for(int in, pid_t child, struct foreign_allowance *allowance)
{
	struct pollfd ready = {.fd = in, .events = POLLIN};

	for (;;) {
		struct foreign_progress progress;
		int came = poll(&ready, 1, FOREIGN_ALLOWANCE_SLICE);

		if (came > 0)
			return 1;
		progress = foreign_allowance__look(child, monotonic__ms());
		if (!foreign_allowance__charge(allowance, &progress))
			return 0;
	}
}

static int receive(int in, pid_t child, uint32_t ms, size_t most, struct foreign_answer *answer)
{
	struct foreign_allowance allowance;
	size_t capacity = 0;

	foreign_allowance__begin(&allowance, ms, monotonic__ms());
	for (;;) {
		ssize_t n;

		if (!wait_for(in, child, &allowance))
			return -ETIMEDOUT;
		if (!array_grow__to(answer->bytes, capacity, answer->size + 4096))
			return -ENOMEM;
		n = read(in, answer->bytes + answer->size, capacity - answer->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		answer->size += n;
		if (answer->size > most)
			return -EFBIG;
	}
}

/* Its output is closed: it has ended, or is about to. */
static int end_of(pid_t child, int err)
{
	int status = 0;

	if (err)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -ECHILD;
	if (err)
		return err;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EFAULT;
}

/* *started: the child has begun to read, so that an error is the input's fault. */
static int run(foreign_job job, int in, uint64_t size, const void *argument, uint32_t ms,
	       size_t most, struct foreign_answer *answer, bool *started)
{
	int ends[2], err;
	pid_t child;

	*answer = (struct foreign_answer){0};
	*started = false;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	child = fork();
	if (!child)
		be_the_child(job, in, size, argument, ends[1], ms, most);
	close(ends[1]);
	err = child < 0 ? -EAGAIN : end_of(child, receive(ends[0], child, ms, most, answer));
	close(ends[0]);
	if (!err)
		return 0;
	free(answer->bytes);
	*answer = (struct foreign_answer){0};
	*started = child >= 0 && err != -ENOMEM && err != -EPERM;
	return err;
}

int foreign_job__run(foreign_job job, const struct foreign_file *file, const void *argument,
		     uint32_t ms, size_t most, struct foreign_answer *answer)
{
	bool started;
	int err;

	*answer = (struct foreign_answer){0};
	if (has_failed(job, file))
		return -EALREADY;
	err = run(job, file->fd, file->size, argument, ms, most, answer, &started);
	if (started)
		note_failure(job, file, err);
	return err;
}

int foreign_job__run_in_memory(foreign_job job, const void *argument, uint32_t ms, size_t most,
			       struct foreign_answer *answer)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), err;
	bool started;

	*answer = (struct foreign_answer){0};
	if (nothing < 0)
		return -errno;
	err = run(job, nothing, 0, argument, ms, most, answer, &started);
	close(nothing);
	return err;
}
