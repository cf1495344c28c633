/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls whose parameters say what they requested, by CUPTI's numbers (which are never reused), and
 * the byte of the parameters where each value lies; as in cupti_calls.h, `make check-layout`
 * compares all of it with a toolkit's headers. Only what is passed by value is here: a parameter
 * that points somewhere is the program's, and may point anywhere in a call that failed.
 *
 *   BYTES(member, at)         a size; with TIMES(member, at) so often, of UNIT(n) bytes each
 *   ADDRESS(member, at)       an address, for itself
 *   KIND(member, at)          a cudaMemcpyKind; DIRECTION(CUpti_ActivityMemcpyKind) of the call
 *   VALUE(member, at, width)  what memory is filled with
 *   DEVICE(member, at)        an ordinal
 */
#ifndef LIBCUPTI_USDT_CUPTI_CALL_ARGUMENT_OFFSETS_H
#define LIBCUPTI_USDT_CUPTI_CALL_ARGUMENT_OFFSETS_H

/* X(CUPTI's name, number, what its parameters say) */
#define DRIVER_ARGUMENTS(X)                                                                        \
	X(cuMemAlloc_v2, 243, BYTES(bytesize, 8))                                                  \
	X(cuMemAllocHost_v2, 294, BYTES(bytesize, 8))                                              \
	X(cuMemHostAlloc, 39, BYTES(bytesize, 8))                                                  \
	X(cuMemAllocManaged, 371, BYTES(bytesize, 8))                                              \
	X(cuMemAllocAsync, 598, BYTES(bytesize, 8))                                                \
	X(cuMemAllocAsync_ptsz, 599, BYTES(bytesize, 8))                                           \
	X(cuMemAllocFromPoolAsync, 611, BYTES(bytesize, 8))                                        \
	X(cuMemAllocFromPoolAsync_ptsz, 612, BYTES(bytesize, 8))                                   \
	X(cuMemAllocPitch_v2, 244, BYTES(WidthInBytes, 16) TIMES(Height, 24))                      \
	X(cuMemCreate, 549, BYTES(size, 8))                                                        \
	X(cuMemAddressReserve, 547, BYTES(size, 8))                                                \
	X(cuMemMap, 551, ADDRESS(ptr, 0) BYTES(size, 8))                                           \
	X(cuMemUnmap, 552, ADDRESS(ptr, 0) BYTES(size, 8))                                         \
	X(cuMemAddressFree, 548, ADDRESS(ptr, 0) BYTES(size, 8))                                   \
	X(cuMemSetAccess, 553, ADDRESS(ptr, 0) BYTES(size, 8))                                     \
	X(cuMemHostRegister_v2, 379, ADDRESS(p, 0) BYTES(bytesize, 8))                             \
	X(cuMemHostUnregister, 302, ADDRESS(p, 0))                                                 \
	X(cuMemFreeHost, 38, ADDRESS(p, 0))                                                        \
	X(cuMemFree_v2, 245, ADDRESS(dptr, 0))                                                     \
	X(cuMemFreeAsync, 600, ADDRESS(dptr, 0))                                                   \
	X(cuMemFreeAsync_ptsz, 601, ADDRESS(dptr, 0))                                              \
	X(cuMemPrefetchAsync, 467, ADDRESS(devPtr, 0) BYTES(count, 8) DEVICE(dstDevice, 16))       \
	X(cuMemPrefetchAsync_ptsz, 468, ADDRESS(devPtr, 0) BYTES(count, 8) DEVICE(dstDevice, 16))  \
	X(cuMemPrefetchAsync_v2, 716, ADDRESS(devPtr, 0) BYTES(count, 8))                          \
	X(cuMemPrefetchAsync_v2_ptsz, 717, ADDRESS(devPtr, 0) BYTES(count, 8))                     \
	X(cuMemAdvise_v2, 715, ADDRESS(devPtr, 0) BYTES(count, 8))                                 \
	X(cuMemAdvise, 457, ADDRESS(devPtr, 0) BYTES(count, 8) DEVICE(device, 20))                 \
	X(cuMemcpy, 305, BYTES(ByteCount, 16))                                                     \
	X(cuMemcpy_ptds, 408, BYTES(ByteCount, 16))                                                \
	X(cuMemcpyAsync, 306, BYTES(ByteCount, 16))                                                \
	X(cuMemcpyAsync_ptsz, 418, BYTES(ByteCount, 16))                                           \
	X(cuMemcpyHtoD_v2, 276, BYTES(ByteCount, 16) DIRECTION(1))                                 \
	X(cuMemcpyHtoD_v2_ptds, 397, BYTES(ByteCount, 16) DIRECTION(1))                            \
	X(cuMemcpyHtoDAsync_v2, 277, BYTES(ByteCount, 16) DIRECTION(1))                            \
	X(cuMemcpyHtoDAsync_v2_ptsz, 421, BYTES(ByteCount, 16) DIRECTION(1))                       \
	X(cuMemcpyDtoH_v2, 278, BYTES(ByteCount, 16) DIRECTION(2))                                 \
	X(cuMemcpyDtoH_v2_ptds, 398, BYTES(ByteCount, 16) DIRECTION(2))                            \
	X(cuMemcpyDtoHAsync_v2, 279, BYTES(ByteCount, 16) DIRECTION(2))                            \
	X(cuMemcpyDtoHAsync_v2_ptsz, 422, BYTES(ByteCount, 16) DIRECTION(2))                       \
	X(cuMemcpyDtoD_v2, 280, BYTES(ByteCount, 16) DIRECTION(8))                                 \
	X(cuMemcpyDtoD_v2_ptds, 399, BYTES(ByteCount, 16) DIRECTION(8))                            \
	X(cuMemcpyDtoDAsync_v2, 281, BYTES(ByteCount, 16) DIRECTION(8))                            \
	X(cuMemcpyDtoDAsync_v2_ptsz, 423, BYTES(ByteCount, 16) DIRECTION(8))                       \
	X(cuMemcpyPeer, 318, BYTES(ByteCount, 32) DIRECTION(10))                                   \
	X(cuMemcpyPeer_ptds, 409, BYTES(ByteCount, 32) DIRECTION(10))                              \
	X(cuMemcpyPeerAsync, 319, BYTES(ByteCount, 32) DIRECTION(10))                              \
	X(cuMemcpyPeerAsync_ptsz, 426, BYTES(ByteCount, 32) DIRECTION(10))                         \
	X(cuMemsetD8_v2, 249, VALUE(uc, 8, 1) BYTES(N, 16))                                        \
	X(cuMemsetD8_v2_ptds, 411, VALUE(uc, 8, 1) BYTES(N, 16))                                   \
	X(cuMemsetD8Async, 216, VALUE(uc, 8, 1) BYTES(N, 16))                                      \
	X(cuMemsetD8Async_ptsz, 428, VALUE(uc, 8, 1) BYTES(N, 16))                                 \
	X(cuMemsetD2D8_v2, 252, VALUE(uc, 16, 1) BYTES(Width, 24) TIMES(Height, 32))               \
	X(cuMemsetD2D8_v2_ptds, 414, VALUE(uc, 16, 1) BYTES(Width, 24) TIMES(Height, 32))          \
	X(cuMemsetD2D8Async, 222, VALUE(uc, 16, 1) BYTES(Width, 24) TIMES(Height, 32))             \
	X(cuMemsetD2D8Async_ptsz, 431, VALUE(uc, 16, 1) BYTES(Width, 24) TIMES(Height, 32))        \
	X(cuMemsetD16_v2, 250, VALUE(us, 8, 2) BYTES(N, 16) UNIT(2))                               \
	X(cuMemsetD16_v2_ptds, 412, VALUE(us, 8, 2) BYTES(N, 16) UNIT(2))                          \
	X(cuMemsetD16Async, 218, VALUE(us, 8, 2) BYTES(N, 16) UNIT(2))                             \
	X(cuMemsetD16Async_ptsz, 429, VALUE(us, 8, 2) BYTES(N, 16) UNIT(2))                        \
	X(cuMemsetD2D16_v2, 253, VALUE(us, 16, 2) BYTES(Width, 24) TIMES(Height, 32) UNIT(2))      \
	X(cuMemsetD2D16_v2_ptds, 415, VALUE(us, 16, 2) BYTES(Width, 24) TIMES(Height, 32) UNIT(2)) \
	X(cuMemsetD2D16Async, 224, VALUE(us, 16, 2) BYTES(Width, 24) TIMES(Height, 32) UNIT(2))    \
	X(cuMemsetD2D16Async_ptsz, 432,                                                            \
	  VALUE(us, 16, 2) BYTES(Width, 24) TIMES(Height, 32) UNIT(2))                             \
	X(cuMemsetD32_v2, 251, VALUE(ui, 8, 4) BYTES(N, 16) UNIT(4))                               \
	X(cuMemsetD32_v2_ptds, 413, VALUE(ui, 8, 4) BYTES(N, 16) UNIT(4))                          \
	X(cuMemsetD32Async, 220, VALUE(ui, 8, 4) BYTES(N, 16) UNIT(4))                             \
	X(cuMemsetD32Async_ptsz, 430, VALUE(ui, 8, 4) BYTES(N, 16) UNIT(4))                        \
	X(cuMemsetD2D32_v2, 254, VALUE(ui, 16, 4) BYTES(Width, 24) TIMES(Height, 32) UNIT(4))      \
	X(cuMemsetD2D32_v2_ptds, 416, VALUE(ui, 16, 4) BYTES(Width, 24) TIMES(Height, 32) UNIT(4)) \
	X(cuMemsetD2D32Async, 226, VALUE(ui, 16, 4) BYTES(Width, 24) TIMES(Height, 32) UNIT(4))    \
	X(cuMemsetD2D32Async_ptsz, 433,                                                            \
	  VALUE(ui, 16, 4) BYTES(Width, 24) TIMES(Height, 32) UNIT(4))                             \
	X(cuDeviceGet, 3, DEVICE(ordinal, 8))                                                      \
	X(cuDeviceGetAttribute, 9, DEVICE(dev, 12))                                                \
	X(cuDeviceGetName, 5, DEVICE(dev, 12))                                                     \
	X(cuDeviceTotalMem_v2, 259, DEVICE(dev, 8))                                                \
	X(cuDeviceCanAccessPeer, 312, DEVICE(dev, 8))                                              \
	X(cuDevicePrimaryCtxRetain, 386, DEVICE(dev, 8))                                           \
	X(cuCtxCreate_v2, 235, DEVICE(dev, 12))                                                    \
	X(cuCtxCreate_v3, 645, DEVICE(dev, 24))                                                    \
	X(cuCtxCreate_v4, 757, DEVICE(dev, 20))

