/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path of a launch, kept together. Between two launches the driver and CUPTI run over more
 * memory than the first cache holds, so that what a launch costs is less its instructions than the
 * lines, of code and of data, that they lie on.
 */
#ifndef LIBCUPTI_USDT_HOT_H
#define LIBCUPTI_USDT_HOT_H

/* Functions that each launch runs through, and those that it nearly never does. */
#define HOT_PATH  __attribute__((hot))
#define COLD_PATH __attribute__((cold, noinline))
/* What each launch reads and nobody writes meanwhile. */
#define HOT_DATA __attribute__((section("hot_data")))

#endif
