/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections to container engines: only to what root, or the caller, listens at.
 */
#ifndef CUDA_TRACE_ORIGIN_ENGINE_SOCKET_H
#define CUDA_TRACE_ORIGIN_ENGINE_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an engine answers about one container is smaller. */
#define ENGINE_ANSWER_SIZE (1u << 20)

/* A non-blocking descriptor or -errno; -ECONNREFUSED also where another user could have put the
 * socket there, or has. */
int engine_socket__open(const char *path);
/* Waits for `events` until `deadline` (monotonic ms). 0, -ETIMEDOUT or another -errno. */
int engine_socket__wait(int fd, short events, uint64_t deadline);

/* A regular file that root or the caller owns, in folders of theirs; a descriptor or -errno. */
int engine_file__open(const char *path, size_t most, size_t *size);

#endif
