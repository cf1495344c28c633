/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from 64-bit keys to numbers, which are usually places in a list of the caller. What
 * has a longer key is filed under its hash (key_index__mix()), and found with key_index__match(),
 * which compares.
 */
#ifndef CUDA_TRACE_BASE_KEY_INDEX_H
#define CUDA_TRACE_BASE_KEY_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All zero is an empty one. */
struct key_index {
	struct key_slot {
		uint64_t key;
		uint32_t number;
		bool is_used;
	} * slots;
	size_t count, capacity; /* a power of two, half full at most */
};

/* The first slot of a key, or the free one after its slots; capacity must not be 0. */
static inline size_t key_index__first(const struct key_index *index, uint64_t key)
{
	size_t at = key * 0x9e3779b97f4a7c15ull >> 32 & (index->capacity - 1);

	while (index->slots[at].is_used && index->slots[at].key != key)
		at = (at + 1) & (index->capacity - 1);
	return at;
}

/* The number of the key, which may be changed; NULL = it has none. */
static inline uint32_t *key_index__at(const struct key_index *index, uint64_t key)
{
	size_t at = index->capacity ? key_index__first(index, key) : 0;

	return index->capacity && index->slots[at].is_used ? &index->slots[at].number : NULL;
}

/* The number of the key, or -1. */
static inline ssize_t key_index__find(const struct key_index *index, uint64_t key)
{
	const uint32_t *number = key_index__at(index, key);

	return number ? (ssize_t)*number : -1;
}

/* The first number `i` of the wanted key for which `is_same`, an expression with i, is true; or -1.
 */
#define key_index__match(index, wanted, i, is_same)                                 \
	({                                                                          \
		const struct key_index *index_ = (index);                           \
		uint64_t key_ = (wanted);                                           \
		size_t at_ = index_->capacity ? key_index__first(index_, key_) : 0; \
		ssize_t found_ = -1;                                                \
                                                                                    \
		while (index_->capacity && index_->slots[at_].is_used) {            \
			uint32_t i = index_->slots[at_].number;                     \
                                                                                    \
			if (index_->slots[at_].key == key_ && (is_same)) {          \
				found_ = i;                                         \
				break;                                              \
			}                                                           \
			at_ = (at_ + 1) & (index_->capacity - 1);                   \
		}                                                                   \
		found_;                                                             \
	})

/* A key may have several numbers. False: out of memory. */
bool key_index__add(struct key_index *index, uint64_t key, uint32_t number);
void key_index__free(struct key_index *index);

/* A hash of what went into `hash`, and of the value. */
static inline uint64_t key_index__mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* The same of a text. */
uint64_t key_index__mix_text(uint64_t hash, const char *text);

#endif
