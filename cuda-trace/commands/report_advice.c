// SPDX-License-Identifier: BSD-2-Clause
/* The same sums as the summary's, of which nothing but the advice is kept. */
#include "cuda-trace/commands/report_advice.h"
#include <errno.h>
#include "cuda-trace/base/pattern.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/report/report_records.h"
#include "cuda-trace/stat/stat_table.h"

static void on_process_start(void *context, struct process *process)
{
	stat_table__start(context, process);
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
	stat_table__record(context, process, record);
}

static void on_process_end(void *context, struct process *process)
{
	stat_table__end(context, process);
}

int report_advice__read(struct report_advice *advice, const struct report_file *file)
{
	struct pattern *pattern = pattern__new(NULL);
	struct session_lost_counts lost;
	struct stat_table table;
	const struct sink sink = {
		.context = &table,
		.process_start = on_process_start,
		.record = on_record,
		.process_end = on_process_end,
	};
	int err = -ENOMEM, count;

	advice->lines[0] = NULL;
	if (!pattern || stat_table__init(&table, pattern, 0))
		goto cleanup;
	stat_table__set_past(&table);
	err = report_records__run(file, &sink);
	if (!err) {
		stat_table__sort(&table);
		report_records__lost(file, &lost);
		count = losses__unseen(&lost) || table.time.killed
				? 0
				: stat_advice__lines(&table, advice->text);
		for (int i = 0; i < count; i++)
			advice->lines[i] = advice->text[i];
		advice->lines[count] = NULL;
	}
	stat_table__free(&table);
cleanup:
	pattern__free(pattern);
	return err;
}
