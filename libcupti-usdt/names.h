/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names, interned: a string travels once, records carry its id. names__intern() on any thread,
 * takes no lock, allocates nothing; names__open() and names__replay() on the guest's own thread.
 */
#ifndef LIBCUPTI_USDT_NAMES_H
#define LIBCUPTI_USDT_NAMES_H

#include <stdint.h>

int names__open(void);

/* The id of a name, announced by cuda:name before this returns. 0: no name, or the table is full.
 */
uint32_t names__intern(const char *name);
/* The same for text that a program makes up as it runs (NVTX): may fill half of the table only. */
uint32_t names__intern_text(const char *text);
/* The guest's own copy, resident, so that a tracer can read it. "" for 0. */
const char *names__text(uint32_t id);
/* Announces all names again, for a consumer that came later. */
void names__replay(void);
uint32_t names__count(void);

#endif
