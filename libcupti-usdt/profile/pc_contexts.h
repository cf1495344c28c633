/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contexts that are sampled, a slot each: who they are, and how one is named in a call of
 * CUPTI's while its program may destroy it. On the agent's own thread, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PROFILE_PC_CONTEXTS_H
#define LIBCUPTI_USDT_PROFILE_PC_CONTEXTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_pc.h"

#define CONTEXTS 8
#define REASONS	 64

/* Memory for `count` records, as CUPTI wants it. */
struct record_buffer {
	struct cupti_pc_data data;
	struct cupti_pc_record *records;
	struct cupti_pc_stall (*stalls)[REASONS];
	size_t count;
};

struct slot {
	_Atomic(void *) context; /* NULL = free; callbacks take it away */
	_Atomic(uint32_t) ended; /* contexts that were here and are gone */
	uint32_t seen;		 /* of these: by the agent's thread */
	bool enabled, started;
	bool stopped;	/* just now: its samples are to be handed out */
	bool refused;	/* reported, and left alone */
	bool rivalled;	/* another process had the GPU in a window: reported, and tried again */
	uint32_t stale; /* times in a row that CUPTI's state was not what is kept here */
	uint32_t id, device;
	uint32_t period;
	uint64_t since; /* ns, of this part of the window */
	struct record_buffer spare;
};

/* Contexts that begin are taken from now on, or not any more. */
void pc_contexts__listen(bool on);
/* Of those that have a context; cut: of those first whose context went while it was started. */
void pc_contexts__each(void (*do_it)(struct slot *), void (*cut)(struct slot *));
struct slot *pc_contexts__slot(int i);
/* Whether pc_contexts__begins() does anything: launching threads ask. */
extern atomic_bool pc_contexts_listening;
/* From CUPTI's callbacks, on any thread; also of a context that a launch was seen in: fetching a
 * primary one takes a reference, and releasing that may release the program's own. After
 * the second, no call of ours names that context. */
void pc_contexts__begins(void *context);
void pc_contexts__ends(void *context);

/* The context for one call; NULL: it is gone. Released by pc_contexts__leave(). */
void *pc_contexts__enter(struct slot *slot);
void pc_contexts__leave(void);
/* A call that takes nothing else; -ENOENT: the context is gone. */
int pc_contexts__call(struct slot *slot, int (*function)(struct cupti_pc_context *));
/* Leaves the context alone and reports why, in CUPTI's words (for a CUptiResult) or in others.
 * Nothing is reported of a context that CUPTI says is gone, nor at first of one that was
 * made anew behind our back, which shows as a call out of order: that is tried again. */
void pc_contexts__refuse(struct slot *slot, int result, const char *what);
void pc_contexts__tell(struct slot *slot, int result, const char *what, const char *why);
/* Another context of its GPU is started. */
bool pc_contexts__has_rival(const struct slot *slot);
/* Nothing is on for it. */
void pc_contexts__clear(struct slot *slot);
void pc_contexts__free(struct slot *slot);

#endif
