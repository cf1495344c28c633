// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tool's end of the helpers' sockets. The first helper says how many GPUs there are; then those
 * of the others are started.
 */
#include "cuda-trace/profile/device/pm_source.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"

#define BUFFER	   (64 << 10)
#define SILENCE_MS 20000 /* a helper that says nothing for so long hangs */
#define FINISH_MS  3000

struct helper {
	struct pm_device device;
	pid_t pid;
	int socket;    /* -1 = it is gone */
	bool reported; /* its failure, or its end */
	bool waits;    /* for its next try */
	uint64_t heard_ms;
	size_t used;
	char *buffer;
};

struct pm_source {
	const struct pm_request *request;
	struct pm_sink sink;
	uint64_t gpus;
	struct helper *helpers[PM_DEVICES];
	unsigned int count;
	bool all_started;
	bool finishing;
};

static void say(struct pm_source *source, struct helper *helper, const char *text)
{
	if (!helper->reported)
		source->sink.trouble(source->sink.context, &helper->device, text);
	helper->reported = true;
}

static int start(struct pm_source *source, unsigned int number)
{
	struct helper *helper = calloc(1, sizeof(*helper));
	int ends[2];

	if (helper)
		helper->buffer = malloc(BUFFER);
	if (!helper || !helper->buffer || source->count == PM_DEVICES ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		if (helper)
			free(helper->buffer);
		free(helper);
		return -ENOMEM;
	}
	helper->device.number = number;
	helper->socket = ends[0];
	helper->heard_ms = monotonic__ms();
	helper->pid = fork();
	if (!helper->pid) {
		close(ends[0]);
		pm_process__run(ends[1], number, source->request);
	}
	close(ends[1]);
	source->helpers[source->count++] = helper;
	if (helper->pid < 0) {
		close(helper->socket);
		helper->socket = -1;
		say(source, helper, "no process could be started for it");
	}
	return 0;
}

static bool is_wanted(const struct pm_source *source, unsigned int number)
{
	return !source->gpus || source->gpus >> number & 1;
}

static void start_others(struct pm_source *source, unsigned int devices, unsigned int first)
{
	if (source->all_started)
		return;
	source->all_started = true;
	for (unsigned int i = 0; i < devices && i < PM_DEVICES; i++)
		if (i != first && is_wanted(source, i))
			start(source, i);
}

static void handle_sample(struct pm_source *source, struct helper *helper,
			  const struct pm_sample *sample)
{
	helper->device.samples++;
	source->sink.sample(source->sink.context, &helper->device, sample);
}

static void handle_lost(struct pm_device *device, const struct pm_lost *lost)
{
	device->lost += lost->samples;
	device->lost_ns += lost->ns;
	device->overflows += lost->overflows;
}

static void handle_trouble(struct pm_source *source, struct helper *helper,
			   const struct pm_trouble *trouble)
{
	char text[1200];
	size_t length;

	pm_trouble__text(trouble, text, sizeof(text));
	length = strlen(text);
	if (trouble->again)
		snprintf(text + length, sizeof(text) - length, "; trying again");
	say(source, helper, text);
	helper->waits = trouble->again != 0;
	helper->device.is_started = false;
}

static void handle_started(struct pm_source *source, struct helper *helper,
			   const struct pm_started *started)
{
	helper->device.started = *started;
	helper->device.is_started = true;
	helper->reported = helper->waits = false;
	source->sink.started(source->sink.context, &helper->device);
}

static void handle_frame(struct pm_source *source, struct helper *helper, uint32_t kind,
			 const void *frame)
{
	switch (kind) {
	case PM_FRAME_HELLO:
		helper->device.hello = *(const struct pm_hello *)frame;
		start_others(source, helper->device.hello.devices, helper->device.number);
		break;
	case PM_FRAME_STARTED:
		handle_started(source, helper, frame);
		break;
	case PM_FRAME_SAMPLE:
		handle_sample(source, helper, frame);
		break;
	case PM_FRAME_LOST:
		handle_lost(&helper->device, frame);
		break;
	case PM_FRAME_TROUBLE:
		handle_trouble(source, helper, frame);
		break;
	case PM_FRAME_END:
		helper->reported = true;
		break;
	}
}

/* By kind, so that a helper that went mad cannot make us read beyond a frame. */
static size_t size_of(uint32_t kind)
{
	static const size_t sizes[] = {
		[PM_FRAME_HELLO] = sizeof(struct pm_hello),
		[PM_FRAME_STARTED] = sizeof(struct pm_started),
		[PM_FRAME_SAMPLE] = sizeof(struct pm_sample),
		[PM_FRAME_LOST] = sizeof(struct pm_lost),
		[PM_FRAME_TROUBLE] = sizeof(struct pm_trouble),
	};

	return kind < sizeof(sizes) / sizeof(sizes[0]) ? sizes[kind] : 0;
}

