/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds libcupti. Called once, in InitializeInjection: the only place where the agent opens files.
 */
#ifndef LIBCUPTI_USDT_CUPTI_CUPTI_SEARCH_H
#define LIBCUPTI_USDT_CUPTI_CUPTI_SEARCH_H

#include "libcupti-usdt/probes.h"

/*
 * Opens and binds the right libcupti (see cupti_api__get()) and leaves an account of every place in
 * the status. CUDA_INERT_NONE, or why there is none.
 */
enum cuda_inert_reason cupti_search__run(void);

#endif
