/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that forbid themselves system calls (seccomp) after cuInit(): CUPTI would make a thread
 * there, and the program be killed for it.
 */
#ifndef LIBCUPTI_USDT_CONTROL_SANDBOX_H
#define LIBCUPTI_USDT_CONTROL_SANDBOX_H

#include <stdbool.h>

/* Notes where tools find it which filters there are, as those let a thread be made. Inside
 * InitializeInjection(). */
void sandbox__note(void);
/* Nothing forbade system calls then. */
bool sandbox__is_free(void);

#endif
