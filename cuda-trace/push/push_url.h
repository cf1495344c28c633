/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CUDA_TRACE_PUSH_PUSH_URL_H
#define CUDA_TRACE_PUSH_PUSH_URL_H

/* *base: scheme and host (the caller frees it); *path: what is behind, a part of `url`, or NULL
 * where there is none but "/". NULL, or what is wrong with the URL. */
const char *push_url__split(const char *url, char **base, const char **path);

#endif
