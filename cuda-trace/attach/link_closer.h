/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closes links in the background and in parallel, because each takes the kernel some 50 ms.
 */
#ifndef CUDA_TRACE_ATTACH_LINK_CLOSER_H
#define CUDA_TRACE_ATTACH_LINK_CLOSER_H

/* Any thread may call it; closes the link itself if no thread can be started. */
void link_closer__close(int fd);
/* Waits until all of them are closed. */
void link_closer__wait(void);

#endif
