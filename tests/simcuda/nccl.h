/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of NCCL's interface that the test programs use, true to its ABI, and what its simulation
 * agrees on with the simulated driver.
 */
#ifndef TESTS_SIMCUDA_NCCL_H
#define TESTS_SIMCUDA_NCCL_H

#include <stddef.h>
#include <stdint.h>

typedef struct ncclComm *ncclComm_t;
typedef struct {
	char internal[128];
} ncclUniqueId;
typedef struct CUstream_st *ncclStream;

enum { ncclInt8 = 0, ncclInt32 = 2, ncclInt64 = 4, ncclFloat16 = 6, ncclFloat32 = 7 };
enum { ncclSum = 0, ncclProd = 1, ncclMax = 2 };

int ncclGetUniqueId(ncclUniqueId *id);
int ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank);
int ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, void *config);
int ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *child, void *config);
int ncclCommShrink(ncclComm_t comm, int *excluded, int count, ncclComm_t *child, void *config,
		   int flags);
int ncclCommDestroy(ncclComm_t comm);
int ncclCommUserRank(ncclComm_t comm, int *rank);
int ncclCommCount(ncclComm_t comm, int *count);
int ncclCommCuDevice(ncclComm_t comm, int *device);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, ncclComm_t comm,
		  ncclStream stream);
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, ncclComm_t comm,
		  ncclStream stream);
int ncclReduce(const void *from, void *to, size_t count, int type, int op, int root,
	       ncclComm_t comm, ncclStream stream);
int ncclAllGather(const void *from, void *to, size_t count, int type, ncclComm_t comm,
		  ncclStream stream);
int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, ncclComm_t comm,
		      ncclStream stream);
int ncclSend(const void *from, size_t count, int type, int peer, ncclComm_t comm,
	     ncclStream stream);
int ncclRecv(void *to, size_t count, int type, int peer, ncclComm_t comm, ncclStream stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);

/* A kernel whose name begins so has one parameter, the address of this: how long it takes if it
 * starts at that time. The function returns when that is known. */
#define NCCL_KERNEL "ncclDevKernel_"
struct nccl_meeting {
	uint64_t (*duration)(const struct nccl_meeting *meeting, uint64_t start);
};

#endif
