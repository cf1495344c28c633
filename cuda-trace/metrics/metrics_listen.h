/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A listening socket from "ADDRESS:PORT".
 */
#ifndef CUDA_TRACE_METRICS_METRICS_LISTEN_H
#define CUDA_TRACE_METRICS_METRICS_LISTEN_H

#include <stddef.h>

/* The socket, or -errno after one line on stderr. address: as a client would write it. */
int listen__open(const char *where, char *address, size_t size);

/* Does it have the form of an address? 0, or -EINVAL after a message. */
int listen__check(const char *where);

#endif
