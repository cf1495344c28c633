// SPDX-License-Identifier: BSD-2-Clause
/*
 * Three ways in which this can go wrong:
 * - An hour at 1 kHz is 43 million values, and a page of gigabytes opens nowhere. So a lane that is
 *   full sums its samples up by steps of time, and doubles the step when it is full again; what the
 *   page then shows is the mean, the least and the most of each step, and it says so.
 * - A mean alone would hide what sampling is for: a burst of 1 ms in a step of 1 s. So the least
 * and the most of each step stay, as they do when the sampler sums up samples to a line.
 * - Samples of one second put beside the kernels of another lie to the reader. So only rows that
 *   reach into the time of the timeline are taken, each with its own beginning and end, and where
 *   nothing was measured nothing is drawn.
 */
#include "cuda-trace/export/export_samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/report/report_device_samples.h"
#include "cuda-trace/export/export_packer.h"
#include "cuda-trace/profile/device/pm_columns.h"
#include "cuda-trace/base/text.h"

#define POINTS	    300000 /* of all lanes in a page; some 12 letters each */
#define LANE_POINTS 32768
#define LANES	    256 /* eight GPUs with all columns that there are */
#define KEY_SIZE    200
#define STEPS	    1000000 /* values are parts of a lane's scale */
#define MAX_VALUE   1e18    /* no GPU does that many of anything in a second */

struct point {
	int64_t start, end;
	double measured; /* ns, less than from start to end where there is a gap */
	double sum;	 /* value * ns */
	double least, most;
};

struct counter_lane {
	size_t gpu; /* index in counters.gpus */
	char key[KEY_SIZE];
	struct point *points;
	size_t count, capacity;
	int64_t step; /* ns; 0: every sample is a point */
};

struct counters {
	struct sampled_gpu gpus[SAMPLES_GPUS];
	struct counter_lane lanes[LANES];
	size_t lane_count;
	int64_t begin, end;
	uint64_t rows, outside, homeless; /* homeless: values for which there was no lane */
	int err;
};

static size_t share_of(size_t all, size_t lanes)
{
	size_t share = all / (lanes ? lanes : 1);

	return share < LANE_POINTS ? share : LANE_POINTS;
}

