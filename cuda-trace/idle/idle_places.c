// SPDX-License-Identifier: BSD-2-Clause
/* A hash table; what does not fit counts for its cause without a place. Used by idle.c. */
#include "cuda-trace/idle/idle_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/idle/idle_functions.h"

#define SLOTS	   2048
#define PLACES_MAX 1024

const char *const idle_cause_keys[IDLE_CAUSE_COUNT] = {
#define KEY(name, key, text) key,
	IDLE_CAUSES(KEY)
#undef KEY
};

const char *const idle_cause_texts[IDLE_CAUSE_COUNT] = {
#define TEXT(name, key, text) text,
	IDLE_CAUSES(TEXT)
#undef TEXT
};

struct slot {
	struct idle_place place;
	uint64_t ns, gaps; /* gaps 0 = free */
};

struct idle_places {
	struct slot slots[SLOTS];
	uint32_t count;
	struct {
		uint64_t ns, path_ns, gaps;
	} causes[IDLE_CAUSE_COUNT];
};

struct idle_places *idle_places__new(void)
{
	return calloc(1, sizeof(struct idle_places));
}

void idle_places__free(struct idle_places *places)
{
	free(places);
}

bool idle_place__is(const struct idle_place *a, const struct idle_place *b)
{
	return a->cause == b->cause && a->text == b->text && a->waker == b->waker &&
	       a->meanwhile == b->meanwhile && a->function == b->function &&
	       a->waker_function == b->waker_function;
}

static uint32_t hash_of(const struct idle_place *place)
{
	uint64_t hash = (uintptr_t)place->text * 31 + (uintptr_t)place->waker;

	hash = hash * 31 + (uintptr_t)place->meanwhile + place->cause;
	hash = hash * 31 + place->function * 7 + place->waker_function;
	return hash * 0x9e3779b97f4a7c15ull >> 53;
}

void idle_places__add(struct idle_places *places, const struct idle_place *place, uint64_t gap_ns,
		      uint64_t path_ns)
{
	uint32_t i = hash_of(place) % SLOTS;

	places->causes[place->cause].ns += gap_ns;
	places->causes[place->cause].path_ns += path_ns;
	places->causes[place->cause].gaps++;
	while (places->slots[i].gaps && !idle_place__is(&places->slots[i].place, place))
		i = (i + 1) % SLOTS;
	if (!places->slots[i].gaps) {
		if (places->count == PLACES_MAX)
			return;
		places->count++;
		places->slots[i].place = *place;
	}
	places->slots[i].ns += gap_ns;
	places->slots[i].gaps++;
}

static void append(char *out, const char *format, const char *text)
{
	size_t used = strlen(out);

	if (*text)
		snprintf(out + used, IDLE_PLACE_LEN - used, format, text);
}

void idle_place__write(char out[IDLE_PLACE_LEN], const struct idle_place *place,
		       struct idle_functions *functions)
{
	*out = 0;
	append(out, "%s", place->text);
	append(out, *out ? " in %s" : "%s", idle_functions__name(functions, place->function));
	if (place->cause == IDLE_GIL_WAIT)
		append(out, *out ? ", held by %s" : "held by %s", place->waker);
	else
		append(out, ", woken by %s", place->waker);
	append(out, ", which %s", place->meanwhile);
	if (*place->meanwhile)
		append(out, " in %s", idle_functions__name(functions, place->waker_function));
}

/* Two places may have the same text: two lines of one function. */
static void keep_place(struct idle_cause_sum *sum, const char *text, uint64_t ns, uint64_t gaps)
{
	uint32_t i = 0;

	while (i < sum->place_count && strcmp(sum->places[i].text, text))
		i++;
	if (i == IDLE_PLACES_SHOWN)
		return;
	if (i == sum->place_count) {
		sum->places[i] = (struct idle_place_sum){};
		memcpy(sum->places[i].text, text, strnlen(text, IDLE_PLACE_LEN - 1));
		sum->place_count++;
	}
	sum->places[i].ns += ns;
	sum->places[i].gaps += gaps;
}

static int by_ns(const void *left, const void *right)
{
	const struct slot *const *a = left, *const *b = right;

	return (*a)->ns < (*b)->ns ? 1 : (*a)->ns > (*b)->ns ? -1 : 0;
}

static int by_place_ns(const void *left, const void *right)
{
	const struct idle_place_sum *a = left, *b = right;

	return a->ns < b->ns ? 1 : a->ns > b->ns ? -1 : 0;
}

static int by_cause_ns(const void *left, const void *right)
{
	const struct idle_cause_sum *a = left, *b = right;

	if ((a->cause == IDLE_UNEXPLAINED) != (b->cause == IDLE_UNEXPLAINED))
		return a->cause == IDLE_UNEXPLAINED ? 1 : -1;
	return a->ns < b->ns ? 1 : a->ns > b->ns ? -1 : 0;
}

static void fill_places(const struct idle_places *places, struct idle_functions *functions,
			struct idle_cause_sum *sum)
{
	const struct slot *slots[PLACES_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < SLOTS; i++)
		if (places->slots[i].gaps && places->slots[i].place.cause == sum->cause)
			slots[count++] = &places->slots[i];
	qsort(slots, count, sizeof(*slots), by_ns);
	for (uint32_t i = 0; i < count; i++) {
		char text[IDLE_PLACE_LEN];

		idle_place__write(text, &slots[i]->place, functions);
		keep_place(sum, text, slots[i]->ns, slots[i]->gaps);
	}
	qsort(sum->places, sum->place_count, sizeof(sum->places[0]), by_place_ns);
}

uint32_t idle_places__sums(const struct idle_places *places, struct idle_functions *functions,
			   struct idle_cause_sum sums[IDLE_CAUSE_COUNT])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < IDLE_CAUSE_COUNT; i++) {
		struct idle_cause_sum *sum = &sums[count];

		if (!places->causes[i].gaps)
			continue;
		*sum = (struct idle_cause_sum){
			.cause = i,
			.ns = places->causes[i].ns,
			.path_ns = places->causes[i].path_ns,
			.gaps = places->causes[i].gaps,
		};
		fill_places(places, functions, sum);
		count++;
	}
	qsort(sums, count, sizeof(*sums), by_cause_ns);
	return count;
}
