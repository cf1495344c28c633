/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which family of CUDA_API_FAMILIES a call belongs to. Its name without "cu" or "cuda" decides: the
 * first rule whose part the name contains; an initial ^ ties the part to the beginning of the name;
 * none: API_OTHER. For a part that may stand anywhere, the rule also lists the beginnings of names
 * that contain it, so that a tool can see from a pattern which families it needs. The agent uses
 * the parts alone.
 *
 * The first rules take calls out of their families that only ask, and return at once: PyTorch makes
 * some 1,700 of them in a training step of 200 launches, and who wants to know what a program waits
 * for should not pay for them, nor who waits for cudaProfilerStart().
 */
#ifndef LIBCUPTI_USDT_API_FAMILIES_H
#define LIBCUPTI_USDT_API_FAMILIES_H

/* X(part, family, beginnings) */
#define CUDA_FAMILY_RULES(X)                                                    \
	X("^GetDeviceCount", API_CONTEXT, "")                                   \
	X("^GetDeviceProperties", API_CONTEXT, "")                              \
	X("^GetDevice", API_OTHER, "")                                          \
	X("^DeviceGetAttribute", API_OTHER, "")                                 \
	X("^DevicePrimaryCtxGet", API_OTHER, "")                                \
	X("^CtxGet", API_OTHER, "")                                             \
	X("^KernelGetName", API_OTHER, "")                                      \
	X("^Profiler", API_CONTEXT, "")                                         \
	X("^GraphLaunch", API_LAUNCH, "")                                       \
	X("^Launch", API_LAUNCH, "")                                            \
	X("^_cudaLaunch", API_LAUNCH, "")                                       \
	X("^__cudaLaunch", API_LAUNCH, "")                                      \
	X("^Graph", API_GRAPH, "")                                              \
	X("Capture", API_GRAPH, "Stream Thread")                                \
	X("Synchronize", API_SYNC, "Ctx Stream Event Device Thread Execution")  \
	X("WaitEvent", API_SYNC, "Stream Ctx Execution")                        \
	X("WaitValue", API_SYNC, "Stream")                                      \
	X("WaitExternal", API_SYNC, "Wait")                                     \
	X("^Memcpy", API_COPY, "")                                              \
	X("^Memset", API_COPY, "")                                              \
	X("^MemPrefetch", API_COPY, "")                                         \
	X("^MemDiscard", API_COPY, "")                                          \
	X("^MemBatchDecompress", API_COPY, "")                                  \
	X("^Mem", API_MEMORY, "")                                               \
	X("^Malloc", API_MEMORY, "")                                            \
	X("^Free", API_MEMORY, "")                                              \
	X("^Host", API_MEMORY, "")                                              \
	X("^Array", API_MEMORY, "")                                             \
	X("^MipmappedArray", API_MEMORY, "")                                    \
	X("^Ipc", API_MEMORY, "")                                               \
	X("^Pointer", API_MEMORY, "")                                           \
	X("^Event", API_EVENT, "")                                              \
	X("^Stream", API_STREAM, "")                                            \
	X("^Module", API_MODULE, "")                                            \
	X("^Library", API_MODULE, "")                                           \
	X("^Kernel", API_MODULE, "")                                            \
	X("^Func", API_MODULE, "")                                              \
	X("^Link", API_MODULE, "")                                              \
	X("^GetSymbol", API_MODULE, "")                                         \
	X("^Occupancy", API_MODULE, "")                                         \
	X("Ctx", API_CONTEXT, "Ctx Device Green Execution")                     \
	X("Device", API_CONTEXT, "Device Get Set Choose Init GL D3D VDPAU EGL") \
	X("^ExecutionCtx", API_CONTEXT, "")

#endif
