// SPDX-License-Identifier: BSD-2-Clause
/*
 * NCCL as far as a tracer sees it: exported functions that launch kernels, each of which lasts
 * until the last rank's has started and the data has been transferred. Ranks are processes of one
 * machine and meet in shared memory. No data moves. Sends and receives do not wait for their peer.
 * The launch of a kernel that waits for other ranks returns when they have come (a real one returns
 * at once), so a rank is never ahead.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "tests/simcuda/cuda.h"
#include "tests/simcuda/nccl.h"

#define EXPORT	     __attribute__((visibility("default")))
#define MAX_RANKS    16
#define MAX_GROUP    64
#define AHEAD	     4 /* collectives that one rank may be further than another, and more */
#define PATIENCE_NS  20000000000ull
#define TRANSFER_NS  20000 /* and one for each so many bytes: */
#define BYTES_OF_ONE 10	   /* 10 GB/s */

enum operation { ALL_REDUCE, BROADCAST, REDUCE, ALL_GATHER, REDUCE_SCATTER, SEND_RECV, OPERATIONS };

static const char *const kernels[OPERATIONS] = {
	NCCL_KERNEL "AllReduce_Sum_f32_RING_LL",     NCCL_KERNEL "Broadcast_RING_LL",
	NCCL_KERNEL "Reduce_Sum_f32_RING_LL",	     NCCL_KERNEL "AllGather_RING_LL",
	NCCL_KERNEL "ReduceScatter_Sum_f32_RING_LL", NCCL_KERNEL "SendRecv",
};

/* In shared memory. */
struct meeting_place {
	_Atomic uint32_t ready;		     /* ranks that have mapped it */
	_Atomic uint64_t arrived[MAX_RANKS]; /* collectives that each rank has begun */
	_Atomic uint64_t starts[AHEAD][MAX_RANKS];
	_Atomic uint64_t splits[MAX_RANKS];
	struct {
		int color, key;
	} wishes[AHEAD][MAX_RANKS];
};

/* The hash, and what is behind it, lie side by side as in a real one, and as far from the beginning
 * that instructions hold the distance in 32 bits. */
struct ncclComm {
	struct meeting_place *place;
	char name[4096];
	uint64_t hash;
	int rank, size, device;
	uint64_t collectives, splits;
};

/* What one kernel does: the work of a communicator in a group. */
struct work {
	struct nccl_meeting meeting; /* first: the driver has its address */
	ncclComm_t comm;
	ncclStream stream;
	enum operation operation;
	uint64_t bytes;
	bool waits;
};

static __thread struct work group[MAX_GROUP];
static __thread int depth, group_size;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void wait_until(_Atomic uint64_t *counter, uint64_t least)
{
	uint64_t until = now() + PATIENCE_NS;

	while (atomic_load(counter) < least) {
		if (now() > until) {
			fprintf(stderr, "libnccl: a rank does not come\n");
			_exit(3);
		}
		usleep(20);
	}
}

static uint64_t meet(const struct nccl_meeting *meeting, uint64_t start)
{
	const struct work *work = (const struct work *)meeting;
	struct meeting_place *place = work->comm->place;
	uint64_t number = work->comm->collectives, last = 0;
	uint64_t transfer = TRANSFER_NS + work->bytes / BYTES_OF_ONE;

	if (!work->waits)
		return transfer;
	atomic_store(&place->starts[number % AHEAD][work->comm->rank], start);
	atomic_store(&place->arrived[work->comm->rank], number + 1);
	for (int i = 0; i < work->comm->size; i++) {
		uint64_t other;

		wait_until(&place->arrived[i], number + 1);
		other = atomic_load(&place->starts[number % AHEAD][i]);
		last = other > last ? other : last;
	}
	work->comm->collectives++;
	return last - start + transfer;
}

