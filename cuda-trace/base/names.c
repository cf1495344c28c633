// SPDX-License-Identifier: BSD-2-Clause
/*
 * Open-addressing table of names by id. Owned by a process; the tool's one thread.
 *
 * What one process sends must not take another's names away: each has a budget of its own, and when
 * all of them together have used up theirs, there is a reserve that is divided among processes.
 */
#include "cuda-trace/base/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/demangle.h"

#define MAX_NAMES     65536	  /* of one process */
#define MAX_BYTES     (12u << 20) /* likewise */
#define MAX_BYTES_ALL (24u << 20) /* of all processes, without the reserve */
#define RESERVE	      (16u << 20)
#define MAX_RESERVED  (128u << 10) /* of one process */
#define FORGOTTEN     65536	   /* ids without a slot that are counted once each: bits */

struct name {
	uint32_t id;	 /* 0 = free */
	uint64_t handle; /* 0 = not noted */
	char *text;	 /* NULL = a handle is all that is known */
	char *pretty;	 /* NULL = not demangled yet; may be `text` itself */
	bool missing;	 /* counted as such */
};

struct names {
	struct name *slots;
	uint32_t used;
	uint32_t mask;
	size_t bytes;
	uint32_t missing;
	uint8_t *forgotten; /* bits; NULL = none */
};

static size_t bytes_kept;
static uint32_t tables;

static bool has_budget(const struct names *names, size_t bytes)
{
	size_t share = RESERVE / tables;

	if (names->bytes + bytes > MAX_BYTES)
		return false;
	return bytes_kept + bytes <= MAX_BYTES_ALL ||
	       names->bytes + bytes <= (share < MAX_RESERVED ? share : MAX_RESERVED);
}

static char *keep(struct names *names, const char *text, size_t length)
{
	char *copy;

	if (!has_budget(names, length + 1))
		return NULL;
	copy = malloc(length + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = 0;
	bytes_kept += length + 1;
	names->bytes += length + 1;
	return copy;
}

static void free_text(char *text)
{
	if (!text)
		return;
	bytes_kept -= strlen(text) + 1;
	free(text);
}

struct names *names__new(void)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->mask = 63;
	names->slots = calloc(names->mask + 1, sizeof(*names->slots));
	if (!names->slots) {
		free(names);
		return NULL;
	}
	tables++;
	return names;
}

void names__free(struct names *names)
{
	if (!names)
		return;
	for (uint32_t i = 0; i <= names->mask; i++) {
		if (names->slots[i].pretty != names->slots[i].text)
			free_text(names->slots[i].pretty);
		free_text(names->slots[i].text);
	}
	tables--;
	free(names->forgotten);
	free(names->slots);
	free(names);
}

/* The id's slot, or the free one where it belongs. Half of the slots are free, so it ends. */
static struct name *find(const struct names *names, uint32_t id)
{
	uint32_t i = id * 2654435761u;

	for (;; i++) {
		struct name *slot = &names->slots[i & names->mask];

		if (slot->id == id || !slot->id)
			return slot;
	}
}

static int grow(struct names *names)
{
	struct names larger = {.mask = names->mask * 2 + 1};

	larger.slots = calloc(larger.mask + 1, sizeof(*larger.slots));
	if (!larger.slots)
		return -1;
	for (uint32_t i = 0; i <= names->mask; i++)
		if (names->slots[i].id)
			*find(&larger, names->slots[i].id) = names->slots[i];
	free(names->slots);
	names->slots = larger.slots;
	names->mask = larger.mask;
	return 0;
}

/* The id's slot, new if need be; NULL: there is no space. */
static struct name *claim(struct names *names, uint32_t id)
{
	struct name *slot = id ? find(names, id) : NULL;

	if (!slot || slot->id)
		return slot;
	if (names->used == MAX_NAMES || (names->used * 2 > names->mask && grow(names)))
		return NULL;
	slot = find(names, id);
	slot->id = id;
	names->used++;
	return slot;
}

void names__put(struct names *names, uint32_t id, const char *text, size_t length)
{
	struct name *slot = claim(names, id);

	if (slot && !slot->text)
		slot->text = keep(names, text, strnlen(text, length));
	if (id && (!slot || !slot->text))
		names__note_missing(names, id);
}

/* Names are sent again and again: each id counts once, and where two share a bit, both do. */
static bool is_forgotten_already(struct names *names, uint32_t id)
{
	uint8_t bit = 1u << (id & 7), *byte;
	bool known;

	if (!names->forgotten)
		names->forgotten = calloc(FORGOTTEN / 8, 1);
	if (!names->forgotten)
		return false;
	byte = &names->forgotten[id % FORGOTTEN / 8];
	known = *byte & bit;
	*byte |= bit;
	return known;
}

void names__note_missing(struct names *names, uint32_t id)
{
	struct name *slot = claim(names, id);

	if (slot ? slot->missing : is_forgotten_already(names, id))
		return;
	if (slot)
		slot->missing = true;
	names->missing++;
}

uint32_t names__missing(const struct names *names)
{
	return names->missing;
}

void names__note_handle(struct names *names, uint32_t id, uint64_t handle)
{
	struct name *slot = claim(names, id);

	if (slot && !slot->handle)
		slot->handle = handle;
}

uint64_t names__handle(const struct names *names, uint32_t id)
{
	return id ? find(names, id)->handle : 0;
}

const char *names__get(const struct names *names, uint32_t id)
{
	return id ? find(names, id)->text : NULL;
}

const char *names__pretty(struct names *names, uint32_t id)
{
	struct name *slot = id ? find(names, id) : NULL;
	char *pretty;

	if (!slot || !slot->text)
		return NULL;
	if (slot->pretty)
		return slot->pretty;
	pretty = demangle(slot->text);
	slot->pretty = pretty ? keep(names, pretty, strlen(pretty)) : NULL;
	free(pretty);
	if (!slot->pretty)
		slot->pretty = slot->text;
	return slot->pretty;
}
