// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_item.h"

#include <stdlib.h>
#include <string.h>

struct push_item *push_item__new(const char *target, const char *type, uint8_t *body, size_t size)
{
	struct push_item *item = calloc(1, sizeof(*item));

	if (!item) {
		free(body);
		return NULL;
	}
	item->body = body;
	item->size = size;
	item->target = strdup(target);
	item->type = strdup(type);
	if (item->target && item->type)
		return item;
	push_item__free(item);
	return NULL;
}

void push_item__free(struct push_item *item)
{
	if (!item)
		return;
	free(item->target);
	free(item->type);
	free(item->body);
	free(item);
}

/* A request with metrics counts as one. */
#define ADD(counts, item, field)                                     \
	do {                                                         \
		(counts)->profiles.field += (item)->profiles;        \
		(counts)->kernels.field += (item)->kernels;          \
		(counts)->samples.field += (item)->samples;          \
		(counts)->metrics.field += (item)->profiles ? 0 : 1; \
	} while (0)

void push_counts__produced(struct push_counts *counts, const struct push_item *item)
{
	ADD(counts, item, produced);
}

void push_counts__found(struct push_counts *counts, const struct push_item *item)
{
	ADD(counts, item, found);
}

/* `part` of `whole`, of `total`. */
static uint64_t share_of(uint64_t total, uint64_t part, uint64_t whole)
{
	return part ? (uint64_t)((unsigned __int128)total * part / whole) : 0;
}

/* Nobody knows whose kernels were rejected: they are counted in proportion. Metrics of which some
 * were are counted as lost. */
void push_counts__sent(struct push_counts *counts, const struct push_item *item, uint64_t rejected)
{
	uint64_t kernels, samples;

	if (rejected && !item->profiles) {
		push_counts__lost(counts, item, PUSH_LOST_REJECTED);
		return;
	}
	if (rejected > item->profiles)
		rejected = item->profiles;
	kernels = share_of(item->kernels, rejected, item->profiles);
	samples = share_of(item->samples, rejected, item->profiles);
	ADD(counts, item, sent);
	counts->profiles.sent -= rejected;
	counts->profiles.lost[PUSH_LOST_REJECTED] += rejected;
	counts->kernels.sent -= kernels;
	counts->kernels.lost[PUSH_LOST_REJECTED] += kernels;
	counts->samples.sent -= samples;
	counts->samples.lost[PUSH_LOST_REJECTED] += samples;
	counts->bytes += item->size;
}

void push_counts__queued(struct push_counts *counts, const struct push_item *item)
{
	ADD(counts, item, queued);
}

void push_counts__lost(struct push_counts *counts, const struct push_item *item,
		       enum push_lost reason)
{
	ADD(counts, item, lost[reason]);
}
