/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tests/agent/listen.bpf.c hands to tests/agent/listen.c. */
#ifndef TESTS_AGENT_LISTEN_H
#define TESTS_AGENT_LISTEN_H

#include "libcupti-usdt/probes.h"

enum heard_kind { HEARD_BATCH, HEARD_NAME, HEARD_STATUS, HEARD_LOST, HEARD_ERROR, HEARD_READABLE };

struct heard {
	__u32 kind;
	__u32 probe; /* index on the command line */
	__u32 pid;
	__u32 bytes;
	__u64 time;
	__u64 args[12];
	__u8 data[CUDA_BATCH_MAX];
};

#endif
