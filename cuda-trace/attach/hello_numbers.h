/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the hello probes this tool uses. An agent counts those that are up, as the kernel does
 * not tell it how many tools are attached to one: two tools with the same number look like one to
 * it, so it would switch off for both when one of them leaves. An abstract socket reserves each
 * number, in this network namespace. One thread.
 */
#ifndef CUDA_TRACE_ATTACH_HELLO_NUMBERS_H
#define CUDA_TRACE_ATTACH_HELLO_NUMBERS_H

#include "libcupti-usdt/probes.h"

struct hello_numbers {
	int sockets[CUDA_HELLOS]; /* below 0: not reserved by this tool */
	unsigned int next;	  /* where the search begins */
};

void hello_numbers__init(struct hello_numbers *numbers);
/* One that neither this tool nor another has; if there is none, any. */
unsigned int hello_numbers__take(struct hello_numbers *numbers);
void hello_numbers__free(struct hello_numbers *numbers);

#endif
