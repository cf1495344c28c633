// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/collectives/collective_section.h"
#include <inttypes.h>
#include <math.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/nccl_calls.h"

static const char *const verdicts[] = {
	[NCCL_COMM_BALANCED] = "balanced",
	[NCCL_COMM_LATE] = "late_rank",
	[NCCL_COMM_TOO_FEW] = "too_few",
	[NCCL_COMM_RANKS_MISSING] = "ranks_missing",
	[NCCL_COMM_UNKNOWN] = "unknown_communicator",
	[NCCL_COMM_UNALIGNED] = "unaligned",
	[NCCL_COMM_UNTIMED] = "untimed",
};

static const char *id_of(const struct nccl_comm *comm, char text[20])
{
	snprintf(text, 20, "%016" PRIx64, comm->id);
	return comm->id ? text : "?";
}

static uint64_t calls_of(const struct nccl_comm *comm)
{
	uint64_t calls = 0;

	for (int i = 0; i < NCCL_OPERATIONS; i++)
		calls += comm->sums[i].calls;
	return calls;
}

/* One sentence; "" where there is nothing to say. */
static const char *sentence(const struct nccl_comm *comm, char text[256])
{
	struct nccl_comm_late late;
	char met[32], mean[16];
	const char *host;

	*text = 0;
	switch (nccl_comms__verdict(comm, &late)) {
	case NCCL_COMM_LATE:
		host = late.rank->host;
		snprintf(text, 256,
			 "rank %d (%s%spid %u) arrives last in %.0f %% of %s collectives, by %s "
			 "on average",
			 late.rank->rank, host ? host : "", host ? ", " : "", late.rank->pid,
			 100.0 * late.count / comm->met, text__count(met, comm->met),
			 text__ns(mean, late.ns / late.count));
		break;
	case NCCL_COMM_RANKS_MISSING:
		if (comm->size)
			snprintf(text, 256,
				 "%u of %u ranks were seen: whether one is late is not known",
				 comm->rank_count, comm->size);
		else
			snprintf(text, 256,
				 "not all ranks were seen: whether one is late is not known");
		break;
	case NCCL_COMM_UNKNOWN:
		snprintf(text, 256,
			 "made before it was observed: its ranks are not known, nor whether one is "
			 "late");
		break;
	case NCCL_COMM_UNALIGNED:
		snprintf(text, 256,
			 "made before it was observed; which of its collectives belong together is "
			 "not known: too few, in graphs, or without a pause between them");
		break;
	default:
		break;
	}
	return text;
}

static void put_operation(struct sheet *sheet, const struct nccl_comm *comm, int operation)
{
	const struct nccl_comm_sums *sums = &comm->sums[operation];
	double bandwidth = nccl_comms__bus_bandwidth(comm, operation);
	char id[20], ranks[32];

	if (!sheet__row(sheet, NULL))
		return;
	if (comm->size)
		snprintf(ranks, sizeof(ranks), comm->size == comm->rank_count ? "%u" : "%u of %u",
			 comm->rank_count, comm->size);
	else
		snprintf(ranks, sizeof(ranks), "%u of ?", comm->rank_count);
	sheet__column(sheet, 0, "COMMUNICATOR", -16, NULL, cell_text(id_of(comm, id)));
	sheet__column(sheet, 1, "RANKS", -8, NULL, cell_text(ranks));
	sheet__column(sheet, 2, "OPERATION", -14, "operation",
		      cell_text(nccl_calls__operation(operation)));
	sheet__column(sheet, 3, "CALLS", 9, "calls", cell_count(sums->calls));
	sheet__column(sheet, 4, "BYTES", 11, "bytes", cell_bytes(sums->bytes));
	sheet__put(sheet, "kernels", cell_number(sums->kernels));
	sheet__column(sheet, 5, "TOTAL", 8, "gpu_ns",
		      cell_if(sums->kernels || sheet->json, cell_ns(sums->gpu_ns)));
	sheet__put(sheet, "compared_calls", cell_number(sums->met));
	sheet__column(sheet, 6, "TRANSFER", 8, "transfer_ns",
		      cell_if(sums->met, cell_ns(sums->transfer_ns)));
	sheet__column(sheet, 7, "WAITING", 8, "wait_ns",
		      cell_if(sums->met, cell_ns(sums->wait_ns)));
	sheet__column(sheet, 8, "BUS", 0, "bus_bytes_per_second",
		      cell_if(bandwidth > 0, cell_rate(floor(bandwidth))));
	sheet__row_end(sheet);
}

