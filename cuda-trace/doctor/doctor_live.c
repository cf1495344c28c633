// SPDX-License-Identifier: BSD-2-Clause
/*
 * The live test: a session is opened and attached, which makes a process of its own hit a probe of
 * its own and waits for it in the ring buffer. Called by cmd_doctor; one thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cuda-trace/inventory/filetree.h"
#include "cuda-trace/doctor/doctor_findings.h"
#include "cuda-trace/doctor/doctor_kernel.h"
#include "cuda-trace/doctor/doctor_live.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/capture/session.h"

/* A session says its trouble on stderr; here it is a finding. */
struct capture {
	int saved, file;
};

static void capture_begin(struct capture *capture)
{
	fflush(stderr);
	capture->file = memfd_create("cuda-trace-doctor", MFD_CLOEXEC);
	capture->saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (capture->file >= 0 && capture->saved >= 0)
		dup2(capture->file, STDERR_FILENO);
}

static void capture_end(struct capture *capture, char *out, size_t size)
{
	ssize_t n = 0;

	fflush(stderr);
	if (capture->saved >= 0) {
		dup2(capture->saved, STDERR_FILENO);
		close(capture->saved);
	}
	if (capture->file >= 0) {
		n = pread(capture->file, out, size - 1, 0);
		close(capture->file);
	}
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

static void ignore_start(void *context, struct process *process)
{
}

static void ignore_record(void *context, struct process *process, const struct cuda_record *record)
{
}

void kernel__test_live(struct findings *findings)
{
	const struct session_options options = {.pid = getpid(), .uid = -1};
	const struct sink sink = {
		.process_start = ignore_start,
		.record = ignore_record,
		.process_end = ignore_start,
	};
	struct session *session;
	struct capture capture;
	char said[512];
	int err = -EPERM;

	capture_begin(&capture);
	session = session__open(&options, &sink);
	if (session) {
		err = session__attach(session);
		session__close(session);
	}
	capture_end(&capture, said, sizeof(said));
	if (!err)
		findings__add(findings, FINDING_OK, "live", NULL,
			      "live test: a probe fired in another process and arrived here");
	else
		findings__add(findings, FINDING_PROBLEM, "live", NULL, "live test failed: %s",
			      *said ? said : strerror(-err));
}

struct state_wait {
	uint32_t pid;
	struct cuda_status status;
	bool came;
};

static void note_status(void *context, struct process *process)
{
	struct state_wait *wait = context;

	if (process->pid != wait->pid || !process->status.version)
		return;
	wait->status = process->status;
	wait->came = true;
}

int live__status(uint32_t pid, const char *agent, struct cuda_status *status, char *said,
		 size_t size)
{
	const struct session_options options = {.pid = pid, .uid = -1, .agent = agent};
	struct state_wait wait = {.pid = pid};
	const struct sink sink = {
		.context = &wait,
		.process_start = note_status,
		.record = ignore_record,
		.process_status = note_status,
		.process_end = ignore_start,
	};
	struct session *session;
	struct capture capture;
	uint64_t end;
	int err = -EPERM;

	capture_begin(&capture);
	session = session__open(&options, &sink);
	if (session)
		err = session__attach(session);
	end = monotonic__ns() + LIVE_WAIT_MS * 1000000ull;
	while (!err && !wait.came && monotonic__ns() < end)
		err = session__poll(session, 50);
	if (session)
		session__close(session);
	capture_end(&capture, said, size);
	if (!err && !wait.came)
		err = -ETIMEDOUT;
	*status = wait.status;
	return err;
}
