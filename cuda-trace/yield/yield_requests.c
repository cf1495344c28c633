// SPDX-License-Identifier: BSD-2-Clause
/*
 * A request is a link to cuda:yield in one process, which raises the semaphore there. Closing the
 * link withdraws it.
 */
#include "cuda-trace/yield/yield_requests.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/yield.h"
#include "cuda-trace/attach/link_closer.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/attach/probe_sites.h"
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/yield/mapped_files.h"
#include "libcupti-usdt/probes.h"

#define SITES	     128
#define REQUESTS_MAX 4096 /* as many as the maps of yield.bpf.c can take */

struct request {
	uint32_t pid;
	int link; /* -1 = none any more */
	uint64_t since;
	char client[64];
};

struct yield_requests {
	int program, requested;
	bool verbose, full;
	struct request *requests;
	unsigned int count, capacity;
};

struct yield_requests *yield_requests__new(int program, int requested, bool verbose)
{
	struct yield_requests *requests = calloc(1, sizeof(*requests));

	if (requests)
		*requests = (struct yield_requests){
			.program = program, .requested = requested, .verbose = verbose};
	return requests;
}

static struct request *find(const struct yield_requests *requests, uint32_t pid)
{
	for (unsigned int i = 0; i < requests->count; i++)
		if (requests->requests[i].pid == pid)
			return &requests->requests[i];
	return NULL;
}

static struct request *add(struct yield_requests *requests, uint32_t pid)
{
	if (requests->count == REQUESTS_MAX) {
		if (!requests->full)
			fprintf(stderr,
				"cuda-trace: more than %d processes have CUPTI clients of their "
				"own: further ones cannot use CUPTI while they are watched\n",
				REQUESTS_MAX);
		requests->full = true;
		return NULL;
	}
	if (!array_grow__for_one(requests->requests, requests->capacity, requests->count))
		return NULL;
	requests->requests[requests->count] = (struct request){.pid = pid, .link = -1};
	return &requests->requests[requests->count++];
}

/* A link that raises the semaphore, or -errno. */
static int raise_in_file(const struct yield_requests *requests, uint32_t pid, int file)
{
	struct probe_site sites[SITES];
	const uint64_t cookie = 0;
	char path[64];
	int count;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	count = probe_sites__read(path, CUDA_PROVIDER, sites, SITES);
	for (int i = 0; i < count; i++)
		if (!strcmp(sites[i].name, "yield"))
			return multi_link__new(requests->program, path,
					       &(struct multi_link_points){
						       .offsets = &sites[i].offset,
						       .semaphores = &sites[i].semaphore,
						       .cookies = &cookie,
						       .count = 1,
						       .pid = pid,
					       },
					       false);
	return count < 0 ? count : -ENOENT;
}

static int raise_semaphore(const struct yield_requests *requests, uint32_t pid)
{
	struct mapped_file agent;
	int err = mapped_files__named(pid, CUDA_AGENT_NAME, NULL, &agent);
	int file = err ? err : mapped_file__open(&agent);

	if (file < 0)
		return file;
	err = raise_in_file(requests, pid, file);
	close(file);
	return err;
}

static void name_client(struct request *request, const struct yield_client *client)
{
	struct mapped_file file;
	const char *name = "";

	if (!mapped_files__at(request->pid, client->caller, &file))
		name = strrchr(file.name, '/') + 1;
	snprintf(request->client, sizeof(request->client), "%.*s", (int)sizeof(request->client) - 1,
		 name);
}

void yield_requests__raise(struct yield_requests *requests, uint32_t pid,
			   const struct yield_client *client)
{
	struct request *request = find(requests, pid);
	const uint32_t one = 1;
	uint64_t before = monotonic__ns();

	if (request && request->link >= 0)
		return;
	if (!request)
		request = add(requests, pid);
	if (!request)
		return;
	request->link = raise_semaphore(requests, pid);
	if (request->link < 0) {
		fprintf(stderr, "cuda-trace: process %u cannot be made to yield CUPTI: %s\n", pid,
			strerror(-request->link));
		request->link = -1;
		return;
	}
	bpf_map_update_elem(requests->requested, &pid, &one, BPF_ANY);
	request->since = before;
	name_client(request, client);
	if (requests->verbose) {
		char shown[80];

		fprintf(stderr,
			"cuda-trace: process %u is to yield CUPTI to %s (requested in %.1f ms)\n",
			pid, text__show(shown, sizeof(shown), request->client, 0),
			(monotonic__ns() - before) / 1e6);
	}
}

static void withdraw(struct yield_requests *requests, struct request *request)
{
	if (request->link < 0)
		return;
	bpf_map_delete_elem(requests->requested, &request->pid);
	link_closer__close(request->link);
	request->link = -1;
}

void yield_requests__review(struct yield_requests *requests,
			    bool (*is_there)(void *context, uint32_t pid), void *context)
{
	for (unsigned int i = 0; i < requests->count; i++) {
		struct request *request = &requests->requests[i];

		if (request->link < 0 || is_there(context, request->pid))
			continue;
		withdraw(requests, request);
		if (requests->verbose)
			fprintf(stderr,
				"cuda-trace: the CUPTI client of process %u has left after %.1f "
				"s\n",
				request->pid, (monotonic__ns() - request->since) / 1e9);
	}
}

unsigned int yield_requests__count(const struct yield_requests *requests)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < requests->count; i++)
		count += requests->requests[i].link >= 0;
	return count;
}

bool yield_requests__client(const struct yield_requests *requests, uint32_t pid, char *name,
			    size_t size)
{
	const struct request *request = find(requests, pid);

	if (!request || !*request->client)
		return false;
	snprintf(name, size, "%s", request->client);
	return true;
}

void yield_requests__forget(struct yield_requests *requests, uint32_t pid)
{
	struct request *request = find(requests, pid);

	if (!request)
		return;
	withdraw(requests, request);
	*request = requests->requests[--requests->count];
}

void yield_requests__free(struct yield_requests *requests)
{
	if (!requests)
		return;
	for (unsigned int i = 0; i < requests->count; i++)
		withdraw(requests, &requests->requests[i]);
	free(requests->requests);
	free(requests);
}
