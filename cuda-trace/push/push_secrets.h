/* SPDX-License-Identifier: BSD-2-Clause */
/* Credentials from files, as header lines of HTTP. Their text is in no message. Any thread. */
#ifndef CUDA_TRACE_PUSH_PUSH_SECRETS_H
#define CUDA_TRACE_PUSH_PUSH_SECRETS_H

#include <stdbool.h>

/* Both hand the lines to add(), and return false where it does, or where a file cannot be read:
 * then `error` says so. NULL = there are none. */
bool push_secrets__token(const char *path, bool (*add)(void *context, const char *line),
			 void *context, char error[256]);
/* "NAME: VALUE", or "@FILE" with such lines. */
bool push_secrets__headers(const char *header, bool (*add)(void *context, const char *line),
			   void *context, char error[256]);

#endif
