/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closes links that take the kernel some 50 ms each, side by side and in the background.
 */
#ifndef CUDA_TRACE_ATTACH_LINK_CLOSER_H
#define CUDA_TRACE_ATTACH_LINK_CLOSER_H

/* On any thread; waits itself where no thread can be had. */
void link_closer__close(int fd);
/* Until all of them are closed. */
void link_closer__wait(void);

#endif
