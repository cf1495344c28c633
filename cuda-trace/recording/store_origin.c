// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/recording/store_origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/capture/process.h"
#include "cuda-trace/origin/origin.h"
#include "cuda-trace/proc/cgroup.h"
#include "cuda-trace/recording/store_objects.h"
#include "cuda-trace/recording/store_spool.h"

/* A recording that ends waits so long for container engines. */
#define NAMES_MS 2000

struct store_origin {
	struct spool_origin spooled;
	enum origin_state state;
};

struct store_origin *store_origin__start(const struct process *process)
{
	struct store_origin *origin = calloc(1, sizeof(*origin));
	struct spool_origin *spooled = origin ? &origin->spooled : NULL;

	if (!origin)
		return NULL;
	cgroup__of(process->pid, process->cgroup, spooled->cgroup, sizeof(spooled->cgroup));
	cgroup__container(spooled->cgroup, spooled->container, sizeof(spooled->container));
	origin->state = origin__find(process->pid, spooled->cgroup, &spooled->origin);
	return origin;
}

int store_origin__end(struct store_origin *origin, struct spool *spool, uint32_t number)
{
	struct spool_origin *spooled = origin ? &origin->spooled : NULL;
	int err = 0;

	if (!origin)
		return 0;
	if (origin->state != ORIGIN_KNOWN)
		origin->state = origin__find(0, spooled->cgroup, &spooled->origin);
	if (origin->state == ORIGIN_PENDING) {
		origin__wait(NAMES_MS);
		origin__find(0, spooled->cgroup, &spooled->origin);
	}
	if (*spooled->cgroup)
		err = spool__put(spool, SPOOL_ORIGIN, number, spooled, sizeof(*spooled), NULL, 0);
	free(origin);
	return err;
}

/* A spool may be damaged. */
static void end_texts(struct spool_origin *spooled)
{
	spooled->cgroup[sizeof(spooled->cgroup) - 1] = 0;
	spooled->container[sizeof(spooled->container) - 1] = 0;
#define END_TEXT(field, size, key) spooled->origin.field[(size)-1] = 0;
	ORIGIN_NAMES(END_TEXT)
#undef END_TEXT
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

int store_rows__origin(struct rows *rows, uint32_t number, const uint8_t *data, size_t size)
{
	struct rows_process *process = store_objects__find(rows, number);
	struct spool_origin spooled;
	const struct origin *origin = &spooled.origin;

	if (!process || size < sizeof(spooled))
		return 0;
	memcpy(&spooled, data, sizeof(spooled));
	end_texts(&spooled);
#define ORIGIN_TYPE(field, length, key)	 "t"
#define ORIGIN_VALUE(field, length, key) , text_or_null(origin->field)
#define ORIGIN_PLACE(field, length, key) ",?"
	return db__run(
		rows->db,
		"INSERT INTO CUDA_TRACE_ORIGINS VALUES (?,?,?,?" ORIGIN_NAMES(ORIGIN_PLACE) ")",
		"iitt" ORIGIN_NAMES(ORIGIN_TYPE), process->global_pid,
		(int64_t)process->info.instance, spooled.cgroup,
		text_or_null(spooled.container) ORIGIN_NAMES(ORIGIN_VALUE));
}
