// SPDX-License-Identifier: BSD-2-Clause
/*
 * comm_alignment.h: ranks whose numbers are shifted against each other, with ends that differ by a
 * few microseconds, and records that come in batches. Prints a line for each case: how many of the
 * numbers it gave are right, wrong, and how many it gave none for.
 */
#include <stdio.h>
#include <stdlib.h>
#include "bpf/event.h"
#include "cuda-trace/collectives/comm_alignment.h"

#define RANKS	    4
#define COLLECTIVES 8000

static struct ended_collective ends[RANKS][COLLECTIVES];

/* Of steps of `burst` collectives, `gap_ns` apart, and `rest_ns` between steps. */
static void make(int burst, uint64_t gap_ns, uint64_t rest_ns, uint64_t jitter_ns)
{
	uint64_t time = 1000000000;

	for (int i = 0; i < COLLECTIVES; i++) {
		time += i % burst ? gap_ns : rest_ns + rand() % (rest_ns / 4 + 1);
		for (int rank = 0; rank < RANKS; rank++)
			ends[rank][i] = (struct ended_collective){
				.number = i,
				.end = time + rand() % (jitter_ns + 1),
				.bytes = 1024,
				.function = NCCL_ALL_REDUCE,
			};
	}
}

/* Rank n is observed from its collective first[n] on, and comes in batches of `batch`. */
static void run(const char *what, const int first[RANKS], int batch)
{
	struct comm_alignment *alignment = comm_alignment__new(RANKS);
	uint64_t right = 0, wrong = 0, none = 0, zero = 0;

	for (int at = 0; at < COLLECTIVES; at += batch)
		for (int rank = 0; rank < RANKS; rank++)
			for (int i = at; i < at + batch && i < COLLECTIVES; i++) {
				struct ended_collective ended = ends[rank][i];
				uint64_t number;

				if (i < first[rank])
					continue;
				ended.number -= first[rank];
				comm_alignment__note(alignment, rank, &ended);
				number = ended.number;
				if (!comm_alignment__number(alignment, rank, &number)) {
					none++;
					continue;
				}
				/* The first rank's numbers are right by definition. */
				if (!zero)
					zero = number - i;
				right += number - zero == (uint64_t)i;
				wrong += number - zero != (uint64_t)i;
			}
	printf("%s: %s, wrong %lu, %s\n", what, right > 3 * none ? "aligned" : "not aligned",
	       (unsigned long)wrong,
	       comm_alignment__is_complete(alignment) ? "complete" : "incomplete");
	free(alignment);
}

static void random_ends(void)
{
	struct comm_alignment *alignment = comm_alignment__new(RANKS);

	for (int i = 0; i < 200000; i++) {
		const struct ended_collective ended = {.number = rand(),
						       .end = (uint64_t)rand() << (rand() % 34),
						       .bytes = rand() % 2,
						       .function = rand() % 4};

		comm_alignment__note(alignment, rand() % (RANKS + 1), &ended);
	}
	printf("random: %s\n", comm_alignment__is_complete(alignment) ? "complete" : "incomplete");
	free(alignment);
}

int main(void)
{
	static const int same[RANKS] = {0, 0, 0, 0}, shifted[RANKS] = {3, 40, 0, 1},
			 late[RANKS] = {0, 700, 1, 0};

	make(1, 0, 2000000, 20000);
	run("one a step", same, 1);
	run("one a step, shifted", shifted, 1);
	run("one a step, a rank comes late", late, 1);
	run("one a step, shifted, in batches", shifted, 300);
	make(10, 30000, 2000000, 5000);
	run("ten a step, shifted", shifted, 50);
	make(100, 10000, 5000000, 5000);
	run("a hundred a step, shifted", shifted, 150);
	/* All ends are 400 us apart. */
	make(1, 0, 400000, 5000);
	run("in lockstep, shifted", shifted, 1);
	make(1000000, 20000, 20000, 5000);
	run("without a rest, shifted", shifted, 1);
	/* Only every other one fits. */
	make(1, 0, 2000000, 20000);
	for (int i = 0; i < COLLECTIVES; i += 2)
		ends[1][i].bytes = 7;
	run("other bytes", same, 1);
	random_ends();
	return 0;
}
