// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/recording/store_energy.h"

#include <stdio.h>
#include <string.h>

int store_energy__step(struct rows *rows, const union any_record *record)
{
	const struct spool_energy *energy = &record->energy;
	union record_row row;
	char uuid[48];
	int used = snprintf(uuid, sizeof(uuid), "GPU-");
	int64_t id;

	for (int i = 0; i < 16; i++)
		used += snprintf(uuid + used, sizeof(uuid) - used, "%s%02x",
				 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", energy->uuid[i]);
	id = db__string(rows->db, uuid, strlen(uuid));
	if (id < 0)
		return (int)id;
	record_columns__to_row(DB_ENERGY, energy, rows->epoch, 0, &row);
	row.ENERGY.uuidId = id;
	rows->count++;
	return db__insert(rows->db, DB_ENERGY, row.values);
}
