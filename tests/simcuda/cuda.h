/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA driver API as far as the simulated driver has it and the test programs use it: own
 * declarations, true to the ABI of libcuda.so.1, so that no CUDA toolkit is needed and the same
 * binary runs on the simulated and on the real library. Names are the exported ones
 * (cuMemAlloc_v2).
 */
#ifndef TESTS_SIMCUDA_CUDA_H
#define TESTS_SIMCUDA_CUDA_H

#include <stddef.h>
#include <stdint.h>
#include "tests/simcuda/each.h"
#include "tests/simcuda/driver_calls.h"

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUlib_st *CUlibrary;
typedef struct CUfunc_st *CUfunction;
typedef struct CUkern_st *CUkernel;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef void (*CUhostFn)(void *);
typedef struct {
	char bytes[16];
} CUuuid;

typedef enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_DEINITIALIZED = 4,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_IMAGE = 200,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_INVALID_PTX = 218,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_ILLEGAL_STATE = 401,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_ILLEGAL_ADDRESS = 700,
	CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
	CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
	CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
	CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
	CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
	CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
	CUDA_ERROR_LAUNCH_FAILED = 719,
	CUDA_ERROR_NOT_SUPPORTED = 801,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
	CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
	CUDA_ERROR_UNKNOWN = 999,
} CUresult;

#define CU_STREAM_NON_BLOCKING	     1
#define CU_STREAM_LEGACY	     ((CUstream)1)
#define CU_STREAM_PER_THREAD	     ((CUstream)2)
#define CU_MEM_ATTACH_GLOBAL	     1
#define CU_MEMHOSTALLOC_PORTABLE     1
#define CU_EVENT_DISABLE_TIMING	     2
#define CU_MEM_LOCATION_DEVICE	     1
#define CU_MEM_LOCATION_HOST	     2
#define CU_MEM_ALLOCATION_PINNED     1
#define CU_LAUNCH_COOPERATIVE	     2 /* CUlaunchAttribute.id */
#define CU_LAUNCH_CLUSTER	     4
#define CU_DEVICE_MAX_THREADS	     1 /* attributes of cuDeviceGetAttribute */
#define CU_DEVICE_MAX_SHARED	     8
#define CU_DEVICE_SM_COUNT	     16
#define CU_DEVICE_CAPABILITY_MAJOR   75
#define CU_DEVICE_CAPABILITY_MINOR   76
#define CU_DEVICE_MANAGED_MEMORY     83
#define CU_DEVICE_CONCURRENT_MANAGED 89
#define CU_DEVICE_COOPERATIVE	     95
#define CU_DEVICE_MEMORY_POOLS	     115
#define CU_CAPTURE_GLOBAL	     0
#define CU_CAPTURE_RELAXED	     2
#define CU_CAPTURE_THREAD_LOCAL	     1

typedef struct {
	int id;
	char pad[4];
	union {
		char bytes[64];
		int cooperative;
		unsigned int cluster[3];
	} value;
} CUlaunchAttribute;

typedef struct {
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;

typedef struct {
	CUfunction func;
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
	CUkernel kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;

typedef struct {
	uint64_t handle;
	int type; /* 0: if, 1: while */
	unsigned int size;
	CUgraph *phGraph_out;
	CUcontext ctx;
} CUDA_CONDITIONAL_NODE_PARAMS;

typedef struct {
	int type; /* 0: a kernel, 13: conditional */
	int reserved0[3];
	union {
		long long reserved1[29];
		CUDA_KERNEL_NODE_PARAMS kernel;
		CUDA_CONDITIONAL_NODE_PARAMS conditional;
	};
	long long reserved2;
} CUgraphNodeParams;

typedef struct {
	CUdeviceptr dst;
	size_t pitch;
	unsigned int value;
	unsigned int elementSize;
	size_t width;
	size_t height;
} CUDA_MEMSET_NODE_PARAMS;

typedef struct {
	int type;
	int id;
} CUmemLocation;

typedef struct {
	int allocType;
	int handleTypes;
	CUmemLocation location;
	void *win32SecurityAttributes;
	size_t maxSize;
	unsigned short usage;
	unsigned char reserved[54];
} CUmemPoolProps;

_Static_assert(sizeof(CUlaunchAttribute) == 72, "ABI");
_Static_assert(sizeof(CUlaunchConfig) == 56, "ABI");
_Static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) == 72, "ABI");
_Static_assert(sizeof(CUgraphNodeParams) == 256, "ABI");
_Static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == 40, "ABI");
_Static_assert(sizeof(CUmemPoolProps) == 88, "ABI");

/* Exported also where the library is built with -fvisibility=hidden. */
#pragma GCC visibility push(default)
#define SIM_PROTOTYPE(cbid, name, ...) CUresult name(SIM_PARAMETERS(__VA_ARGS__));
#define SIM_PROTOTYPE_BARE(cbid, name) CUresult name(void);
DRIVER_CALLS(SIM_PROTOTYPE)
DRIVER_CALLS_BARE(SIM_PROTOTYPE_BARE)
#pragma GCC visibility pop

#endif
