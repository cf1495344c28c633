// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways to go wrong:
 * 1. A server does not answer, or sends without end: all requests together have a time, after which
 *    the client is made to stop, and no more are made.
 * 2. It sends another file, or a hostile one: the caller compares the build id, and a process
 *    without rights parses the file.
 * 3. A program maps thousands of files, and each is a request: there are so many at most.
 */
#include "cuda-trace/symbols/debuginfod.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"

#define MAX_SECONDS  30 /* for all requests */
#define MAX_REQUESTS 256
#define MAX_BUILD_ID 32

/* The library's types and functions are its ABI: its header is not needed. */
struct debuginfod_client;

struct request {
	uint8_t build_id[MAX_BUILD_ID];
	uint32_t size;
	char *path; /* in the client's cache; NULL = no server has it */
};

static struct {
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *build_id,
			      int size, char **path);
	struct debuginfod_client *client; /* NULL = there is none */
	bool is_allowed, is_tried;
	struct request requests[MAX_REQUESTS];
	uint32_t count, found, left_out;
	uint64_t spent, begun; /* ns: by requests that have ended; when the present one began */
} servers;

void debuginfod__allow(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	servers.is_allowed = urls && *urls;
}

static bool is_too_late(void)
{
	uint64_t now = servers.begun ? monotonic__ns() - servers.begun : 0;

	return servers.spent + now > MAX_SECONDS * 1000000000ull;
}

/* The client calls it about once a second, and stops where the answer is not 0. */
static int progress(struct debuginfod_client *client, long done, long all)
{
	(void)client;
	(void)done;
	(void)all;
	return is_too_late();
}

static struct debuginfod_client *open_client(void *library)
{
	struct debuginfod_client *(*begin)(void), *client;
	void (*set_progress)(
		struct debuginfod_client * client,
		int (*progress)(struct debuginfod_client * client, long done, long all));

	*(void **)&begin = dlsym(library, "debuginfod_begin");
	*(void **)&set_progress = dlsym(library, "debuginfod_set_progressfn");
	*(void **)&servers.find_debuginfo = dlsym(library, "debuginfod_find_debuginfo");
	client = begin && set_progress && servers.find_debuginfo ? begin() : NULL;
	if (client)
		set_progress(client, progress);
	return client;
}

static bool load(void)
{
	void *library;

	if (servers.is_tried)
		return servers.client;
	servers.is_tried = true;
	library = dlopen("libdebuginfod.so.1", RTLD_NOW);
	servers.client = library ? open_client(library) : NULL;
	if (!servers.client)
		fprintf(stderr, "cuda-trace: DEBUGINFOD_URLS is set, but libdebuginfod.so.1 is "
				"missing: install libdebuginfod1 (Debian) or "
				"elfutils-debuginfod-client (Fedora)\n");
	else
		fprintf(stderr,
			"cuda-trace: requesting debug information, for %d s at most (not without "
			"DEBUGINFOD_URLS)\n",
			MAX_SECONDS);
	return servers.client;
}

static struct request *find_request(const uint8_t *build_id, uint32_t size)
{
	for (uint32_t i = 0; i < servers.count; i++)
		if (servers.requests[i].size == size &&
		    !memcmp(servers.requests[i].build_id, build_id, size))
			return &servers.requests[i];
	return NULL;
}

static void run(struct request *request)
{
	int fd;

	servers.begun = monotonic__ns();
	fd = servers.find_debuginfo(servers.client, request->build_id, (int)request->size,
				    &request->path);
	servers.spent += monotonic__ns() - servers.begun;
	servers.begun = 0;
	if (fd < 0) {
		request->path = NULL;
		return;
	}
	close(fd);
	servers.found++;
}

const char *debuginfod__find(const uint8_t *build_id, uint32_t size)
{
	struct request *request;

	if (!servers.is_allowed || !size || size > MAX_BUILD_ID)
		return NULL;
	request = find_request(build_id, size);
	if (request)
		return request->path;
	if (servers.count == MAX_REQUESTS || is_too_late()) {
		servers.left_out++;
		return NULL;
	}
	if (!load())
		return NULL;
	request = &servers.requests[servers.count++];
	request->size = size;
	memcpy(request->build_id, build_id, size);
	run(request);
	return request->path;
}

void debuginfod__say(void)
{
	if (!servers.count)
		return;
	fprintf(stderr, "cuda-trace: the servers have debug information of %u in %u files",
		servers.found, servers.count);
	if (servers.left_out)
		fprintf(stderr, "; %u more were not requested", servers.left_out);
	putc('\n', stderr);
}
