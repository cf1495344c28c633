/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs with one planted cause share. They compute from host times when the simulated
 * GPU is busy (a kernel that finds it idle starts at its launch and takes as long as
 * requested) and print, before the last line:
 *   cause KEY            as in `stat --json`; "none" = the GPU is kept busy
 * and in the last line idle_ns and gaps.
 */
#ifndef TESTS_WORKLOADS_IDLE_PROGRAM_H
#define TESTS_WORKLOADS_IDLE_PROGRAM_H

#include "tests/workloads/program.h"

#ifdef __clang__
#define IDLE_FUNCTION __attribute__((noinline))
#else
#define IDLE_FUNCTION __attribute__((noinline, noclone))
#endif

/* Comes first on its CPU from then on, where it may. */
void idle_program__start(void);
void idle_program__come_first(int priority);
/* One kernel of that length. */
void idle_program__kernel(uint64_t ns);
/* The GPU was idle for that long inside of a call, and is busy until now. */
void idle_program__note(uint64_t idle_ns);
void idle_program__spin(uint64_t ns);
void idle_program__expect(const char *cause);
uint64_t idle_program__steps(int argc, char **argv, uint64_t steps, const char *what);

#endif
