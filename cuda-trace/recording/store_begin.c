// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/recording/store_begin.h"

#include <string.h>

static const struct spool_entry *find_entry(const struct spool_block *block, const uint8_t *payload,
					    enum spool_kind kind, size_t least)
{
	for (size_t at = 0; at + sizeof(struct spool_entry) <= block->bytes;) {
		const struct spool_entry *entry = (const struct spool_entry *)(payload + at);

		if (entry->size < sizeof(*entry) || entry->size % 8 ||
		    at + entry->size > block->bytes)
			break;
		if (entry->kind == kind && entry->size - sizeof(*entry) >= least)
			return entry;
		at += entry->size;
	}
	return NULL;
}

/* Only then is there anything to look for in the other blocks. */
static bool was_to_wait(const struct spool_block *block, const uint8_t *payload)
{
	const struct spool_entry *entry =
		find_entry(block, payload, SPOOL_SESSION, sizeof(struct spool_session));

	return entry &&
	       memmem(entry->data + sizeof(struct spool_session),
		      entry->size - sizeof(*entry) - sizeof(struct spool_session), "\0at=", 4);
}

int store_begin__find(struct spool_begin *begin, const char *spool)
{
	const struct spool_entry *entry = NULL;
	struct spool_reader *reader = NULL;
	struct spool_block block;
	const uint8_t *payload;
	int err;

	*begin = (struct spool_begin){};
	/* Who reads the spool says that it cannot be read. */
	if (spool_reader__open(&reader, spool))
		return 0;
	for (bool first = true; !entry; first = false) {
		err = spool_reader__next(reader, &block, &payload);
		if (err <= 0 || (first && !was_to_wait(&block, payload)))
			break;
		if (!(block.flags & (SPOOL_EVENTS | SPOOL_GRAPHS | SPOOL_DROPPED)))
			entry = find_entry(&block, payload, SPOOL_BEGIN, sizeof(*begin));
	}
	if (entry)
		memcpy(begin, entry->data, sizeof(*begin));
	spool_reader__close(reader);
	return err < 0 ? err : 0;
}
