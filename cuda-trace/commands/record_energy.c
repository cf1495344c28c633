// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/commands/record_energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cuda-trace/recording/store_spool.h"

struct energy_meter *record_energy__open(void)
{
	const char *why;
	struct energy_meter *meter = energy_meter__open(&why);

	if (!meter)
		fprintf(stderr, "cuda-trace record: no energy: %s\n", why);
	return meter;
}

void record_energy__read(struct energy_meter *meter, struct store *store)
{
	struct energy_step step;

	while (meter && energy_meter__next(meter, &step)) {
		struct spool_energy energy = {
			.head = {SPOOL_ENERGY, sizeof(energy), 0},
			.start = step.from,
			.end = step.to,
			.millijoules = (uint64_t)llround(step.joules * 1e3),
			.failed = energy_meter__failed(meter),
		};

		memcpy(energy.uuid, energy_meter__uuid(meter, step.gpu), sizeof(energy.uuid));
		store__put(store, SPOOL_RECORD, &energy, sizeof(energy), NULL, 0);
	}
}

void record_energy__finish(struct energy_meter *meter, struct store *store)
{
	energy_meter__stop(meter);
	record_energy__read(meter, store);
}
