/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C++ names of untrusted programs, demangled with a bound on memory and time.
 */
#ifndef CUDA_TRACE_BASE_DEMANGLE_H
#define CUDA_TRACE_BASE_DEMANGLE_H

/* The caller frees it; NULL if it is no mangled name, or exceeds a limit. One thread. */
char *demangle(const char *mangled);

#endif
