// SPDX-License-Identifier: BSD-2-Clause
/* A hostile file may have any numbers. */
#include "cuda-trace/commands/report_energy.h"

#include <errno.h>
#include <stdlib.h>
#include "cuda-trace/capture/record_times.h"
#include "cuda-trace/report/report_reader.h"
#include "cuda-trace/report/report_records.h"
#include "cuda-trace/report/report_times.h"

#define AHEAD_NS 1000000000ll /* records are in the order of their starts, nearly */

/* Columns of the statement below. */
enum { START, END, MILLIJOULES, UUID, FAILED };

struct report_energy {
	struct energy *energy;
	struct reader *steps;
	const int64_t *step; /* the next one */
	int64_t ids[ENERGY_METERS];
	uint32_t count;
	uint64_t failed;
};

bool report_energy__any(const struct report_file *file)
{
	if (report_file__is_sample(file))
		return false;
	return report_file__has(file, "CUDA_TRACE_ENERGY", "millijoules") &&
	       report_file__any(file, "CUDA_TRACE_ENERGY") > 0;
}

static int read_meters(struct report_energy *energy, const struct report_file *file)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(
		    file->db,
		    "SELECT id, value FROM StringIds WHERE id IN (SELECT DISTINCT uuidId "
		    "FROM CUDA_TRACE_ENERGY) ORDER BY value",
		    -1, &statement, NULL))
		return report_file__complain(file);
	while (energy->count < ENERGY_METERS && sqlite3_step(statement) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(statement, 1);
		uint8_t uuid[16];

		if (!text || !energy_meter__parse_uuid(text, uuid))
			continue;
		energy->ids[energy->count] = sqlite3_column_int64(statement, 0);
		energy__meter(energy->energy, energy->count++, uuid);
	}
	sqlite3_finalize(statement);
	return 0;
}

int report_energy__open(struct report_energy **result, const struct report_file *file)
{
	struct report_energy *energy;
	int err = -ENOMEM;

	if (!report_energy__any(file))
		return 0;
	energy = calloc(1, sizeof(*energy));
	if (!energy)
		return -ENOMEM;
	energy->energy = energy__new();
	if (energy->energy)
		err = read_meters(energy, file);
	if (!err)
		err = reader__open(&energy->steps, file,
				   "SELECT start, end, millijoules, uuidId, failedReadings FROM "
				   "CUDA_TRACE_ENERGY ORDER BY start");
	if (err) {
		report_energy__close(energy);
		return err;
	}
	energy->step = reader__next(energy->steps);
	*result = energy;
	return 0;
}

struct energy *report_energy__sums(struct report_energy *energy)
{
	return energy ? energy->energy : NULL;
}

static void add_step(struct report_energy *energy, const int64_t *row)
{
	if (!report_times__are_possible(row[START], row[END]) || row[MILLIJOULES] < 0)
		return;
	if (row[FAILED] > 0 && (uint64_t)row[FAILED] > energy->failed)
		energy->failed = (uint64_t)row[FAILED];
	for (uint32_t i = 0; i < energy->count; i++)
		if (energy->ids[i] == row[UUID]) {
			energy__step(energy->energy,
				     &(struct energy_step){
					     .gpu = i,
					     .from = REPLAY_EPOCH + row[START],
					     .to = REPLAY_EPOCH + row[END],
					     .joules = (double)row[MILLIJOULES] / 1e3,
				     });
			return;
		}
}

static void advance(struct report_energy *energy, int64_t until)
{
	for (; energy->step && energy->step[START] < until;
	     energy->step = reader__next(energy->steps))
		add_step(energy, energy->step);
}

void report_energy__record(struct report_energy *energy, const struct cuda_record *record)
{
	struct record_interval interval;

	if (energy && record_times__interval(record, &interval))
		advance(energy, (int64_t)(interval.start - REPLAY_EPOCH) + AHEAD_NS);
}

const struct energy_sums *report_energy__finish(struct report_energy *energy)
{
	if (!energy)
		return NULL;
	advance(energy, INT64_MAX);
	return energy__finish(energy->energy);
}

uint64_t report_energy__failed(const struct report_energy *energy)
{
	return energy ? energy->failed : 0;
}

int report_energy__close(struct report_energy *energy)
{
	int err;

	if (!energy)
		return 0;
	err = reader__close(energy->steps);
	energy__free(energy->energy);
	free(energy);
	return err;
}
