// SPDX-License-Identifier: BSD-2-Clause
// What report --device reads: lines of JSON, beside a recording without tables.
#include "cuda-trace/report/report_device_samples.h"
#include "tests/fuzz/fuzz.h"

static bool take(void *context, const struct samples_row *row)
{
	struct sampled_value value;

	json_object_object_foreach(row->columns, key, column)
		device_samples__value(*key ? column : NULL, &value);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report_file file = {.samples = fuzz__path(data, size)};

	if (sqlite3_open(":memory:", &file.db))
		abort();
	device_samples__read(&file, take, NULL);
	sqlite3_close(file.db);
	return 0;
}
