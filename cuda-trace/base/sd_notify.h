/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports a service's state to the service manager (sd_notify(3)'s protocol).
 */
#ifndef CUDA_TRACE_BASE_SD_NOTIFY_H
#define CUDA_TRACE_BASE_SD_NOTIFY_H

/* "READY=1", "STOPPING=1" …; nothing happens where there is no service manager. */
void notify__send(const char *state);

#endif
