/* SPDX-License-Identifier: BSD-2-Clause */
/* The advice that `report` ends with, for outputs that are made without its tables. */
#ifndef CUDA_TRACE_COMMANDS_REPORT_ADVICE_H
#define CUDA_TRACE_COMMANDS_REPORT_ADVICE_H

#include "cuda-trace/report/report_file.h"
#include "cuda-trace/stat/stat_advice.h"

struct report_advice {
	char text[STAT_MAX_ADVICE][256];
	const char *lines[STAT_MAX_ADVICE + 1]; /* up to a NULL */
};

/* 0 or -errno, printed. */
int report_advice__read(struct report_advice *advice, const struct report_file *file);

#endif
