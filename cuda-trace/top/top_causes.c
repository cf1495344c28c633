// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page of why GPUs were idle. Called by the main loop.
 */
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/top/top_page.h"

const char *top_page__main_cause(char out[32], const struct top_model *model,
				 const struct top_device *device)
{
	struct top_causes causes;

	if (!top_idle__of(&model->idle, device->uuid, device->number, &causes) || !causes.count)
		return strcpy(out, "-");
	snprintf(out, 32, "%s %.0f%%", idle_cause_keys[causes.causes[0].cause],
		 100.0 * causes.causes[0].ns / causes.whole_ns);
	return out;
}

static void draw_missing(struct page *page, const struct top_model *model)
{
	struct idle_missing missing;

	idle__missing(model->idle.idle, &missing);
	if (missing.reduced)
		page__line(page, LINE_WARNING, "reduced: %s", missing.reduced);
	if (missing.lost)
		page__line(page, LINE_WARNING, "reduced: %llu waits were lost since the start",
			   (unsigned long long)missing.lost);
	if (missing.left_out)
		page__line(page, LINE_WARNING, "reduced: %llu threads or records did not fit",
			   (unsigned long long)missing.left_out);
	if (missing.late)
		page__line(page, LINE_WARNING, "%llu operations arrived too late to be placed",
			   (unsigned long long)missing.late);
}

static void draw_cause(struct page *page, const struct top_cause *cause,
		       const struct top_causes *causes)
{
	char time[16], place[IDLE_PLACE_LEN * 4];

	page__line(page, LINE_PLAIN, " %-44s %8s %6.1f%% %6.1f%%", idle_cause_texts[cause->cause],
		   text__ns(time, cause->ns), 100.0 * cause->ns / causes->whole_ns,
		   100.0 * cause->ns / causes->idle_ns);
	if (*cause->place)
		page__line(page, LINE_DIM, "   %s",
			   text__show(place, sizeof(place), cause->place,
				      page->columns > 8 ? page->columns - 4 : 4));
}

static void draw_gpu(struct page *page, const struct top_model *model,
		     const struct top_device *device)
{
	struct top_causes causes;
	char name[128], time[16];

	text__show(name, sizeof(name), device->name, 30);
	if (!top_idle__of(&model->idle, device->uuid, device->number, &causes)) {
		page__line(page, LINE_HEADER, "GPU %u  %s: nothing is explained yet",
			   device->number, name);
		return;
	}
	page__line(page, LINE_HEADER, "GPU %u  %s: idle for %.1f%% of %s", device->number, name,
		   100.0 * causes.idle_ns / causes.whole_ns, text__ns(time, causes.whole_ns));
	for (int i = 0; i < causes.count; i++)
		draw_cause(page, &causes.causes[i], &causes);
}

/* No list: what does not fit is scrolled. */
static int scroll(const struct page *page, struct top_view *view, int count)
{
	view->rows = view->lines > page->count ? view->lines - page->count : 1;
	if (!view->lines)
		view->rows = count;
	view->row_count = count;
	if (view->selected > count - view->rows)
		view->selected = count - view->rows;
	if (view->selected < 0)
		view->selected = 0;
	return view->selected;
}

void top_page__draw_causes(struct page *page, const struct top_model *model, struct top_view *view)
{
	struct page gpus = {.columns = page->columns};
	int first;

	page__line(page, LINE_PLAIN,
		   "Why the GPUs were idle in the last seconds, until a second ago");
	draw_missing(page, model);
	page__line(page, LINE_HEADER, " %-44s %8s %7s %7s", "CAUSE", "TIME", "SHARE", "OF IDLE");
	for (int i = 0; i < TOP_ROWS; i++)
		if (model->devices[i].seen)
			draw_gpu(&gpus, model, &model->devices[i]);
	if (!gpus.count)
		page__line(page, LINE_DIM, "no GPU has been used");
	first = scroll(page, view, gpus.count);
	for (int i = first; i < gpus.count && i < first + view->rows; i++)
		page__line(page, gpus.lines[i].style, "%s", gpus.lines[i].text);
	page__free(&gpus);
}
