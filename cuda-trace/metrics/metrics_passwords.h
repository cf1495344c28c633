/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passwords that have to be hashed, which is made to be slow: a few threads do it, the HTTP
 * server's own never wait. A wrong one is answered late, the later the more its address has just
 * guessed. Any thread.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_PASSWORDS_H
#define CUDA_TRACE_METRICS_METRICS_PASSWORDS_H

#include <stdint.h>
#include "cuda-trace/metrics/metrics_web.h"

#define PASSWORDS_MAX 256 /* checks that wait, or whose answer is held back */

struct passwords;
struct password_check;

/* wake(connection) when the answer is there. NULL: no memory or no thread. */
struct passwords *passwords__new(struct web_config *config, void (*wake)(void *connection));
/* Ends every check: no wake() after it, and each later check is WEB_BUSY at once. Accepts NULL. */
void passwords__stop(struct passwords *passwords);
/* After passwords__stop() and the last passwords__take(). Accepts NULL. */
void passwords__free(struct passwords *passwords);

/* Copies the texts. NULL: no memory, or stopped; there will be no wake(). */
struct password_check *passwords__begin(struct passwords *passwords, int socket, uint64_t address,
					void *connection, const char *user, const char *password);
/* The answer, once wake() has been called; frees the check. */
enum web_answer passwords__take(struct password_check *check);

#endif
