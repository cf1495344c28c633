// SPDX-License-Identifier: BSD-2-Clause
/* The process controls what comes: everything is bounded. */
#include "cuda-trace/recording/store_collectives.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/capture/nccl_calls.h"
#include "cuda-trace/collectives/collectives.h"

#define MAX_COMMS 4096	/* of a process */
#define WAITING	  16384 /* calls whose launches have not come: those beyond go without */
#define ISSUES	  (2 * WAITING)
#define CAPTURED  65536 /* calls in graphs: replays of those beyond have no rows */

struct made_comm {
	struct event_collective made;
	uint64_t parent_id;
};

struct waiting_call {
	struct spool_collective record;
	uint64_t issue;
	int64_t row;  /* once it is written; 0 = not yet */
	int32_t comm; /* index of `comms`; -1 = made before it was recorded */
};

struct launched_issue {
	uint64_t number;
	uint64_t node; /* that its launch created in a graph; 0 = none */
	uint64_t first_call;
	uint32_t calls, correlation;
	bool done;
};

/* What a graph's replays execute: the calls of an issue. */
struct captured_issue {
	uint64_t number;
	uint32_t first, count; /* of `captured` */
};

struct store_collectives {
	struct made_comm *comms; /* in the order of their making */
	uint32_t comm_count, comm_capacity, announced;
	struct nccl_comms numbers; /* the matching needs them */
	struct collectives *collectives;
	struct rows *rows;
	struct rows_process *process;
	struct key_index captures; /* numbers of issues */
	struct captured_issue *issued;
	uint32_t issued_count, issued_capacity;
	struct waiting_call *captured;
	uint32_t captured_count, captured_capacity;
	int error;	       /* of a row that a replay or a capture made */
	uint64_t first, count; /* of `waiting`, a ring; those before `first` are written */
	struct waiting_call waiting[WAITING];
	struct launched_issue issues[ISSUES]; /* by number, a ring */
};

static void note_launched(void *context, uint64_t number, uint32_t correlation)
{
	struct store_collectives *own = context;
	struct launched_issue *issue = &own->issues[number % ISSUES];

	/* The first kernel of a large group stands for it. */
	if (issue->number == number && !issue->done) {
		issue->correlation = correlation;
		issue->done = true;
	}
}

static void note_captured(void *context, uint64_t number, uint64_t node);
static void note_replayed(void *context, uint64_t number, uint64_t replay,
			  const struct cuda_kernel *kernel);

static struct store_collectives *collectives_of(struct rows *rows, struct rows_process *process)
{
	struct store_collectives *own = process->collectives;
	struct collectives_options options = {
		.pid = process->info.pid,
		.rank = process->info.rank,
		.timed = true,
		.launched = note_launched,
		.graphs = {.gaps = rows->gaps,
			   .captured = note_captured,
			   .replayed = note_replayed},
	};

	if (own)
		return own;
	own = options.context = options.graphs.context = calloc(1, sizeof(*own));
	if (own)
		own->collectives = collectives__new(&own->numbers, &options);
	if (!own || !own->collectives) {
		free(own);
		return NULL;
	}
	process->collectives = own;
	return own;
}

static const struct made_comm *find_comm(const struct store_collectives *own, uint64_t address,
					 uint32_t before)
{
	for (uint32_t i = before; i-- > 0;)
		if (own->comms[i].made.comm == address)
			return &own->comms[i];
	return NULL;
}

static int64_t optional(int64_t value)
{
	return value ? value : DB_NULL;
}

static int64_t known_rank(int32_t rank)
{
	return rank < 0 ? DB_NULL : rank;
}

static int put_comm(struct rows *rows, const struct rows_process *process,
		    const struct made_comm *comm)
{
	const struct event_collective *made = &comm->made;

	return db__run(rows->db, "INSERT INTO CUDA_TRACE_COMMUNICATORS VALUES (?,?,?,?,?,?,?,?,?)",
		       "iiiiiiiii", process->global_pid, (int64_t)(made->time - rows->epoch),
		       (int64_t)made->comm, optional(made->id), optional(made->parent),
		       optional(comm->parent_id), optional(made->size > 0 ? made->size : 0),
		       known_rank(made->rank), (int64_t)(made->function == NCCL_FOUND));
}

