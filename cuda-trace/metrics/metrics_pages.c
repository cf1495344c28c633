// SPDX-License-Identifier: BSD-2-Clause
/*
 * A document costs a reading of the kernel's maps and up to tens of milliseconds; whoever asks
 * without a pause shall not make the tool burn a CPU, nor may a figure be old where somebody looks:
 * so the last document is handed out again for a tenth of a second, and for as much longer as it is
 * expensive, within limits.
 *
 * Failure modes: 1. slow clients keep documents: those that are out of date are counted, and when
 * there are too many of them the latest stays the latest, for everybody, until one comes back. 2.
 * all ask at once: one of them makes it, the others wait for it. 3. who keeps documents of one
 * format leaves none for the others: the latest of each is beside those that are counted.
 */
#include "cuda-trace/metrics/metrics_pages.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "cuda-trace/metrics/metrics_exporter.h"
#include "cuda-trace/base/clock.h"

#define MAX_OLD	  8	       /* in memory, beside the latest */
#define FRESH_NS  100000000ull /* cuda-trace-metrics(1) says these */
#define SHARE	  20	       /* of the time goes into making documents at most */
#define OLDEST_NS 1000000000ull

struct kept {
	struct page page;
	unsigned int users; /* clients, and the table of the latest */
};

/* The latest of a form: plain, and packed once somebody wanted it so. */
struct latest {
	struct kept *kept[2];
	uint64_t made, until; /* ns */
};

struct pages {
	struct exporter *exporter;
	pthread_mutex_t lock;
	struct latest latest[EXPOSITION_FORMS];
	unsigned int old; /* in memory for their clients only */
	bool anew;	  /* each is made for who asks */
};

struct pages *pages__new(struct exporter *exporter)
{
	struct pages *pages = calloc(1, sizeof(*pages));
	const char *choice = getenv("CUDA_TRACE_PAGES");

	if (!pages)
		return NULL;
	pages->exporter = exporter;
	/* So that who has done something can ask at once what came of it. */
	pages->anew = choice && !strcmp(choice, "0");
	pthread_mutex_init(&pages->lock, NULL);
	return pages;
}

static void discard(struct kept *kept)
{
	free((char *)kept->page.text);
	free(kept);
}

static void forget(struct pages *pages, struct latest *latest)
{
	for (int packed = 0; packed < 2; packed++) {
		struct kept *kept = latest->kept[packed];

		latest->kept[packed] = NULL;
		if (kept && --kept->users)
			pages->old++;
		else if (kept)
			discard(kept);
	}
}

static bool can_forget(const struct pages *pages, const struct latest *latest)
{
	unsigned int old = pages->old;

	for (int packed = 0; packed < 2; packed++)
		old += latest->kept[packed] && latest->kept[packed]->users > 1;
	return old <= MAX_OLD;
}

void pages__free(struct pages *pages)
{
	if (!pages)
		return;
	for (int form = 0; form < EXPOSITION_FORMS; form++)
		forget(pages, &pages->latest[form]);
	pthread_mutex_destroy(&pages->lock);
	free(pages);
}

static struct kept *keep(char *text, size_t size, bool packed)
{
	struct kept *kept = text ? malloc(sizeof(*kept)) : NULL;

	if (!kept) {
		free(text);
		return NULL;
	}
	*kept = (struct kept){{text, size, packed}, 1};
	return kept;
}

static struct kept *scrape(struct pages *pages, enum exposition_form form)
{
	char *text = NULL;
	size_t size;

	if (exporter__scrape(pages->exporter, form, false, &text, &size)) {
		free(text);
		text = NULL;
	}
	return keep(text, size, false);
}

static struct kept *compress_page(const struct page *page)
{
	z_stream stream = {};
	size_t bound;
	char *text;

	if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	bound = deflateBound(&stream, page->size);
	text = malloc(bound);
	stream.next_in = (unsigned char *)page->text;
	stream.avail_in = page->size;
	stream.next_out = (unsigned char *)text;
	stream.avail_out = bound;
	if (text && deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		free(text);
		text = NULL;
	}
	deflateEnd(&stream);
	return keep(text, stream.total_out, true);
}

/* Of when it is: of the moment in which its making began. The one before stays if there is no
 * memory. */
static void make(struct pages *pages, struct latest *latest, enum exposition_form form)
{
	uint64_t began = monotonic__ns(), fresh;
	struct kept *made = scrape(pages, form);

	if (!made)
		return;
	forget(pages, latest);
	latest->kept[0] = made;
	fresh = (monotonic__ns() - began) * SHARE;
	fresh = fresh < FRESH_NS ? FRESH_NS : fresh > OLDEST_NS ? OLDEST_NS : fresh;
	latest->made = began;
	latest->until = began + fresh;
}

const struct page *pages__get(struct pages *pages, enum exposition_form form, bool packed,
			      uint64_t *age)
{
	struct latest *latest = &pages->latest[form];
	struct kept *found;
	uint64_t now;

	pthread_mutex_lock(&pages->lock);
	if ((!latest->kept[0] || pages->anew || monotonic__ns() >= latest->until) &&
	    can_forget(pages, latest))
		make(pages, latest, form);
	if (packed && latest->kept[0] && !latest->kept[1])
		latest->kept[1] = compress_page(&latest->kept[0]->page);
	found = packed && latest->kept[1] ? latest->kept[1] : latest->kept[0];
	now = monotonic__ns();
	*age = found && now >= latest->until ? now - latest->made : 0;
	if (found)
		found->users++;
	pthread_mutex_unlock(&pages->lock);
	return found ? &found->page : NULL;
}

bool pages__crowded(struct pages *pages)
{
	bool crowded = false;

	pthread_mutex_lock(&pages->lock);
	for (int form = 0; form < EXPOSITION_FORMS; form++)
		crowded |= !can_forget(pages, &pages->latest[form]);
	pthread_mutex_unlock(&pages->lock);
	return crowded;
}

void pages__put(struct pages *pages, const struct page *page)
{
	struct kept *kept = (struct kept *)page; /* its first member */

	pthread_mutex_lock(&pages->lock);
	/* The latest has the table for a user, too. */
	if (!--kept->users) {
		pages->old--;
		discard(kept);
	}
	pthread_mutex_unlock(&pages->lock);
}