static CUfunction kernel_of(enum operation operation)
{
	static CUfunction functions[OPERATIONS];
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char text[1024] = ".version 7.0\n.target sm_50\n.address_size 64\n";
	CUmodule module;

	pthread_mutex_lock(&lock);
	if (!functions[0]) {
		for (int i = 0; i < OPERATIONS; i++) {
			size_t used = strlen(text);

			snprintf(text + used, sizeof(text) - used,
				 ".visible .entry %s(.param .u64 a)\n{\n\tret;\n}\n", kernels[i]);
		}
		if (cuModuleLoadData(&module, text))
			abort();
		for (int i = 0; i < OPERATIONS; i++)
			if (cuModuleGetFunction(&functions[i], module, kernels[i]))
				abort();
	}
	pthread_mutex_unlock(&lock);
	return functions[operation];
}

/* What is captured is read at each replay, and never freed. */
static struct work *kept(struct work *work)
{
	struct work *copy;
	int captures = 0;

	if (cuStreamIsCapturing(work->stream, &captures) || !captures)
		return work;
	copy = malloc(sizeof(*copy));
	if (!copy)
		abort();
	*copy = *work;
	return copy;
}

static int launch(struct work *work)
{
	void *address, *parameters[] = {&address};

	work->meeting.duration = meet;
	address = kept(work);
	return cuLaunchKernel(kernel_of(work->operation), 2, 1, 1, 96, 1, 1, 0, work->stream,
			      parameters, NULL)
		       ? 1
		       : 0;
}

/* One kernel for all that a group does on a communicator and a stream. */
static int enqueue(enum operation operation, size_t count, int type, ncclComm_t comm,
		   ncclStream stream)
{
	static const int sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
	struct work work = {.comm = comm,
			    .stream = stream,
			    .operation = operation,
			    .bytes = count * sizes[type],
			    .waits = operation != SEND_RECV};

	if (!depth)
		return launch(&work);
	for (int i = 0; i < group_size; i++) {
		if (group[i].comm != comm || group[i].stream != stream)
			continue;
		group[i].bytes += work.bytes;
		group[i].waits |= work.waits;
		return 0;
	}
	if (group_size == MAX_GROUP)
		return 4;
	group[group_size++] = work;
	return 0;
}

static struct meeting_place *place_of(const char *name)
{
	int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
	void *place;

	if (fd < 0 || ftruncate(fd, sizeof(struct meeting_place)))
		abort();
	place = mmap(NULL, sizeof(struct meeting_place), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (place == MAP_FAILED)
		abort();
	return place;
}

static uint64_t hash_of(const char *name)
{
	uint64_t hash = 5381;

	while (*name)
		hash = hash * 33 ^ *name++;
	return hash;
}

static ncclComm_t join_comm(const char *name, int size, int rank)
{
	ncclComm_t comm = calloc(1, sizeof(*comm));
	uint64_t until = now() + PATIENCE_NS;

	snprintf(comm->name, sizeof(comm->name), "%s", name);
	comm->place = place_of(name);
	comm->hash = hash_of(name);
	comm->rank = rank;
	comm->size = size;
	cuCtxGetDevice(&comm->device);
	atomic_fetch_add(&comm->place->ready, 1);
	while (atomic_load(&comm->place->ready) < (uint32_t)size) {
		if (now() > until)
			_exit(3);
		usleep(20);
	}
	/* All have it: nothing is left behind, however they end. */
	if (!rank)
		shm_unlink(name);
	return comm;
}

EXPORT int ncclGetUniqueId(ncclUniqueId *id)
{
	unsigned int number[2];

	if (getrandom(number, sizeof(number), 0) != sizeof(number))
		return 2;
	memset(id, 0, sizeof(*id));
	snprintf(id->internal, sizeof(id->internal), "/simnccl-%08x%08x", number[0], number[1]);
	return 0;
}

EXPORT int ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
	if (ranks < 1 || ranks > MAX_RANKS || rank < 0 || rank >= ranks)
		return 4;
	*comm = join_comm(id.internal, ranks, rank);
	return 0;
}

EXPORT int ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank,
				  void *config)
{
	if (ranks < 1 || ranks > MAX_RANKS || rank < 0 || rank >= ranks)
		return 4;
	*comm = join_comm(id.internal, ranks, rank);
	return 0;
}