#define RUNTIME_ARGUMENTS(X)                                                                    \
	X(cudaMalloc_v3020, 20, BYTES(size, 8))                                                 \
	X(cudaMallocHost_v3020, 25, BYTES(size, 8))                                             \
	X(cudaHostAlloc_v3020, 27, BYTES(size, 8))                                              \
	X(cudaMallocManaged_v6000, 206, BYTES(size, 8))                                         \
	X(cudaMallocAsync_v11020, 373, BYTES(size, 8))                                          \
	X(cudaMallocAsync_ptsz_v11020, 374, BYTES(size, 8))                                     \
	X(cudaMallocFromPoolAsync_v11020, 391, BYTES(size, 8))                                  \
	X(cudaMallocFromPoolAsync_ptsz_v11020, 392, BYTES(size, 8))                             \
	X(cudaMallocPitch_v3020, 21, BYTES(width, 16) TIMES(height, 24))                        \
	X(cudaHostRegister_v4000, 152, ADDRESS(ptr, 0) BYTES(size, 8))                          \
	X(cudaHostUnregister_v4000, 153, ADDRESS(ptr, 0))                                       \
	X(cudaFreeHost_v3020, 26, ADDRESS(ptr, 0))                                              \
	X(cudaFree_v3020, 22, ADDRESS(devPtr, 0))                                               \
	X(cudaFreeAsync_v11020, 375, ADDRESS(devPtr, 0))                                        \
	X(cudaFreeAsync_ptsz_v11020, 376, ADDRESS(devPtr, 0))                                   \
	X(cudaMemPrefetchAsync_v12020, 449, ADDRESS(devPtr, 0) BYTES(count, 8))                 \
	X(cudaMemPrefetchAsync_ptsz_v12020, 450, ADDRESS(devPtr, 0) BYTES(count, 8))            \
	X(cudaMemAdvise_v12020, 448, ADDRESS(devPtr, 0) BYTES(count, 8))                        \
	X(cudaMemcpy_v3020, 31, BYTES(count, 16) KIND(kind, 24))                                \
	X(cudaMemcpy_ptds_v7000, 215, BYTES(count, 16) KIND(kind, 24))                          \
	X(cudaMemcpyAsync_v3020, 41, BYTES(count, 16) KIND(kind, 24))                           \
	X(cudaMemcpyAsync_ptsz_v7000, 225, BYTES(count, 16) KIND(kind, 24))                     \
	X(cudaMemcpyToSymbol_v3020, 39, BYTES(count, 16) KIND(kind, 32))                        \
	X(cudaMemcpyToSymbol_ptds_v7000, 223, BYTES(count, 16) KIND(kind, 32))                  \
	X(cudaMemcpyToSymbolAsync_v3020, 47, BYTES(count, 16) KIND(kind, 32))                   \
	X(cudaMemcpyToSymbolAsync_ptsz_v7000, 231, BYTES(count, 16) KIND(kind, 32))             \
	X(cudaMemcpyFromSymbol_v3020, 40, BYTES(count, 16) KIND(kind, 32))                      \
	X(cudaMemcpyFromSymbol_ptds_v7000, 224, BYTES(count, 16) KIND(kind, 32))                \
	X(cudaMemcpyFromSymbolAsync_v3020, 48, BYTES(count, 16) KIND(kind, 32))                 \
	X(cudaMemcpyFromSymbolAsync_ptsz_v7000, 232, BYTES(count, 16) KIND(kind, 32))           \
	X(cudaMemcpy2D_v3020, 32, BYTES(width, 32) TIMES(height, 40) KIND(kind, 48))            \
	X(cudaMemcpy2D_ptds_v7000, 216, BYTES(width, 32) TIMES(height, 40) KIND(kind, 48))      \
	X(cudaMemcpy2DAsync_v3020, 44, BYTES(width, 32) TIMES(height, 40) KIND(kind, 48))       \
	X(cudaMemcpy2DAsync_ptsz_v7000, 228, BYTES(width, 32) TIMES(height, 40) KIND(kind, 48)) \
	X(cudaMemcpy2DToArray_v3020, 34, BYTES(width, 40) TIMES(height, 48) KIND(kind, 56))     \
	X(cudaMemcpy2DFromArray_v3020, 36, BYTES(width, 40) TIMES(height, 48) KIND(kind, 56))   \
	X(cudaMemcpyPeer_v4000, 160, BYTES(count, 32) DIRECTION(10))                            \
	X(cudaMemcpyPeerAsync_v4000, 161, BYTES(count, 32) DIRECTION(10))                       \
	X(cudaMemset_v3020, 49, VALUE(value, 8, 4) BYTES(count, 16))                            \
	X(cudaMemset_ptds_v7000, 233, VALUE(value, 8, 4) BYTES(count, 16))                      \
	X(cudaMemsetAsync_v3020, 51, VALUE(value, 8, 4) BYTES(count, 16))                       \
	X(cudaMemsetAsync_ptsz_v7000, 235, VALUE(value, 8, 4) BYTES(count, 16))                 \
	X(cudaMemset2D_v3020, 50, VALUE(value, 16, 4) BYTES(width, 24) TIMES(height, 32))       \
	X(cudaMemset2D_ptds_v7000, 234, VALUE(value, 16, 4) BYTES(width, 24) TIMES(height, 32)) \
	X(cudaMemset2DAsync_v3020, 52, VALUE(value, 16, 4) BYTES(width, 24) TIMES(height, 32))  \
	X(cudaMemset2DAsync_ptsz_v7000, 236,                                                    \
	  VALUE(value, 16, 4) BYTES(width, 24) TIMES(height, 32))                               \
	X(cudaSetDevice_v3020, 16, DEVICE(device, 0))                                           \
	X(cudaInitDevice_v12000, 444, DEVICE(device, 0))                                        \
	X(cudaGetDeviceProperties_v12000, 440, DEVICE(device, 8))                               \
	X(cudaDeviceGetAttribute_v5000, 200, DEVICE(device, 12))                                \
	X(cudaDeviceCanAccessPeer_v4000, 154, DEVICE(device, 8))                                \
	X(cudaDeviceEnablePeerAccess_v4000, 155, DEVICE(peerDevice, 0))                         \
	X(cudaDeviceDisablePeerAccess_v4000, 156, DEVICE(peerDevice, 0))

#endif
