/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the tool and entry_stop.bpf.c share.
 */
#ifndef BPF_ENTRY_STOP_H
#define BPF_ENTRY_STOP_H

#include <linux/types.h>

/* The one element of the map `control`. */
struct entry_stop_control {
	__u32 process; /* as the tool numbers it; 0 = disarmed */
	__u32 signal;  /* one that the process ignores and no handler catches */
};

_Static_assert(sizeof(struct entry_stop_control) == 8, "shared with the tool");

#endif
