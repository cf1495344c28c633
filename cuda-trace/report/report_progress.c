// SPDX-License-Identifier: BSD-2-Clause
/* A line on stderr, five times a second at most. */
#include "cuda-trace/base/clock.h"
#include "cuda-trace/report/report_progress.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "cuda-trace/base/text.h"

#define MS_BEFORE 500 /* what is faster needs no line */
#define MS_EVERY  200

struct progress {
	char path[128];
	uint64_t rows, next; /* ms */
	bool shown;
};

struct progress *progress__new(const char *path)
{
	struct progress *progress;

	if (!isatty(STDERR_FILENO))
		return NULL;
	progress = calloc(1, sizeof(*progress));
	if (!progress)
		return NULL;
	text__show(progress->path, sizeof(progress->path), path, 40);
	progress->next = monotonic__ms() + MS_BEFORE;
	return progress;
}

void progress__rows(struct progress *progress, uint64_t rows)
{
	char count[32];
	uint64_t now;

	if (!progress)
		return;
	progress->rows += rows;
	now = monotonic__ms();
	if (now < progress->next)
		return;
	progress->next = now + MS_EVERY;
	progress->shown = true;
	fprintf(stderr, "\rreading %s: %s rows ", progress->path,
		text__count(count, progress->rows));
	fflush(stderr);
}

void progress__clear(struct progress *progress)
{
	if (!progress || !progress->shown)
		return;
	progress->shown = false;
	fputs("\r\033[K", stderr);
	fflush(stderr);
}

void progress__free(struct progress *progress)
{
	progress__clear(progress);
	free(progress);
}
