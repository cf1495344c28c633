// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collectives by communicator and operation, and which rank is late, as text and JSON.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/writer.h"
#include "cuda-trace/stat/stat_json.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const operations[NCCL_OPERATIONS] = {
	[NCCL_ALL_REDUCE] = "all_reduce",
	[NCCL_BROADCAST] = "broadcast",
	[NCCL_REDUCE] = "reduce",
	[NCCL_ALL_GATHER] = "all_gather",
	[NCCL_REDUCE_SCATTER] = "reduce_scatter",
	[NCCL_ALL_TO_ALL] = "all_to_all",
	[NCCL_GATHER] = "gather",
	[NCCL_SCATTER] = "scatter",
	[NCCL_SEND] = "send",
	[NCCL_RECV] = "recv",
};

static const char *const verdicts[] = {
	[STAT_COMM_BALANCED] = "balanced",
	[STAT_COMM_LATE] = "late_rank",
	[STAT_COMM_TOO_FEW] = "too_few",
	[STAT_COMM_RANKS_MISSING] = "ranks_missing",
	[STAT_COMM_UNKNOWN] = "unknown_communicator",
	[STAT_COMM_UNTIMED] = "untimed",
};

static const char *id_of(const struct stat_comm *comm, char text[20])
{
	snprintf(text, 20, "%016" PRIx64, comm->id);
	return comm->id ? text : "?";
}

static uint64_t calls_of(const struct stat_comm *comm)
{
	uint64_t calls = 0;

	for (int i = 0; i < NCCL_OPERATIONS; i++)
		calls += comm->sums[i].calls;
	return calls;
}

/* One sentence; "" where there is nothing to say. */
static const char *sentence(const struct stat_comm *comm, char text[256])
{
	struct stat_comm_late late;
	char met[32], mean[16];

	*text = 0;
	switch (stat_comms__verdict(comm, &late)) {
	case STAT_COMM_LATE:
		snprintf(text, 256,
			 "rank %d (pid %u) arrives last in %.0f %% of %s collectives, by %s on "
			 "average",
			 late.rank->rank, late.rank->pid, 100.0 * late.count / comm->met,
			 text__count(met, comm->met), text__ns(mean, late.ns / late.count));
		break;
	case STAT_COMM_RANKS_MISSING:
		if (comm->size)
			snprintf(text, 256,
				 "%u of %u ranks were seen: whether one is late is not known",
				 comm->rank_count, comm->size);
		else
			snprintf(text, 256,
				 "not all ranks were seen: whether one is late is not known");
		break;
	case STAT_COMM_UNKNOWN:
		snprintf(text, 256,
			 "made before it was observed: its ranks are not known, nor whether one is "
			 "late");
		break;
	default:
		break;
	}
	return text;
}

/* ---- text ---- */

static void put_rows(struct writer *writer, const struct stat_comm *comm, uint32_t *left)
{
	char id[20], ranks[32], bytes[24], rate[32];

	if (comm->size)
		snprintf(ranks, sizeof(ranks), comm->size == comm->rank_count ? "%u" : "%u of %u",
			 comm->rank_count, comm->size);
	else
		snprintf(ranks, sizeof(ranks), "%u of ?", comm->rank_count);
	for (int i = 1; i < NCCL_OPERATIONS; i++) {
		const struct stat_comm_sums *sums = &comm->sums[i];
		double bandwidth = stat_comms__bus_bandwidth(comm, i);

		if (!sums->calls || !*left)
			continue;
		(*left)--;
		snprintf(rate, sizeof(rate), "%.2f GB/s", bandwidth / 1e9);
		writer__row(writer,
			    (const struct cell[]){
				    cell_text(id_of(comm, id)),
				    cell_text(ranks),
				    cell_text(operations[i]),
				    cell_count(sums->calls),
				    cell_text(stat_report__bytes(bytes, sums->bytes)),
				    sums->kernels ? cell_ns(sums->gpu_ns) : (struct cell){},
				    sums->met ? cell_ns(sums->transfer_ns) : (struct cell){},
				    sums->met ? cell_ns(sums->wait_ns) : (struct cell){},
				    cell_text(bandwidth ? rate : "-"),
			    });
	}
}

