// SPDX-License-Identifier: BSD-2-Clause
/*
 * What can go wrong: 1. the process has ended and its pid is another's, or the address that it
 * reported is wrong: everything goes through one descriptor of /proc/PID, the memory must be a
 * library's own data and begin with the magic number and the instance that reported it. 2. the
 * agent reads while we write: the number is written last. 3. two tools request at once: the first
 * one keeps writing the time, and the second one gives up when it sees that.
 */
#include "cuda-trace/capture/counter_requests.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"
#include "libcupti-usdt/counter_request.h"

#define FNV_BASIS 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull
#define HEAD	  offsetof(struct cuda_request, text)
#define BODY	  offsetof(struct cuda_request, bytes)

struct target {
	uint32_t pid;
	uint64_t instance, address;
	int memory; /* /proc/PID/mem: stays this process's, even if the pid is used again */
	struct target *next;
};

struct requests {
	struct cuda_request request;
	struct target *targets;
};

static uint64_t sum_up(uint64_t sum, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < count; i++)
		sum = (sum ^ at[i]) * FNV_PRIME;
	return sum;
}

struct requests *counter_requests__new(const char *metrics, const char *kernels, uint64_t skip,
				       uint64_t limit, bool graphs)
{
	size_t length = strlen(metrics) + 1, more = kernels ? strlen(kernels) + 1 : 1;
	struct requests *requests = calloc(1, sizeof(*requests));
	struct cuda_request *request;

	if (!requests || length + more > sizeof(requests->request.text)) {
		free(requests);
		return NULL;
	}
	request = &requests->request;
	request->skip = skip;
	request->limit = limit;
	request->flags = graphs ? CUDA_REQUEST_GRAPHS : 0;
	request->bytes = length + more;
	memcpy(request->text, metrics, length);
	if (kernels)
		memcpy(request->text + length, kernels, more);
	request->checksum = sum_up(FNV_BASIS, &request->skip, sizeof(request->skip));
	request->checksum = sum_up(request->checksum, &request->limit, sizeof(request->limit));
	request->checksum = sum_up(request->checksum, request->text, request->bytes);
	if (request->flags)
		request->checksum =
			sum_up(request->checksum, &request->flags, sizeof(request->flags));
	return requests;
}

/* Private, writable, and of a file, as the data of a library is. */
static bool is_library_data(const char *line, uint64_t address)
{
	uint64_t start, end;
	char mode[5];

	return sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, mode) == 3 &&
	       address >= start && address < end && CUDA_REQUEST_OLDEST <= end - address &&
	       !strcmp(mode, "rw-p") && strchr(line, '/');
}

static int check_place(int folder, uint64_t address)
{
	int maps = openat(folder, "maps", O_RDONLY | O_CLOEXEC), found = -EFAULT;
	FILE *file = maps < 0 ? NULL : fdopen(maps, "r");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return -errno;
	while (found && getline(&line, &size, file) > 0)
		if (is_library_data(line, address))
			found = 0;
	free(line);
	fclose(file);
	return found;
}

static bool write_all(const struct target *target, const void *from, size_t size, size_t offset)
{
	errno = EIO; /* of a short one */
	return pwrite(target->memory, from, size, target->address + offset) == (ssize_t)size;
}

static int put(const struct requests *requests, const struct target *target)
{
	struct cuda_request theirs, ours = requests->request;
	uint64_t at = target->address;
	size_t size;

	if (pread(target->memory, &theirs, HEAD, at) != (ssize_t)HEAD)
		return -ESRCH;
	if (theirs.magic != CUDA_REQUEST_MAGIC || theirs.instance != target->instance ||
	    theirs.size < CUDA_REQUEST_OLDEST)
		return -EFAULT;
	/* An older agent has no flags, and would count kernels. */
	if (theirs.size < sizeof(ours) && ours.flags)
		return -ENOTSUP;
	size = theirs.size < sizeof(ours) ? CUDA_REQUEST_OLDEST : sizeof(ours);
	ours.alive = monotonic__ns();
	if (theirs.number && theirs.alive <= ours.alive &&
	    ours.alive - theirs.alive < CUDA_REQUEST_ALIVE)
		return -EBUSY;
	/* Neither one that was seen nor one that is to be seen yet. */
	ours.number = (theirs.number > theirs.taken ? theirs.number : theirs.taken) + 1;
	ours.number += !ours.number;
	if (!write_all(target, (const uint8_t *)&ours + BODY, size - BODY, BODY) ||
	    !write_all(target, &ours.number, sizeof(ours.number),
		       offsetof(struct cuda_request, number)))
		return errno == EIO ? -ESRCH : -errno;
	return 0;
}

static int open_place(struct target *target)
{
	char path[32];
	int folder, err;

	snprintf(path, sizeof(path), "/proc/%u", target->pid);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -ESRCH;
	target->memory = openat(folder, "mem", O_RDWR | O_CLOEXEC);
	err = target->memory < 0 ? -errno : check_place(folder, target->address);
	close(folder);
	return err == -ENOENT ? -ESRCH : err;
}

static bool is_target(const struct requests *requests, const struct process *process)
{
	for (const struct target *target = requests->targets; target; target = target->next)
		if (target->pid == process->pid && target->instance == process->instance)
			return true;
	return false;
}

int counter_requests__put(struct requests *requests, const struct process *process)
{
	struct target *target;
	int err;

	if (is_target(requests, process))
		return 0;
	if (!process->status.request)
		return -ENOTSUP;
	target = calloc(1, sizeof(*target));
	if (!target)
		return -ENOMEM;
	*target = (struct target){process->pid, process->instance, process->status.request, -1,
				  requests->targets};
	err = open_place(target);
	err = err ? err : put(requests, target);
	if (!err) {
		requests->targets = target;
		return 0;
	}
	if (target->memory >= 0)
		close(target->memory);
	free(target);
	return err;
}

void counter_requests__keep_alive(struct requests *requests)
{
	uint64_t now = monotonic__ns();

	for (struct target *target = requests->targets; target; target = target->next)
		/* The session reports those that have ended. */
		write_all(target, &now, sizeof(now), offsetof(struct cuda_request, alive));
}

static void drop_first(struct target **link)
{
	struct target *target = *link;

	*link = target->next;
	close(target->memory);
	free(target);
}

void counter_requests__drop(struct requests *requests, const struct process *process)
{
	for (struct target **link = &requests->targets; *link; link = &(*link)->next)
		if ((*link)->pid == process->pid && (*link)->instance == process->instance) {
			drop_first(link);
			return;
		}
}

void counter_requests__free(struct requests *requests)
{
	while (requests && requests->targets)
		drop_first(&requests->targets);
	free(requests);
}
