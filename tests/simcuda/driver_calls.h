/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver API as far as it is simulated: one row a call, X(CUPTI's number, name, (type,
 * name)...). Names and numbers are those of libcuda.so.1, so that the parameter structure made from
 * a row is the one which a CUPTI callback receives in functionParams.
 */
#ifndef TESTS_SIMCUDA_DRIVER_CALLS_H
#define TESTS_SIMCUDA_DRIVER_CALLS_H

/* clang-format off */
#define SIM_LAUNCH_ARGUMENTS                                                                       \
	(CUfunction, f), (unsigned int, gridDimX), (unsigned int, gridDimY),                       \
		(unsigned int, gridDimZ), (unsigned int, blockDimX), (unsigned int, blockDimY),    \
		(unsigned int, blockDimZ), (unsigned int, sharedMemBytes), (CUstream, hStream),    \
		(void **, kernelParams)

#define DRIVER_CALLS(X)                                                                            \
	X(1, cuInit, (unsigned int, flags))                                                        \
	X(2, cuDriverGetVersion, (int *, version))                                                 \
	X(3, cuDeviceGet, (CUdevice *, device), (int, ordinal))                                    \
	X(4, cuDeviceGetCount, (int *, count))                                                     \
	X(5, cuDeviceGetName, (char *, name), (int, len), (CUdevice, dev))                         \
	X(9, cuDeviceGetAttribute, (int *, pi), (int, attrib), (CUdevice, dev))                    \
	X(259, cuDeviceTotalMem_v2, (size_t *, bytes), (CUdevice, dev))                            \
	X(332, cuDeviceGetPCIBusId, (char *, pciBusId), (int, len), (CUdevice, dev))               \
	X(482, cuDeviceGetUuid, (CUuuid *, uuid), (CUdevice, dev))                                 \
	X(647, cuDeviceGetUuid_v2, (CUuuid *, uuid), (CUdevice, dev))                              \
	X(312, cuDeviceCanAccessPeer, (int *, canAccessPeer), (CUdevice, dev), (CUdevice, peer))   \
	X(606, cuDeviceGetDefaultMemPool, (CUmemoryPool *, pool), (CUdevice, dev))                 \
	X(235, cuCtxCreate_v2, (CUcontext *, pctx), (unsigned int, flags), (CUdevice, dev))        \
	X(757, cuCtxCreate_v4, (CUcontext *, pctx), (void *, params), (unsigned int, flags),       \
	  (CUdevice, dev))                                                                         \
	X(322, cuCtxDestroy_v2, (CUcontext, ctx))                                                  \
	X(323, cuCtxPushCurrent_v2, (CUcontext, ctx))                                              \
	X(324, cuCtxPopCurrent_v2, (CUcontext *, pctx))                                            \
	X(303, cuCtxSetCurrent, (CUcontext, ctx))                                                  \
	X(304, cuCtxGetCurrent, (CUcontext *, pctx))                                               \
	X(16, cuCtxGetDevice, (CUdevice *, device))                                                \
	X(313, cuCtxEnablePeerAccess, (CUcontext, peer), (unsigned int, flags))                    \
	X(370, cuCtxGetStreamPriorityRange, (int *, least), (int *, greatest))                     \
	X(386, cuDevicePrimaryCtxRetain, (CUcontext *, pctx), (CUdevice, dev))                     \
	X(392, cuDevicePrimaryCtxGetState, (CUdevice, dev), (unsigned int *, flags),               \
	  (int *, active))                                                                         \
	X(544, cuDevicePrimaryCtxRelease_v2, (CUdevice, dev))                                      \
	X(545, cuDevicePrimaryCtxReset_v2, (CUdevice, dev))                                        \
	X(19, cuModuleLoadData, (CUmodule *, module), (const void *, image))                       \
	X(20, cuModuleLoadDataEx, (CUmodule *, module), (const void *, image),                     \
	  (unsigned int, numOptions), (int *, options), (void **, optionValues))                   \
	X(22, cuModuleUnload, (CUmodule, hmod))                                                    \
	X(23, cuModuleGetFunction, (CUfunction *, hfunc), (CUmodule, hmod), (const char *, name))  \
	X(678, cuLibraryLoadData, (CUlibrary *, library), (const void *, code),                    \
	  (int *, jitOptions), (void **, jitOptionsValues), (unsigned int, numJitOptions),         \
	  (int *, libraryOptions), (void **, libraryOptionValues),                                 \
	  (unsigned int, numLibraryOptions))                                                       \
	X(680, cuLibraryUnload, (CUlibrary, library))                                              \
	X(681, cuLibraryGetKernel, (CUkernel *, pKernel), (CUlibrary, library),                    \
	  (const char *, name))                                                                    \
	X(683, cuKernelGetFunction, (CUfunction *, pFunc), (CUkernel, kernel))                     \
	X(719, cuKernelGetName, (const char **, name), (CUkernel, hfunc))                          \
	X(718, cuFuncGetName, (const char **, name), (CUfunction, hfunc))                          \
	X(85, cuFuncGetAttribute, (int *, pi), (int, attrib), (CUfunction, hfunc))                 \
	X(481, cuFuncSetAttribute, (CUfunction, hfunc), (int, attrib), (int, value))               \
	X(124, cuStreamCreate, (CUstream *, phStream), (unsigned int, Flags))                      \
	X(367, cuStreamCreateWithPriority, (CUstream *, phStream), (unsigned int, flags),          \
	  (int, priority))                                                                         \
	X(326, cuStreamDestroy_v2, (CUstream, hStream))                                            \
	X(125, cuStreamQuery, (CUstream, hStream))                                                 \
	X(126, cuStreamSynchronize, (CUstream, hStream))                                           \
	X(295, cuStreamWaitEvent, (CUstream, hStream), (CUevent, hEvent), (unsigned int, Flags))   \
	X(368, cuStreamGetPriority, (CUstream, hStream), (int *, priority))                        \
	X(369, cuStreamGetFlags, (CUstream, hStream), (unsigned int *, flags))                     \
	X(539, cuStreamBeginCapture_v2, (CUstream, hStream), (int, mode))                          \
	X(497, cuStreamEndCapture, (CUstream, hStream), (CUgraph *, phGraph))                      \
	X(499, cuStreamIsCapturing, (CUstream, hStream), (int *, captureStatus))                   \
	X(118, cuEventCreate, (CUevent *, phEvent), (unsigned int, Flags))                         \
	X(119, cuEventRecord, (CUevent, hEvent), (CUstream, hStream))                              \
	X(120, cuEventQuery, (CUevent, hEvent))                                                    \
	X(121, cuEventSynchronize, (CUevent, hEvent))                                              \
	X(123, cuEventElapsedTime, (float *, pMilliseconds), (CUevent, hStart), (CUevent, hEnd))   \
	X(325, cuEventDestroy_v2, (CUevent, hEvent))                                               \
	X(307, cuLaunchKernel, SIM_LAUNCH_ARGUMENTS, (void **, extra))                             \
	X(442, cuLaunchKernel_ptsz, SIM_LAUNCH_ARGUMENTS, (void **, extra))                        \
	X(477, cuLaunchCooperativeKernel, SIM_LAUNCH_ARGUMENTS)                                    \
	X(478, cuLaunchCooperativeKernel_ptsz, SIM_LAUNCH_ARGUMENTS)                               \
	X(652, cuLaunchKernelEx, (const CUlaunchConfig *, config), (CUfunction, f),                \
	  (void **, kernelParams), (void **, extra))                                               \
	X(653, cuLaunchKernelEx_ptsz, (const CUlaunchConfig *, config), (CUfunction, f),           \
	  (void **, kernelParams), (void **, extra))                                               \
	X(527, cuLaunchHostFunc, (CUstream, hStream), (CUhostFn, fn), (void *, userData))          \
	X(242, cuMemGetInfo_v2, (size_t *, free), (size_t *, total))                               \
	X(243, cuMemAlloc_v2, (CUdeviceptr *, dptr), (size_t, bytesize))                           \
	X(245, cuMemFree_v2, (CUdeviceptr, dptr))                                                  \
	X(294, cuMemAllocHost_v2, (void **, pp), (size_t, bytesize))                               \
	X(39, cuMemHostAlloc, (void **, pp), (size_t, bytesize), (unsigned int, Flags))            \
	X(38, cuMemFreeHost, (void *, p))                                                          \
	X(379, cuMemHostRegister_v2, (void *, p), (size_t, bytesize), (unsigned int, Flags))       \
	X(302, cuMemHostUnregister, (void *, p))                                                   \
	X(371, cuMemAllocManaged, (CUdeviceptr *, dptr), (size_t, bytesize),                       \
	  (unsigned int, flags))                                                                   \
	X(716, cuMemPrefetchAsync_v2, (CUdeviceptr, devPtr), (size_t, count),                      \
	  (CUmemLocation, location), (unsigned int, flags), (CUstream, hStream))                   \
	X(598, cuMemAllocAsync, (CUdeviceptr *, dptr), (size_t, bytesize), (CUstream, hStream))    \
	X(600, cuMemFreeAsync, (CUdeviceptr, dptr), (CUstream, hStream))                           \
	X(602, cuMemPoolTrimTo, (CUmemoryPool, pool), (size_t, minBytesToKeep))                    \
	X(607, cuMemPoolCreate, (CUmemoryPool *, pool), (const CUmemPoolProps *, poolProps))       \
	X(608, cuMemPoolDestroy, (CUmemoryPool, pool))                                             \
	X(611, cuMemAllocFromPoolAsync, (CUdeviceptr *, dptr), (size_t, bytesize),                 \
	  (CUmemoryPool, pool), (CUstream, hStream))                                               \
	X(305, cuMemcpy, (CUdeviceptr, dst), (CUdeviceptr, src), (size_t, ByteCount))              \
	X(306, cuMemcpyAsync, (CUdeviceptr, dst), (CUdeviceptr, src), (size_t, ByteCount),         \
	  (CUstream, hStream))                                                                     \
	X(276, cuMemcpyHtoD_v2, (CUdeviceptr, dstDevice), (const void *, srcHost),                 \
	  (size_t, ByteCount))                                                                     \
	X(277, cuMemcpyHtoDAsync_v2, (CUdeviceptr, dstDevice), (const void *, srcHost),            \
	  (size_t, ByteCount), (CUstream, hStream))                                                \
	X(278, cuMemcpyDtoH_v2, (void *, dstHost), (CUdeviceptr, srcDevice), (size_t, ByteCount))  \
	X(279, cuMemcpyDtoHAsync_v2, (void *, dstHost), (CUdeviceptr, srcDevice),                  \
	  (size_t, ByteCount), (CUstream, hStream))                                                \
	X(280, cuMemcpyDtoD_v2, (CUdeviceptr, dstDevice), (CUdeviceptr, srcDevice),                \
	  (size_t, ByteCount))                                                                     \
	X(281, cuMemcpyDtoDAsync_v2, (CUdeviceptr, dstDevice), (CUdeviceptr, srcDevice),           \
	  (size_t, ByteCount), (CUstream, hStream))                                                \
	X(318, cuMemcpyPeer, (CUdeviceptr, dstDevice), (CUcontext, dstContext),                    \
	  (CUdeviceptr, srcDevice), (CUcontext, srcContext), (size_t, ByteCount))                  \
	X(319, cuMemcpyPeerAsync, (CUdeviceptr, dstDevice), (CUcontext, dstContext),               \
	  (CUdeviceptr, srcDevice), (CUcontext, srcContext), (size_t, ByteCount),                  \
	  (CUstream, hStream))                                                                     \
	X(249, cuMemsetD8_v2, (CUdeviceptr, dstDevice), (unsigned char, uc), (size_t, N))          \
	X(250, cuMemsetD16_v2, (CUdeviceptr, dstDevice), (unsigned short, us), (size_t, N))        \
	X(251, cuMemsetD32_v2, (CUdeviceptr, dstDevice), (unsigned int, ui), (size_t, N))          \
	X(216, cuMemsetD8Async, (CUdeviceptr, dstDevice), (unsigned char, uc), (size_t, N),        \
	  (CUstream, hStream))                                                                     \
	X(220, cuMemsetD32Async, (CUdeviceptr, dstDevice), (unsigned int, ui), (size_t, N),        \
	  (CUstream, hStream))                                                                     \
	X(501, cuGraphCreate, (CUgraph *, phGraph), (unsigned int, flags))                         \
	X(689, cuGraphAddKernelNode_v2, (CUgraphNode *, phGraphNode), (CUgraph, hGraph),           \
	  (const CUgraphNode *, dependencies), (size_t, numDependencies),                          \
	  (const CUDA_KERNEL_NODE_PARAMS *, nodeParams))                                           \
	X(506, cuGraphAddMemsetNode, (CUgraphNode *, phGraphNode), (CUgraph, hGraph),              \
	  (const CUgraphNode *, dependencies), (size_t, numDependencies),                          \
	  (const CUDA_MEMSET_NODE_PARAMS *, memsetParams), (CUcontext, ctx))                       \
	X(526, cuGraphAddEmptyNode, (CUgraphNode *, phGraphNode), (CUgraph, hGraph),               \
	  (const CUgraphNode *, dependencies), (size_t, numDependencies))                          \
	X(523, cuGraphClone, (CUgraph *, phGraphClone), (CUgraph, originalGraph))                  \
	X(525, cuGraphAddChildGraphNode, (CUgraphNode *, phGraphNode), (CUgraph, hGraph),          \
	  (const CUgraphNode *, dependencies), (size_t, numDependencies), (CUgraph, childGraph))   \
	X(690, cuGraphKernelNodeGetParams_v2, (CUgraphNode, hNode),                                \
	  (CUDA_KERNEL_NODE_PARAMS *, nodeParams))                                                 \
	X(691, cuGraphKernelNodeSetParams_v2, (CUgraphNode, hNode),                                \
	  (const CUDA_KERNEL_NODE_PARAMS *, nodeParams))                                           \
	X(692, cuGraphExecKernelNodeSetParams_v2, (CUgraphExec, hGraphExec),                       \
	  (CUgraphNode, hNode), (const CUDA_KERNEL_NODE_PARAMS *, nodeParams))                     \
	X(722, cuGraphConditionalHandleCreate, (uint64_t *, pHandle_out), (CUgraph, hGraph),      \
	  (CUcontext, ctx), (unsigned int, defaultLaunchValue), (unsigned int, flags))             \
	X(723, cuGraphAddNode_v2, (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                \
	  (const CUgraphNode *, dependencies), (const void *, dependencyData),                     \
	  (size_t, numDependencies), (CUgraphNodeParams *, nodeParams))                            \
	X(720, cuStreamBeginCaptureToGraph, (CUstream, hStream), (CUgraph, hGraph),               \
	  (const CUgraphNode *, dependencies), (const void *, dependencyData),                     \
	  (size_t, numDependencies), (int, mode))                                                  \
	X(696, cuGraphExecUpdate_v2, (CUgraphExec, hGraphExec), (CUgraph, hGraph),                 \
	  (void *, resultInfo))                                                                    \
	X(534, cuGraphGetNodes, (CUgraph, hGraph), (CUgraphNode *, nodes), (size_t *, numNodes))   \
	X(643, cuGraphInstantiateWithFlags, (CUgraphExec *, phGraphExec), (CUgraph, hGraph),       \
	  (unsigned long long, flags))                                                             \
	X(580, cuGraphUpload, (CUgraphExec, hGraph), (CUstream, hStream))                          \
	X(514, cuGraphLaunch, (CUgraphExec, hGraph), (CUstream, hStream))                          \
	X(515, cuGraphLaunch_ptsz, (CUgraphExec, hGraph), (CUstream, hStream))                     \
	X(516, cuGraphExecDestroy, (CUgraphExec, hGraphExec))                                      \
	X(517, cuGraphDestroy, (CUgraph, hGraph))                                                  \
	X(372, cuGetErrorString, (CUresult, error), (const char **, pStr))                         \
	X(373, cuGetErrorName, (CUresult, error), (const char **, pStr))                           \
	X(626, cuGetProcAddress, (const char *, symbol), (void **, pfn), (int, cudaVersion),       \
	  (uint64_t, flags))                                                                       \
	X(677, cuGetProcAddress_v2, (const char *, symbol), (void **, pfn), (int, cudaVersion),    \
	  (uint64_t, flags), (int *, symbolStatus))

/* Calls without arguments; functionParams is NULL. */
#define DRIVER_CALLS_BARE(X)                                                                       \
	X(17, cuCtxSynchronize)                                                                    \
	X(308, cuProfilerStart)                                                                    \
	X(309, cuProfilerStop)
/* clang-format on */

#endif