int store_collectives__made(struct rows *rows, struct rows_process *process, const uint8_t *data,
			    size_t size)
{
	struct made_comm comm = {};
	const struct made_comm *parent;
	struct store_collectives *own;

	if (size < sizeof(comm.made))
		return 0;
	memcpy(&comm.made, data, sizeof(comm.made));
	own = comm.made.comm ? collectives_of(rows, process) : NULL;
	if (!own || own->comm_count == MAX_COMMS)
		return 0;
	parent = find_comm(own, comm.made.parent, own->comm_count);
	comm.parent_id = parent ? parent->made.id : 0;
	if (!array_grow__for_one(own->comms, own->comm_capacity, own->comm_count))
		return -ENOMEM;
	own->comms[own->comm_count++] = comm;
	return put_comm(rows, process, &comm);
}

/* Those made before `time` are known to the matching. */
static void announce_comms(struct store_collectives *own, uint64_t time)
{
	while (own->announced < own->comm_count && own->comms[own->announced].made.time <= time)
		collectives__call(own->collectives, &own->comms[own->announced++].made);
}

static int put_call(struct rows *rows, const struct rows_process *process,
		    const struct waiting_call *call, uint64_t node)
{
	const struct store_collectives *own = process->collectives;
	const struct made_comm *comm = call->comm < 0 ? NULL : &own->comms[call->comm];
	const struct event_collective *event = &call->record.call;
	union record_row row;

	record_columns__to_row(DB_COLLECTIVES, &call->record, rows->epoch, process->global_pid,
			       &row);
	if (comm) {
		row.COLLECTIVES.communicatorId = optional(comm->made.id);
		row.COLLECTIVES.size = optional(comm->made.size > 0 ? comm->made.size : 0);
		row.COLLECTIVES.rank = known_rank(comm->made.rank);
	}
	if (event->known)
		row.COLLECTIVES.number = event->sequence;
	if (nccl_calls__type(event->type))
		row.COLLECTIVES.bytes = nccl_calls__bytes(event);
	row.COLLECTIVES.graphNodeId = optional(node);
	rows->count++;
	return db__insert(rows->db, DB_COLLECTIVES, row.values);
}

/* Of the oldest calls those that are known about; all, if `force`. */
static int put_done(struct rows *rows, struct rows_process *process, uint64_t most, bool force)
{
	struct store_collectives *own = process->collectives;
	int err = 0;

	for (; !err && own->count && most; most--) {
		struct waiting_call *call = &own->waiting[own->first % WAITING];
		const struct launched_issue *issue = &own->issues[call->issue % ISSUES];
		bool done = issue->number == call->issue && issue->done;

		if (!done && call->issue && issue->number == call->issue && !force)
			break;
		call->record.head.correlation = done && !issue->node ? issue->correlation : 0;
		err = put_call(rows, process, call, done ? issue->node : 0);
		call->row = sqlite3_last_insert_rowid(db__handle(rows->db));
		own->first++;
		own->count--;
	}
	return err;
}

static void add_waiting(struct store_collectives *own, const struct spool_collective *record,
			uint64_t number)
{
	const struct made_comm *comm = find_comm(own, record->call.comm, own->announced);
	struct launched_issue *issue = &own->issues[number % ISSUES];

	if (number && issue->number != number)
		*issue = (struct launched_issue){.number = number,
						 .first_call = own->first + own->count};
	issue->calls += number != 0;
	own->waiting[(own->first + own->count++) % WAITING] = (struct waiting_call){
		.record = *record,
		.issue = number,
		.comm = comm ? comm - own->comms : -1,
	};
}

int store_collectives__call(struct rows *rows, struct rows_process *process,
			    const struct spool_collective *record)
{
	struct store_collectives *own = collectives_of(rows, process);
	uint64_t issue;
	int err = 0;

	if (!own)
		return -ENOMEM;
	announce_comms(own, record->call.time);
	issue = collectives__call(own->collectives, &record->call);
	if (!record->call.function || record->call.function >= NCCL_OPERATIONS)
		return 0;
	if (own->count == WAITING)
		err = put_done(rows, process, 1, true);
	if (err)
		return err;
	add_waiting(own, record, issue);
	return put_done(rows, process, WAITING, false);
}