static int by_start(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void merge(struct point *into, const struct point *from)
{
	into->end = from->end > into->end ? from->end : into->end;
	into->measured += from->measured;
	into->sum += from->sum;
	into->least = fmin(into->least, from->least);
	into->most = fmax(into->most, from->most);
}

static void sum_up(const struct counters *counters, struct counter_lane *lane)
{
	size_t kept = 0;

	for (size_t i = 1; i < lane->count; i++) {
		const struct point *point = &lane->points[i];

		if ((point->start - counters->begin) / lane->step ==
		    (lane->points[kept].start - counters->begin) / lane->step)
			merge(&lane->points[kept], point);
		else
			lane->points[++kept] = *point;
	}
	lane->count = lane->count ? kept + 1 : 0;
}

/* To at most so many points, with as small a step as does it. */
static void reduce(const struct counters *counters, struct counter_lane *lane, size_t most)
{
	qsort(lane->points, lane->count, sizeof(*lane->points), by_start);
	/* First those that came since the last time. */
	if (lane->step)
		sum_up(counters, lane);
	while (lane->count > most) {
		lane->step = lane->step ? lane->step * 2
					: (counters->end - counters->begin) / LANE_POINTS + 1;
		sum_up(counters, lane);
	}
}

static struct counter_lane *lane_of(struct counters *counters, size_t gpu, const char *key)
{
	struct counter_lane *lane = counters->lanes;

	for (; lane < counters->lanes + counters->lane_count; lane++)
		if (lane->gpu == gpu && !strncmp(lane->key, key, KEY_SIZE - 1))
			return lane;
	if (counters->lane_count == LANES)
		return NULL;
	counters->lane_count++;
	lane->gpu = gpu;
	snprintf(lane->key, sizeof(lane->key), "%s", key);
	return lane;
}

/* Twice a lane's share while reading, so that a full one gets rid of half and seldom sorts. */
static int add_point(struct counters *counters, struct counter_lane *lane,
		     const struct point *point)
{
	size_t share = share_of(POINTS, counters->lane_count);

	if (lane->count >= share * 2)
		reduce(counters, lane, share);
	else if (!array_grow__for_one(lane->points, lane->capacity, lane->count))
		return -ENOMEM;
	lane->points[lane->count++] = *point;
	return 0;
}

static int add_value(struct counters *counters, const struct samples_row *row, const char *key,
		     const struct sampled_value *value)
{
	struct point point = {
		.start = row->start > counters->begin ? row->start : counters->begin,
		.end = row->end < counters->end ? row->end : counters->end,
		.least = value->least,
		.most = value->most,
	};
	struct counter_lane *lane;

	/* Nothing that is sampled is negative; what a file claims else, NaN too, is no value. */
	if (!(value->least >= 0 && value->mean >= value->least && value->most >= value->mean &&
	      value->most < MAX_VALUE))
		return 0;
	lane = lane_of(counters, row->gpu_index, key);
	if (!lane) {
		counters->homeless++;
		return 0;
	}
	point.measured = point.end - point.start;
	point.sum = value->mean * point.measured;
	return add_point(counters, lane, &point);
}

static bool add_row(void *context, const struct samples_row *row)
{
	struct counters *counters = context;

	if (row->end <= counters->begin || row->start >= counters->end) {
		counters->outside++;
		return false;
	}
	counters->rows++;
	counters->gpus[row->gpu_index] = *row->gpu;
	json_object_object_foreach(row->columns, key, column)
	{
		struct sampled_value value;

		if (!counters->err && device_samples__value(column, &value))
			counters->err = add_value(counters, row, key, &value);
	}
	return true;
}

/* As the sampler shows what was requested under this name. */
static enum pm_unit unit_of(const char *key)
{
	enum pm_unit unit = PM_OTHER;
	struct pm_choice choice;
	char unknown[8];

	if (pm_choice__parse(&choice, key, unknown, sizeof(unknown)))
		return PM_OTHER;
	if (choice.count == 1)
		unit = choice.columns[0].unit;
	pm_choice__free(&choice);
	return unit;
}

/* What fills the lane's height: all that there is of a share, else the most that was seen. */
static double scale_of(const struct counter_lane *lane, enum pm_unit unit)
{
	double most = unit == PM_RATIO ? 1 : 0;

	for (size_t i = 0; i < lane->count; i++)
		most = fmax(most, lane->points[i].most);
	return most > 0 ? most : 1;
}

/* start - last end, length, mean, mean - least, most - mean. */
static void put_points(FILE *out, const struct counter_lane *lane, double scale)
{
	struct packer packer = {.out = out};
	int64_t before = 0;

	for (size_t i = 0; i < lane->count; i++) {
		const struct point *point = &lane->points[i];
		uint64_t least = llround(point->least / scale * STEPS);
		uint64_t most = llround(point->most / scale * STEPS);
		uint64_t mean = llround(point->sum / point->measured / scale * STEPS);

		/* Rounding of the sum must not lead past the least and the most. */
		mean = mean < least ? least : mean > most ? most : mean;
		packer__signed(&packer, point->start - before);
		packer__number(&packer, point->end - point->start);
		packer__number(&packer, mean);
		packer__number(&packer, mean - least);
		packer__number(&packer, most - mean);
		before = point->end;
	}
	packer__end(&packer);
}

static void put_lane(FILE *out, const struct counters *counters, const struct counter_lane *lane,
		     struct names_of_file *names)
{
	static const char *const units[] = {"ratio", "bytes/s", ""};
	const struct sampled_gpu *gpu = &counters->gpus[lane->gpu];
	enum pm_unit unit = unit_of(lane->key);
	double scale = scale_of(lane, unit);

	fputs("{\"key\":", out);
	text__write_json(out, lane->key);
	fprintf(out, ",\"unit\":\"%s\",\"scale\":%.9g,\"device\":%lld,\"kernels\":%s", units[unit],
		scale, (long long)(gpu->has_kernels ? gpu->device : gpu->number),
		gpu->has_kernels ? "true" : "false");
	fputs(",\"process\":", out);
	text__write_json(out, gpu->has_kernels ? export_names__process(names, gpu->global) : "");
	fprintf(out, ",\"step\":%lld,\"points\":%zu,\"data\":\"", (long long)lane->step,
		lane->count);
	put_points(out, lane, scale);
	fputs("\"}", out);
}

static void put_lanes(FILE *out, struct counters *counters, struct names_of_file *names)
{
	int64_t step = 0;

	for (size_t i = 0; i < counters->lane_count; i++) {
		struct counter_lane *lane = &counters->lanes[i];

		reduce(counters, lane, share_of(POINTS, counters->lane_count));
		step = lane->step > step ? lane->step : step;
	}
	fprintf(out, "{\"rows\":%llu,\"outside\":%llu,\"left_out\":%llu,\"step\":%lld,\"lanes\":[",
		(unsigned long long)counters->rows, (unsigned long long)counters->outside,
		(unsigned long long)counters->homeless, (long long)step);
	for (size_t i = 0; i < counters->lane_count; i++) {
		fputs(i ? ",\n" : "", out);
		put_lane(out, counters, &counters->lanes[i], names);
	}
	fputs("]}", out);
}

int export_samples__put(FILE *out, const struct report_file *file, struct names_of_file *names,
			int64_t begin, int64_t end)
{
	struct counters *counters = calloc(1, sizeof(*counters));
	int err = counters ? 0 : -ENOMEM;

	if (counters) {
		counters->begin = begin;
		counters->end = end;
		err = device_samples__read(file, add_row, counters);
		err = err ? err : counters->err;
	}
	if (!err)
		put_lanes(out, counters, names);
	for (size_t i = 0; counters && i < counters->lane_count; i++)
		free(counters->lanes[i].points);
	free(counters);
	return err;
}
