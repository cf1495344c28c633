/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of `profile --pc` as tables for people, or as one JSON object.
 */
#ifndef CUDA_TRACE_PROFILE_PC_PC_REPORT_H
#define CUDA_TRACE_PROFILE_PC_PC_REPORT_H

#include <stdio.h>
#include "cuda-trace/profile/pc/pc_table.h"
#include "cuda-trace/capture/session.h"
#include "cuda-trace/cli/windows_section.h"

struct pc_report {
	const struct pc_table *table; /* sorted */
	const struct session_lost_counts *lost;
	uint64_t duration_ns;	       /* that was watched */
	uint32_t on_ms, every_ms;      /* the requested cycle */
	uint64_t most;		       /* lines of text a table */
	bool code;		       /* the instructions, too */
	bool started;		       /* a PROGRAM, by the tool */
	const struct windows *windows; /* in which it collected; NULL = all the time */
	const struct collection_counts *collected;
};

void pc_report__text(FILE *file, const struct pc_report *report);
void pc_report__json(FILE *file, const struct pc_report *report);
/* A part of the text: the instructions of functions. */
void pc_report__code(FILE *file, const struct pc_report *report);
/* "long_scoreboard 83%, wait 10%"; returns text. */
const char *pc_report__waits(const struct pc_counts *counts, const struct pc_table *table,
			     char *text, size_t size);

#endif
