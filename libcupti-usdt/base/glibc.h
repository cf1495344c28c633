/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent is mounted into containers whose C library is older than the one it was built with.
 * glibc 2.34 moved threads and dlopen() into libc.so.6 under new versions; what is linked against
 * those does not load with an older glibc. Newer ones still have the old versions, so this header
 * requests them: the agent loads from glibc 2.17 on. build.mk includes this into every file, and
 * names the libraries that had the functions before.
 */
#ifndef LIBCUPTI_USDT_BASE_GLIBC_H
#define LIBCUPTI_USDT_BASE_GLIBC_H

#if defined(__x86_64__)
#define GLIBC_OLD(function, version) __asm__(".symver " #function ", " #function "@GLIBC_" version)
#elif defined(__aarch64__) /* whose first version was 2.17 */
#define GLIBC_OLD(function, version) __asm__(".symver " #function ", " #function "@GLIBC_2.17")
#else
#define GLIBC_OLD(function, version) _Static_assert(1, "")
#endif

GLIBC_OLD(dladdr, "2.2.5");
GLIBC_OLD(dladdr1, "2.3.3");
GLIBC_OLD(dlclose, "2.2.5");
GLIBC_OLD(dlinfo, "2.3.3");
GLIBC_OLD(dlopen, "2.2.5");
GLIBC_OLD(dlsym, "2.2.5");
GLIBC_OLD(pthread_attr_setstacksize, "2.2.5");
GLIBC_OLD(pthread_create, "2.2.5");
GLIBC_OLD(pthread_getspecific, "2.2.5");
GLIBC_OLD(pthread_key_create, "2.2.5");
GLIBC_OLD(pthread_mutex_trylock, "2.2.5");
GLIBC_OLD(pthread_setname_np, "2.12");
GLIBC_OLD(pthread_setspecific, "2.2.5");
GLIBC_OLD(pthread_sigmask, "2.2.5");

#endif
