/* SPDX-License-Identifier: BSD-2-Clause */
/* What both entries of libcupti-usdt-nvtx.so need. On any thread of the program's. */
#ifndef LIBCUPTI_USDT_NVTX_ENTRY_NVTX_ENTRY_H
#define LIBCUPTI_USDT_NVTX_ENTRY_NVTX_ENTRY_H

#include <stdbool.h>

/* Neither switched off nor in a program with another's privileges. */
bool nvtx_entry__is_wanted(void);
/* A function of the libcupti that the agent uses, or NULL. */
void *nvtx_entry__of_cupti(const char *function);

#endif
