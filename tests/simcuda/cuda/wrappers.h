/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launch functions whose exported entry is made by hand (wrappers.c), as a compiler makes those of
 * the real driver: what is written in C goes by another name. Before driver.h, where they are
 * written.
 */
#ifndef TESTS_SIMCUDA_CUDA_WRAPPERS_H
#define TESTS_SIMCUDA_CUDA_WRAPPERS_H

#if defined(__x86_64__)
#define cuLaunchKernel	      wrapped_cuLaunchKernel
#define cuLaunchKernel_ptsz   wrapped_cuLaunchKernel_ptsz
#define cuLaunchKernelEx      wrapped_cuLaunchKernelEx
#define cuLaunchKernelEx_ptsz wrapped_cuLaunchKernelEx_ptsz
#define cuGraphLaunch	      wrapped_cuGraphLaunch
#define cuGraphLaunch_ptsz    wrapped_cuGraphLaunch_ptsz
#endif

#endif
