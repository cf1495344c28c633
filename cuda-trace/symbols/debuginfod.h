/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug information from the servers that DEBUGINFOD_URLS names, by elfutils' client library, which
 * is loaded when it is needed. One thread.
 */
#ifndef CUDA_TRACE_SYMBOLS_DEBUGINFOD_H
#define CUDA_TRACE_SYMBOLS_DEBUGINFOD_H

#include <stdint.h>

/* From now on files may be requested, which takes time: for commands that have collected all.
 * Without DEBUGINFOD_URLS nothing ever is. */
void debuginfod__allow(void);
/* The path of a file that a server says is that of the build, which is to be checked; NULL = there
 * is none. Each build is requested once. */
const char *debuginfod__find(const uint8_t *build_id, uint32_t size);
/* One line on stderr if anything was requested. */
void debuginfod__say(void);

#endif
