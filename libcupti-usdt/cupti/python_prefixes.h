/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Python environments that this program may run in: of virtualenv and conda, activated or not.
 * Inside InitializeInjection(), on the program's thread.
 */
#ifndef LIBCUPTI_USDT_CUPTI_PYTHON_PREFIXES_H
#define LIBCUPTI_USDT_CUPTI_PYTHON_PREFIXES_H

/* Each folder of Python packages of a prefix, and then (NULL) the prefix itself if it is conda's.
 */
void python_prefixes__each(void (*found)(void *context, const char *prefix, const char *packages),
			   void *context);

#endif
