// SPDX-License-Identifier: BSD-2-Clause
/* Reads all, aligns, writes the timeline, then the report. */
#include "cuda-trace/commands/report_merge.h"
#include <errno.h>
#include <stdlib.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/merge/merge.h"

static int write_timeline(const struct report_merge *options, const struct merge *merge,
			  const char *const *inputs)
{
	struct output_file output;
	int err = output_file__open(&output, "report", options->timeline, inputs);

	if (err)
		return err;
	err = merge_timeline__write(merge, output.file);
	return output_file__close(&output, err);
}

static int write_all(const struct report_merge *options, const struct merge *merge,
		     const char *const *inputs)
{
	struct output_file output;
	int err = options->timeline ? write_timeline(options, merge, inputs) : 0;

	if (err)
		return err;
	err = output_file__open(&output, "report", options->output, inputs);
	if (err)
		return err;
	merge_report__write(merge, output.file, options->json, options->most);
	return output_file__close(&output, 0);
}

int report_merge__run(const struct report_merge *options, char **paths)
{
	struct merge merge = {.range = options->range};
	const char **inputs = NULL;
	int err = 0;

	for (; *paths && !err; paths++)
		err = merge_files__add(&merge, *paths);
	if (!err)
		inputs = calloc(merge.file_count + 1, sizeof(*inputs));
	for (uint32_t i = 0; inputs && i < merge.file_count; i++)
		inputs[i] = merge.files[i].path;
	if (!err && !inputs)
		err = -ENOMEM;
	if (!err)
		err = merge_read__all(&merge);
	if (!err)
		err = merge_clocks__align(&merge);
	if (!err) {
		merge_skew__sum(&merge);
		err = merge_iterations__match(&merge);
	}
	if (!err) {
		merge_problems__find(&merge);
		err = write_all(options, &merge, inputs);
	}
	if (merge.unreadable && !err)
		err = -EIO;
	merge__free(&merge);
	free(inputs);
	return err ? EXIT_TROUBLE : EXIT_OK;
}
