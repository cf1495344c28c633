/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for CUPTI's enumerators (kinds of copies, memory, synchronisation, streams ...), the same
 * in all output formats. Documented and stable.
 */
#ifndef CUDA_TRACE_BASE_EVENT_KEYS_H
#define CUDA_TRACE_BASE_EVENT_KEYS_H

#include <stdint.h>

#define STAT_SYNC_TYPES	  5
#define STAT_JIT_KINDS	  4
#define STAT_UVM_COUNTERS 9

/* Beside CUPTI's own kinds: */
#define STAT_COPY_SET	 255 /* a memset in a table of copies */
#define STAT_COPY_OTHERS 254 /* copies beyond the capacity of a table */
#define STAT_KIND_OTHERS 255 /* the same for kinds of memory */

/* "HtoD", "memset" ...; "pageable", "device" ...: any kind. */
const char *stat_events__copy_key(uint8_t kind);
const char *stat_events__memory_key(uint8_t kind);
/* "event", "stream" ...: the argument must be below the number of words. */
const char *stat_events__sync_key(int type);
const char *stat_events__uvm_key(int counter);
const char *stat_events__overhead_key(int index);
const char *stat_events__jit_key(int operation);
/* CUPTI numbers some kinds of overhead from 1 and others from 1 << 16; this numbers all from 0. */
int stat_events__overhead_index(uint32_t kind);
/* "default", "non-blocking" ...: any flag. */
const char *stat_objects__stream_key(uint32_t flag);
/* "GPU-8c1e..." as nvidia-smi prints it. */
char *stat_objects__uuid(char out[48], const char *kind, const uint8_t uuid[16]);

#endif
