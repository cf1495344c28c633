/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of a statement as text, CSV or JSON. The names of columns say how text shows them: ..._ns
 * with a unit of time, ..._bytes with one of size, ..._pct as percentage, ..._hex as address; CSV
 * and JSON have the plain numbers under the whole name.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_OUTPUT_H
#define CUDA_TRACE_REPORT_REPORT_OUTPUT_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON };

/* The table's key goes into each JSON object; its title above text. Rows written, or -1 with
 * SQLite's error to be read from the connection. */
int64_t report_output__write(FILE *out, enum report_format format, const char *key,
			     const char *title, sqlite3_stmt *statement);

/* "1.50 MiB"; returns out. */
const char *report_output__bytes(char out[16], int64_t bytes);

/* A CSV field: quoted where needed, and never taken for a formula by a spreadsheet. */
void report_output__csv(FILE *out, const char *text);

#endif
