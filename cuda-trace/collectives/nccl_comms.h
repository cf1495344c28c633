/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NCCL's communicators over all processes: what their ranks called, how long the kernels took, and
 * how much of that a rank waited for the last one. A kernel of a collective ends when the last rank
 * has come and the data has been transferred, so the rank that came last has the shortest kernel:
 * that is the transfer, and what the others' kernels are longer by is waiting.
 */
#ifndef CUDA_TRACE_COLLECTIVES_NCCL_COMMS_H
#define CUDA_TRACE_COLLECTIVES_NCCL_COMMS_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/capture/nccl_calls.h"

/* Of one operation on one communicator, over all ranks that were seen. */
struct nccl_comm_sums {
	uint64_t calls, bytes; /* elements of the calls times the size of their type */
	uint64_t kernels, gpu_ns;
	/* Of these the calls whose kernels all ranks have: */
	uint64_t met, met_bytes, transfer_ns, wait_ns;
};

#define NCCL_COMM_LEVELS  14
#define NCCL_COMM_LATE_NS 131072 /* less is the jitter of any host */

struct nccl_comm_rank {
	uint32_t pid;
	const char *host; /* NULL = this one */
	int32_t rank;	  /* in the communicator; maybe, of a split one, in what was split; -1 =
			     unknown */
	uint64_t gpu_ns, wait_ns;
	/* Collectives to which it came as the last one, by how much later than the others on
	 * average: 2^n times NCCL_COMM_LATE_NS and more, below the next n; and the sum of that. */
	uint32_t late[NCCL_COMM_LEVELS];
	uint64_t late_ns[NCCL_COMM_LEVELS];
	uint64_t next; /* number of the first collective that no kernel has come of yet */
	/* Not of the verdict's window, as `late` and `late_ns` are, but of all time: */
	uint64_t kernels, kernels_ns; /* of operations that all ranks end at the same time */
	uint64_t compared, last, last_ns;
	uint32_t device;   /* of its latest kernel: CUDA ordinal in the process */
	uint64_t ended_ns; /* its process, or its use of the communicator, has ended; 0 = no */
	char *shown;	   /* the caller's, freed with it */
	double shown_since;
};

/* Bucket b counts what is in (2^(b-1), 2^b] ns, the last one all that is longer. */
#define NCCL_COMM_SKEWS 38

struct comm_alignment;
struct nccl_comm_meetings;

struct nccl_comm {
	uint64_t id;	/* the same in all ranks; 0 = unknown: made before it was observed */
	bool found;	/* the same, but its ranks said who they are: see comm_alignment.h */
	uint32_t size;	/* ranks; 0 = unknown */
	int32_t parent; /* of a split one; -1 = none, or unknown */
	struct nccl_comm_rank *ranks;
	uint32_t rank_count, rank_capacity;
	struct nccl_comm_sums sums[NCCL_OPERATIONS]; /* by enum nccl_function */
	uint64_t met;	/* collectives that all ranks have kernels of */
	uint64_t unmet; /* that some rank's kernel is missing of, as far as that is known */
	uint64_t first_ns, last_ns; /* when the first kernel began and the last one ended */
	struct nccl_comm_meetings *meetings;
	struct comm_alignment *alignment; /* NULL = not found, or not needed yet */
	/* From the first rank to the last, of all collectives that were compared: */
	uint64_t skews[NCCL_COMM_SKEWS], skew_ns;
	/* comm_windows.c: when the window began, and the rank that was late in the one before. */
	uint64_t window_ns;
	int32_t late_before; /* index + 1; 0 = none */
};

#define NCCL_COMM_REPLAYED (1ull << 63) /* a number of graph_collectives.c, not of a call */

/* A kernel and what it does: calls of one rank on one communicator, one group. */
struct nccl_comm_part {
	uint32_t function;
	uint32_t calls;
	uint64_t bytes;
};
#define NCCL_COMM_PARTS 6
struct nccl_comm_work {
	uint32_t comm, rank; /* indices */
	bool numbered;
	uint64_t number; /* of its first collective */
	uint32_t part_count;
	struct nccl_comm_part parts[NCCL_COMM_PARTS];
};

/* 0 = the usual one, or none. */
struct nccl_comm_limits {
	uint32_t comms;
	uint32_t ranks;	   /* of all communicators */
	uint32_t compared; /* ranks of all communicators that are compared */
	uint32_t waiting;  /* calls and kernels without their other half */
};

struct nccl_comms {
	struct nccl_comm *list;
	uint32_t count, capacity;
	struct nccl_comm_limits limits;
	bool partial;	   /* compare ranks of this host also where others run elsewhere */
	uint32_t waiting;  /* counted by collectives.c */
	uint64_t left_out; /* communicators beyond the limit: their calls are not shown */
	uint64_t ranks_left_out;
	uint64_t unlaunched; /* calls without a kernel: launched by another thread, or the launch or
				the node of a graph was lost */
	uint64_t unknown_nodes; /* kernels in graphs that were captured before they were observed */
	/* Of each kernel whose collective has met. Set before the first one; NULL = nobody asks. */
	void (*waited)(void *context, const struct collective_wait *waited);
	void *context;
};

enum nccl_comm_verdict {
	NCCL_COMM_BALANCED,
	NCCL_COMM_LATE,
	NCCL_COMM_TOO_FEW,	 /* collectives */
	NCCL_COMM_RANKS_MISSING, /* that were not seen */
	NCCL_COMM_UNKNOWN,	 /* made before it was observed */
	NCCL_COMM_UNALIGNED,	 /* found, and which collectives belong together is not known yet */
	NCCL_COMM_UNTIMED,	 /* no kernels of it */
};

static inline bool nccl_comms__is_complete(const struct nccl_comm *comm)
{
	return comm->size && comm->rank_count == comm->size;
}

/* Index of the communicator with this id, made if it is new; below 0: there are too many, or no
 * memory. id 0 makes another one. */
int nccl_comms__find(struct nccl_comms *comms, uint64_t id, uint32_t size, int32_t parent);
/* Its ranks count its collectives each on its own from now on. */
void nccl_comms__found(struct nccl_comms *comms, uint32_t comm);
/* The same as nccl_comms__find() of a rank of it. */
int nccl_comms__rank(struct nccl_comms *comms, uint32_t comm, uint32_t pid, int32_t rank);
void nccl_comms__kernel(struct nccl_comms *comms, const struct nccl_comm_work *work, uint64_t start,
			uint64_t end);
/* For a tool that runs for weeks. All ranks of a process have ended. */
void nccl_comms__end(struct nccl_comms *comms, uint32_t pid, uint64_t now_ns);
/* Drops communicators whose ranks have all ended before then: their places are used again. */
void nccl_comms__expire(struct nccl_comms *comms, uint64_t before_ns);
/* Verdicts are of what comes from now on. */
void nccl_comms__forget_late(struct nccl_comm *comm);

struct nccl_comm_late {
	const struct nccl_comm_rank *rank; /* NULL = none is late */
	uint64_t count, ns;		   /* collectives, and the sum */
};

enum nccl_comm_verdict nccl_comms__verdict(const struct nccl_comm *comm,
					   struct nccl_comm_late *late);
/* The same where not all ranks have to be seen. */
enum nccl_comm_verdict nccl_comms__verdict_here(const struct nccl_comm *comm,
						struct nccl_comm_late *late);
/* Bytes per second as nccl-tests calls it "busbw"; 0 = unknown. */
double nccl_comms__bus_bandwidth(const struct nccl_comm *comm, uint32_t function);
void nccl_comms__free(struct nccl_comms *comms);

#endif
