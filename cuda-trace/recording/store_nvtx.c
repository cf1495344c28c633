// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of NVTX_EVENTS: events, and the names of domains and categories when they are first seen.
 */
#include "cuda-trace/recording/store_nvtx.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/payload_parts.h"

#define EVENT_CATEGORY 33
#define EVENT_DOMAIN   75

static int64_t name_of_domain(struct rows *rows, struct rows_process *process, uint32_t id)
{
	int64_t text = store_objects__plain_name(rows, process, id);
	struct rows_name *name = store_objects__name(process, id);
	int err;

	if (!name || text < 0)
		return text < 0 ? text : -ENOMEM;
	if (!name->domain_made) {
		union record_row row;

		record_columns__to_row(DB_NVTX, &(struct cuda_nvtx){}, 0, process->global_pid,
				       &row);
		row.NVTX.end = DB_NULL;
		row.NVTX.eventType = EVENT_DOMAIN;
		row.NVTX.textId = row.NVTX.domainId = text;
		err = db__insert(rows->db, DB_NVTX, row.values);
		if (err)
			return err;
		name->domain_made = true;
	}
	return text;
}

static int put_category(struct rows *rows, struct rows_process *process,
			const struct cuda_nvtx *event, int64_t domain)
{
	int64_t text = store_objects__plain_name(rows, process, event->category_name);
	struct rows_name *name = store_objects__name(process, event->category_name);
	union record_row row;

	if (!name || text < 0)
		return text < 0 ? (int)text : -ENOMEM;
	if (name->category_made && name->category == event->category &&
	    name->category_domain == event->domain)
		return 0;
	name->category_made = true;
	name->category = event->category;
	name->category_domain = event->domain;
	record_columns__to_row(DB_NVTX, &(struct cuda_nvtx){.category = event->category}, 0,
			       process->global_pid, &row);
	row.NVTX.end = DB_NULL;
	row.NVTX.eventType = EVENT_CATEGORY;
	row.NVTX.textId = text;
	row.NVTX.domainId = domain;
	return db__insert(rows->db, DB_NVTX, row.values);
}

/* Minus zero has the bits that mean NULL. */
static int64_t bits_of(double value)
{
	int64_t bits;

	value = value == 0 ? 0 : value;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Into the column of its type, as Nsight has them; a text in JSON is to be freed. */
static char *put_payload(union record_row *row, const struct rows_process *process,
			 const struct cuda_nvtx *nvtx)
{
	int64_t whole;
	double real;
	char *json;

	payload_parts__is_whole(nvtx, &whole);
	payload_parts__is_real(nvtx, &real);
	switch (nvtx->payload_kind) {
	case CUDA_NVTX_UINT64:
		row->NVTX.uint64Value = whole;
		break;
	case CUDA_NVTX_INT64:
		row->NVTX.int64Value = whole;
		break;
	case CUDA_NVTX_UINT32:
		row->NVTX.uint32Value = whole;
		break;
	case CUDA_NVTX_INT32:
		row->NVTX.int32Value = whole;
		break;
	case CUDA_NVTX_DOUBLE:
		row->NVTX.doubleValue = bits_of(real);
		break;
	case CUDA_NVTX_FLOAT:
		row->NVTX.floatValue = bits_of(real);
		break;
	case CUDA_NVTX_SCHEMA:
		json = payload_parts__json(process->payloads, process->texts, nvtx);
		row->NVTX.jsonText = json ? (intptr_t)json : DB_NULL;
		return json;
	}
	return NULL;
}

int store_nvtx__event(struct rows *rows, struct rows_process *process, const struct cuda_nvtx *nvtx)
{
	static const int64_t types[] = {34, 34, 59, 60};
	int64_t text = nvtx->text ? store_objects__plain_name(rows, process, nvtx->text) : 0;
	int64_t domain = nvtx->domain ? name_of_domain(rows, process, nvtx->domain) : 0;
	union record_row row;

	char *json;
	int err;

	if (text < 0 || domain < 0)
		return text < 0 ? (int)text : (int)domain;
	err = nvtx->category_name ? put_category(rows, process, nvtx, domain) : 0;
	if (err)
		return err;
	record_columns__to_row(DB_NVTX, nvtx, rows->epoch, process->global_pid, &row);
	if (nvtx->kind == 1)
		row.NVTX.end = DB_NULL;
	if (nvtx->kind == 3 && nvtx->start_tid) {
		row.NVTX.endGlobalTid = row.NVTX.globalTid;
		row.NVTX.globalTid = process->global_pid | (nvtx->start_tid & 0xffffff);
	}
	json = put_payload(&row, process, nvtx);
	row.NVTX.eventType = types[nvtx->kind & 3];
	row.NVTX.textId = text;
	row.NVTX.domainId = domain;
	err = db__insert(rows->db, DB_NVTX, row.values);
	free(json);
	return err;
}

uint32_t store_nvtx__name(const struct cuda_record *record, int number)
{
	const struct cuda_nvtx *event = (const void *)record;

	if (record->kind == CUDA_RECORD_NVTX_PAYLOAD)
		return number ? 0 : ((const struct cuda_nvtx_payload *)record)->schema;
	return number == 0 ? event->text : number == 1 ? event->domain : event->category_name;
}
