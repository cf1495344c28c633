// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/recording/store_trigger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int store_trigger__read(struct store_trigger *trigger, const uint8_t *data, size_t size)
{
	size_t texts = size - sizeof(trigger->time);
	char *condition;

	if (size < sizeof(trigger->time))
		return 0;
	/* The last text may lack its NUL. */
	condition = calloc(1, texts + 2);
	if (!condition)
		return -ENOMEM;
	memcpy(&trigger->time, data, sizeof(trigger->time));
	memcpy(condition, data + sizeof(trigger->time), texts);
	free(trigger->condition);
	trigger->condition = condition;
	return 0;
}

int store_trigger__put(const struct store_trigger *trigger, struct db *db, uint64_t zero)
{
	const char *condition = trigger->condition;
	char utc[24], time[24];
	const char *rows[][2] = {
		{"TRIGGER_CONDITION", condition},
		{"TRIGGER", condition ? condition + strlen(condition) + 1 : NULL},
		{"TRIGGER_UTC_NS", utc},
		{"TRIGGER_NS", time},
	};
	int err = 0;

	snprintf(utc, sizeof(utc), "%llu", (unsigned long long)trigger->time.utc);
	snprintf(time, sizeof(time), "%lld", (long long)(trigger->time.monotonic - zero));
	for (size_t i = 0; !err && condition && i < sizeof(rows) / sizeof(rows[0]); i++)
		err = db__run(db, "INSERT INTO META_DATA_CAPTURE VALUES (?,?)", "tt", rows[i][0],
			      rows[i][1]);
	return err;
}

void store_trigger__free(struct store_trigger *trigger)
{
	free(trigger->condition);
}