/* Makes a row of what was captured; its first one, if there is one, said that it was launched. */
static int put_captured(struct store_collectives *own, struct waiting_call *call, uint64_t node)
{
	int err = 0;

	if (!call->row)
		return 0;
	err = db__run(own->rows->db, "DELETE FROM CUDA_TRACE_COLLECTIVES WHERE rowid = ?", "i",
		      call->row);
	call->record.head.correlation = 0;
	return err ? err : put_call(own->rows, own->process, call, node);
}

static void note_captured(void *context, uint64_t number, uint64_t node)
{
	struct store_collectives *own = context;
	struct launched_issue *issue = &own->issues[number % ISSUES];
	struct captured_issue captured = {.number = number, .first = own->captured_count};
	uint64_t end = own->first + own->count, i = issue->first_call;

	if (issue->number != number)
		return;
	issue->node = node;
	for (; i < end && captured.count < issue->calls; i++) {
		struct waiting_call *call = &own->waiting[i % WAITING];

		if (i + WAITING < end || call->issue != number)
			continue;
		if (!own->error)
			own->error = put_captured(own, call, node);
		if (own->captured_count == CAPTURED ||
		    !array_grow__for_one(own->captured, own->captured_capacity,
					 own->captured_count))
			return;
		own->captured[own->captured_count++] = *call;
		captured.count++;
	}
	if (array_grow__for_one(own->issued, own->issued_capacity, own->issued_count) &&
	    key_index__add(&own->captures, number, own->issued_count))
		own->issued[own->issued_count++] = captured;
}

/* A row for each call, as if the replay had made it when its kernel began. */
static void note_replayed(void *context, uint64_t number, uint64_t replay,
			  const struct cuda_kernel *kernel)
{
	struct store_collectives *own = context;
	ssize_t found = key_index__find(&own->captures, number);
	const struct captured_issue *issue = found < 0 ? NULL : &own->issued[found];

	for (uint32_t i = 0; issue && i < issue->count && !own->error; i++) {
		struct waiting_call call = own->captured[issue->first + i];

		call.record.head.correlation = kernel->head.correlation;
		call.record.call.time = kernel->start;
		call.record.call.sequence = replay;
		call.record.call.known &= replay != 0;
		own->error = put_call(own->rows, own->process, &call, kernel->graph_node);
	}
}

/* NULL: the process has made no call. Rows are of that process until the next call. */
static struct store_collectives *enter(struct rows *rows, struct rows_process *process)
{
	struct store_collectives *own = process->collectives;

	if (!own)
		return NULL;
	own->rows = rows;
	own->process = process;
	return own;
}

int store_collectives__launch(struct rows *rows, struct rows_process *process,
			      const struct cuda_launch *launch)
{
	struct store_collectives *own = enter(rows, process);

	if (!own)
		return 0;
	collectives__launch(own->collectives, launch, names__get(process->texts, launch->name));
	return own->error;
}

int store_collectives__node(struct rows *rows, struct rows_process *process,
			    const struct cuda_graph_node *node)
{
	struct store_collectives *own = enter(rows, process);

	if (!own)
		return 0;
	collectives__node(own->collectives, node);
	return own->error;
}

int store_collectives__kernel(struct rows *rows, struct rows_process *process,
			      const struct cuda_kernel *kernel)
{
	struct store_collectives *own = kernel->graph_node ? enter(rows, process) : NULL;

	if (!own)
		return 0;
	collectives__kernel(own->collectives, kernel, names__get(process->texts, kernel->name));
	return own->error;
}

int store_collectives__finish(struct rows *rows, struct rows_process *process)
{
	return process->collectives ? put_done(rows, process, WAITING, true) : 0;
}

void store_collectives__free(struct rows_process *process)
{
	struct store_collectives *own = process->collectives;

	if (!own)
		return;
	collectives__free(own->collectives);
	nccl_comms__free(&own->numbers);
	key_index__free(&own->captures);
	free(own->issued);
	free(own->captured);
	free(own->comms);
	free(own);
	process->collectives = NULL;
}