static struct cell rank_cell(int32_t rank)
{
	return cell_if(rank >= 0, cell_number(rank));
}

static void put_rank(struct sheet *sheet, const struct nccl_comm *comm,
		     const struct nccl_comm_rank *rank)
{
	uint64_t late = 0, late_ns = 0;

	for (int k = 0; k < NCCL_COMM_LEVELS; k++) {
		late += rank->late[k];
		late_ns += rank->late_ns[k];
	}
	sheet__open(sheet, NULL, '{');
	sheet__put(sheet, "rank", rank_cell(rank->rank));
	sheet__put(sheet, "pid", cell_number(rank->pid));
	sheet__put(sheet, "gpu_ns", cell_number(rank->gpu_ns));
	sheet__put(sheet, "wait_ns", cell_if(comm->met, cell_number(rank->wait_ns)));
	sheet__put(sheet, "late", cell_number(late));
	sheet__put(sheet, "late_ns", cell_number(late_ns));
	sheet__close(sheet);
}

static void put_late(struct sheet *sheet, const struct nccl_comm *comm,
		     const struct nccl_comm_late *late)
{
	if (!late->rank) {
		sheet__put(sheet, "late", cell_none);
		return;
	}
	sheet__open(sheet, "late", '{');
	sheet__put(sheet, "rank", rank_cell(late->rank->rank));
	sheet__put(sheet, "pid", cell_number(late->rank->pid));
	sheet__put(sheet, "share", cell_share((double)late->count / comm->met));
	sheet__put(sheet, "mean_ns", cell_number(late->ns / late->count));
	sheet__close(sheet);
}

static void put_comm(struct sheet *sheet, const struct nccl_comm *comm)
{
	struct nccl_comm_late late;
	char text[256], id[20];

	sheet__open(sheet, NULL, '{');
	sheet__put(sheet, "communicator", cell_if(comm->id, cell_text(id_of(comm, id))));
	sheet__put(sheet, "size", cell_if(comm->size, cell_number(comm->size)));
	sheet__put(sheet, "seen", cell_number(comm->rank_count));
	sheet__put(sheet, "compared", cell_number(comm->met));
	sheet__put(sheet, "verdict", cell_text(verdicts[nccl_comms__verdict(comm, &late)]));
	put_late(sheet, comm, &late);
	sheet__put(sheet, "text", cell_text(sentence(comm, text)));
	sheet__open(sheet, "operations", '[');
	for (int i = 1; i < NCCL_OPERATIONS; i++)
		if (comm->sums[i].calls)
			put_operation(sheet, comm, i);
	sheet__close(sheet);
	sheet__open(sheet, "ranks", '[');
	for (uint32_t i = 0; i < comm->rank_count; i++)
		put_rank(sheet, comm, &comm->ranks[i]);
	sheet__close(sheet);
	sheet__close(sheet);
}

void collective_section__put(struct sheet *sheet, const struct nccl_comms *comms, uint64_t most)
{
	char id[20], text[256];

	if (!sheet->json && !comms->count && !comms->unknown_nodes)
		return;
	sheet__say(sheet,
		   "\nCollectives of NCCL, of all ranks; waiting: for the rank that comes last\n");
	sheet__begin(sheet, "communicators", NULL, most);
	for (uint32_t i = 0; i < comms->count; i++)
		if (calls_of(&comms->list[i]))
			put_comm(sheet, &comms->list[i]);
	sheet__end(sheet);
	for (uint32_t i = 0; i < comms->count; i++)
		if (calls_of(&comms->list[i]) && *sentence(&comms->list[i], text))
			sheet__say(sheet, " communicator %s: %s\n", id_of(&comms->list[i], id),
				   text);
	sheet__put(sheet, "collectives_without_kernel", cell_number(comms->unlaunched));
	sheet__put(sheet, "collectives_of_unknown_nodes", cell_number(comms->unknown_nodes));
	sheet__put(sheet, "communicators_left_out", cell_number(comms->left_out));
	if (comms->unlaunched)
		sheet__say(sheet,
			   " %" PRIu64 " calls without a kernel: in graphs, launched by another "
			   "thread, or lost\n",
			   comms->unlaunched);
	if (comms->unknown_nodes)
		sheet__say(sheet,
			   " %" PRIu64 " kernels in graphs whose capture was not observed: not "
			   "in these numbers\n",
			   comms->unknown_nodes);
	if (comms->left_out)
		sheet__say(sheet, " more communicators than are kept: %" PRIu64 " are missing\n",
			   comms->left_out);
}
