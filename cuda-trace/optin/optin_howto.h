/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where no login shell sets the environment: what to write into which file, as plain text.
 */
#ifndef CUDA_TRACE_OPTIN_OPTIN_HOWTO_H
#define CUDA_TRACE_OPTIN_OPTIN_HOWTO_H

/* Prints the text about a topic; 0, or -ENOENT after having named the topics on stderr. */
int howto__print(const char *topic);

#endif
