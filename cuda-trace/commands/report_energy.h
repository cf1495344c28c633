/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How energy is divided, for a recording made with record --energy: its records and the steps of
 * meters, in the order of time, to the same sums as stat --energy. One thread.
 */
#ifndef CUDA_TRACE_COMMANDS_REPORT_ENERGY_H
#define CUDA_TRACE_COMMANDS_REPORT_ENERGY_H

#include "cuda-trace/capture/session.h"
#include "cuda-trace/energy/energy.h"
#include "cuda-trace/report/report_file.h"

struct report_energy;

/* Are there steps of meters, and all kernels? */
bool report_energy__any(const struct report_file *file);
/* *energy: NULL = there are none. 0, or -errno, printed. The others accept NULL. */
int report_energy__open(struct report_energy **energy, const struct report_file *file);
/* For stat_table__measure(). */
struct energy *report_energy__sums(struct report_energy *energy);
/* Before the record is handed to the table: what meters counted until then. */
void report_energy__record(struct report_energy *energy, const struct cuda_record *record);
const struct energy_sums *report_energy__finish(struct report_energy *energy);
/* Readings that failed. */
uint64_t report_energy__failed(const struct report_energy *energy);
int report_energy__close(struct report_energy *energy);

#endif