EXPORT int ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *child, void *config)
{
	struct meeting_place *place = comm->place;
	uint64_t number = comm->splits++;
	int rank = 0, size = 0;
	char name[64];

	place->wishes[number % AHEAD][comm->rank].color = color;
	place->wishes[number % AHEAD][comm->rank].key = key;
	atomic_store(&place->splits[comm->rank], number + 1);
	for (int i = 0; i < comm->size; i++) {
		int other;

		wait_until(&place->splits[i], number + 1);
		other = place->wishes[number % AHEAD][i].key;
		if (place->wishes[number % AHEAD][i].color != color)
			continue;
		size++;
		rank += other < key || (other == key && i < comm->rank);
	}
	*child = NULL;
	if (color < 0)
		return 0;
	snprintf(name, sizeof(name), "%.30s.%u.%d", comm->name, (unsigned int)number, color);
	*child = join_comm(name, size, rank);
	return 0;
}

/* Two groups of ranks may shrink it at a time, to different ones. */
EXPORT int ncclCommShrink(ncclComm_t comm, int *excluded, int count, ncclComm_t *child,
			  void *config, int flags)
{
	uint64_t number = comm->splits++;
	int first = -1, rank = 0, size = 0;
	char name[64];

	for (int i = 0; i < comm->size; i++) {
		bool is_out = false;

		for (int k = 0; k < count; k++)
			is_out |= excluded[k] == i;
		if (is_out)
			continue;
		first = first < 0 ? i : first;
		size++;
		rank += i < comm->rank;
	}
	snprintf(name, sizeof(name), "%.30s.%u-%d", comm->name, (unsigned int)number, first);
	*child = join_comm(name, size, rank);
	return 0;
}

EXPORT int ncclCommDestroy(ncclComm_t comm)
{
	munmap(comm->place, sizeof(*comm->place));
	free(comm);
	return 0;
}

EXPORT int ncclCommUserRank(ncclComm_t comm, int *rank)
{
	*rank = comm->rank;
	return 0;
}

EXPORT int ncclCommCount(ncclComm_t comm, int *count)
{
	*count = comm->size;
	return 0;
}

EXPORT int ncclCommCuDevice(ncclComm_t comm, int *device)
{
	*device = comm->device;
	return 0;
}

EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type, int op,
			 ncclComm_t comm, ncclStream stream)
{
	return enqueue(ALL_REDUCE, count, type, comm, stream);
}

EXPORT int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
			 ncclComm_t comm, ncclStream stream)
{
	return enqueue(BROADCAST, count, type, comm, stream);
}

EXPORT int ncclReduce(const void *from, void *to, size_t count, int type, int op, int root,
		      ncclComm_t comm, ncclStream stream)
{
	return enqueue(REDUCE, count, type, comm, stream);
}

EXPORT int ncclAllGather(const void *from, void *to, size_t count, int type, ncclComm_t comm,
			 ncclStream stream)
{
	return enqueue(ALL_GATHER, count, type, comm, stream);
}

EXPORT int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op,
			     ncclComm_t comm, ncclStream stream)
{
	return enqueue(REDUCE_SCATTER, count, type, comm, stream);
}

EXPORT int ncclSend(const void *from, size_t count, int type, int peer, ncclComm_t comm,
		    ncclStream stream)
{
	return enqueue(SEND_RECV, count, type, comm, stream);
}

EXPORT int ncclRecv(void *to, size_t count, int type, int peer, ncclComm_t comm, ncclStream stream)
{
	return enqueue(SEND_RECV, count, type, comm, stream);
}

EXPORT int ncclGroupStart(void)
{
	depth++;
	return 0;
}

EXPORT int ncclGroupEnd(void)
{
	int result = 0;

	if (!depth)
		return 5;
	if (--depth)
		return 0;
	for (int i = 0; i < group_size; i++)
		result |= launch(&group[i]);
	group_size = 0;
	return result;
}