static void read_frames(struct pm_source *source, struct helper *helper)
{
	size_t done = 0;
	struct pm_frame head;
	union {
		struct pm_hello hello;
		struct pm_started started;
		struct pm_sample sample;
		struct pm_lost lost;
		struct pm_trouble trouble;
	} body;

	while (helper->used - done >= sizeof(head)) {
		memcpy(&head, helper->buffer + done, sizeof(head));
		if (head.size != size_of(head.kind)) {
			kill(helper->pid, SIGKILL);
			helper->used = 0;
			return;
		}
		if (helper->used - done < sizeof(head) + head.size)
			break;
		memcpy(&body, helper->buffer + done + sizeof(head), head.size);
		done += sizeof(head) + head.size;
		handle_frame(source, helper, head.kind, &body);
	}
	memmove(helper->buffer, helper->buffer + done, helper->used - done);
	helper->used -= done;
}

static void bury(struct pm_source *source, struct helper *helper)
{
	int status = 0;
	char text[120];

	close(helper->socket);
	helper->socket = -1;
	kill(helper->pid, SIGKILL);
	while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR)
		;
	snprintf(text, sizeof(text), "its helper process ended without a message (status %d)",
		 status);
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		snprintf(text, sizeof(text), "libcupti crashed in the helper process (signal %d)",
			 WTERMSIG(status));
	say(source, helper, text);
	helper->device.is_started = false;
}

static void hear(struct pm_source *source, struct helper *helper)
{
	ssize_t n = recv(helper->socket, helper->buffer + helper->used, BUFFER - helper->used,
			 MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		bury(source, helper);
		return;
	}
	helper->heard_ms = monotonic__ms();
	helper->used += n;
	read_frames(source, helper);
}

static void look_for_silence(struct pm_source *source, struct helper *helper)
{
	if (helper->socket < 0 || helper->waits || monotonic__ms() - helper->heard_ms < SILENCE_MS)
		return;
	say(source, helper, "libcupti has not returned for 20 s; its helper process was ended");
	bury(source, helper);
}

struct pm_source *pm_source__open(const struct pm_request *request, uint64_t gpus,
				  const struct pm_sink *sink)
{
	struct pm_source *source = calloc(1, sizeof(*source));
	unsigned int first = gpus ? __builtin_ctzll(gpus) : 0;

	if (!source)
		return NULL;
	source->request = request;
	source->sink = *sink;
	source->gpus = gpus;
	if (start(source, first)) {
		free(source);
		return NULL;
	}
	return source;
}

bool pm_source__poll(struct pm_source *source, int timeout_ms)
{
	struct pollfd ready[PM_DEVICES];
	unsigned int count = source->count;
	bool any = false;

	for (unsigned int i = 0; i < count; i++) {
		ready[i] = (struct pollfd){.fd = source->helpers[i]->socket, .events = POLLIN};
		any |= ready[i].fd >= 0;
	}
	if (!any)
		return false;
	poll(ready, count, timeout_ms);
	for (unsigned int i = 0; i < count; i++)
		if (ready[i].fd >= 0 && ready[i].revents)
			hear(source, source->helpers[i]);
	for (unsigned int i = 0; i < count; i++)
		look_for_silence(source, source->helpers[i]);
	return true;
}

bool pm_source__is_complete(const struct pm_source *source)
{
	return source->all_started || source->helpers[0]->socket < 0;
}

void pm_source__finish(struct pm_source *source)
{
	uint64_t until = monotonic__ms() + FINISH_MS;

	source->finishing = true;
	for (unsigned int i = 0; i < source->count; i++)
		if (source->helpers[i]->socket >= 0)
			shutdown(source->helpers[i]->socket, SHUT_WR);
	while (monotonic__ms() < until && pm_source__poll(source, 100))
		;
}

void pm_source__close(struct pm_source *source)
{
	if (!source)
		return;
	for (unsigned int i = 0; i < source->count; i++) {
		struct helper *helper = source->helpers[i];

		helper->reported = true;
		if (helper->socket >= 0)
			bury(source, helper);
		free(helper->buffer);
		free(helper);
	}
	free(source);
}

struct pm_device *pm_source__device(struct pm_source *source, unsigned int index)
{
	return index < source->count ? &source->helpers[index]->device : NULL;
}
