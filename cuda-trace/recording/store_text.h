/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names as a recording keeps them: text of traced programs is untrusted, and a file is read by
 * many tools (terminals among them), so what goes in is UTF-8 without control characters.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_TEXT_H
#define CUDA_TRACE_RECORDING_STORE_TEXT_H

#include <stddef.h>

/* A copy (free it) of at most `length` bytes in which control characters and bytes that are not
 * UTF-8 read \xNN. */
char *store__clean_text(const char *text, size_t length);

/* "kernel" from "void ns::kernel<int>(int*)": no result type, arguments, template arguments
 * or namespaces. The result (free it) is the whole name where it does not look like that. */
char *store__short_name(const char *demangled);

#endif