void stat_report__text_collectives(FILE *file, const struct stat_report *report)
{
	static const struct column columns[] = {
		{"communicator", "COMMUNICATOR", 16, COLUMN_LEFT},
		{"ranks", "RANKS", 8, COLUMN_LEFT},
		{"operation", "OPERATION", 14, COLUMN_LEFT},
		{"calls", "CALLS", 9, 0},
		{"bytes", "BYTES", 11, 0},
		{"total", "TOTAL", 8, 0},
		{"transfer", "TRANSFER", 8, 0},
		{"waiting", "WAITING", 8, 0},
		{"rate", "BUS", 0, COLUMN_LEFT},
	};
	const struct stat_comms *comms = &report->table->comms;
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};
	uint32_t left = report->most_kernels;
	char id[20], text[256];

	if (!comms->count)
		return;
	fputs("\nCollectives of NCCL, of all ranks; waiting: for the rank that comes last\n", file);
	for (uint32_t i = 0; i < comms->count; i++)
		put_rows(&writer, &comms->list[i], &left);
	for (uint32_t i = 0; i < comms->count; i++)
		if (calls_of(&comms->list[i]) && *sentence(&comms->list[i], text))
			fprintf(file, " communicator %s: %s\n", id_of(&comms->list[i], id), text);
	if (comms->unlaunched)
		fprintf(file,
			" %" PRIu64
			" calls without a kernel: in graphs, launched by another thread, "
			"or lost\n",
			comms->unlaunched);
	if (comms->left_out)
		fprintf(file, " more communicators than are kept: %" PRIu64 " are missing\n",
			comms->left_out);
}

/* ---- JSON ---- */

static void put_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static void put_known(struct json_object *object, const char *key, bool known, uint64_t number)
{
	json_object_object_add(object, key, known ? json_object_new_uint64(number) : NULL);
}

static struct json_object *operations_of(const struct stat_comm *comm)
{
	struct json_object *array = json_object_new_array();

	for (int i = 1; i < NCCL_OPERATIONS; i++) {
		const struct stat_comm_sums *sums = &comm->sums[i];
		struct json_object *object;

		if (!sums->calls)
			continue;
		object = json_object_new_object();
		stat_json__put_text(object, "operation", operations[i]);
		put_number(object, "calls", sums->calls);
		put_number(object, "bytes", sums->bytes);
		put_number(object, "kernels", sums->kernels);
		put_number(object, "gpu_ns", sums->gpu_ns);
		put_number(object, "compared_calls", sums->met);
		put_known(object, "transfer_ns", sums->met, sums->transfer_ns);
		put_known(object, "wait_ns", sums->met, sums->wait_ns);
		put_known(object, "bus_bytes_per_second", stat_comms__bus_bandwidth(comm, i) > 0,
			  stat_comms__bus_bandwidth(comm, i));
		json_object_array_add(array, object);
	}
	return array;
}

static void put_rank(struct json_object *object, const char *key, int32_t rank)
{
	json_object_object_add(object, key, rank < 0 ? NULL : json_object_new_int(rank));
}

static struct json_object *ranks_of(const struct stat_comm *comm)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < comm->rank_count; i++) {
		const struct stat_comm_rank *rank = &comm->ranks[i];
		struct json_object *object = json_object_new_object();
		uint64_t late = 0, late_ns = 0;

		put_rank(object, "rank", rank->rank);
		put_number(object, "pid", rank->pid);
		put_number(object, "gpu_ns", rank->gpu_ns);
		put_known(object, "wait_ns", comm->met, rank->wait_ns);
		for (int k = 0; k < STAT_COMM_LEVELS; k++) {
			late += rank->late[k];
			late_ns += rank->late_ns[k];
		}
		put_number(object, "late", late);
		put_number(object, "late_ns", late_ns);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *late_of(const struct stat_comm *comm, const struct stat_comm_late *late)
{
	struct json_object *object = late->rank ? json_object_new_object() : NULL;

	if (!object)
		return NULL;
	put_rank(object, "rank", late->rank->rank);
	put_number(object, "pid", late->rank->pid);
	json_object_object_add(object, "share", stat_json__double((double)late->count / comm->met));
	put_number(object, "mean_ns", late->ns / late->count);
	return object;
}

void stat_json__put_collectives(struct json_object *object, const struct stat_report *report)
{
	const struct stat_comms *comms = &report->table->comms;
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < comms->count; i++) {
		const struct stat_comm *comm = &comms->list[i];
		struct stat_comm_late late;
		struct json_object *one;
		char text[256], id[20];

		if (!calls_of(comm))
			continue;
		one = json_object_new_object();
		json_object_object_add(one, "communicator",
				       comm->id ? json_object_new_string(id_of(comm, id)) : NULL);
		put_known(one, "size", comm->size, comm->size);
		put_number(one, "seen", comm->rank_count);
		put_number(one, "compared", comm->met);
		stat_json__put_text(one, "verdict", verdicts[stat_comms__verdict(comm, &late)]);
		json_object_object_add(one, "late", late_of(comm, &late));
		stat_json__put_text(one, "text", sentence(comm, text));
		json_object_object_add(one, "operations", operations_of(comm));
		json_object_object_add(one, "ranks", ranks_of(comm));
		json_object_array_add(array, one);
	}
	json_object_object_add(object, "communicators", array);
	put_number(object, "collectives_without_kernel", comms->unlaunched);
	put_number(object, "communicators_left_out", comms->left_out);
}
