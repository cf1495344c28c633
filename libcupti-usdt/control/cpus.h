/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPUs on which the agent's threads run. The calling thread; errno may change.
 */
#ifndef LIBCUPTI_USDT_CONTROL_CPUS_H
#define LIBCUPTI_USDT_CONTROL_CPUS_H

/*
 * Lets the calling thread run wherever some thread of the process may. A new thread may run where
 * the one that made it may: that is one CPU if the program binds its launching threads, and those
 * need it for themselves. What it starts, CUPTI's threads included, has its CPUs.
 */
void cpus__spread(void);

#endif
