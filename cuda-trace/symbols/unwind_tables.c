// SPDX-License-Identifier: BSD-2-Clause
/*
 * A large file is read in parts, around the addresses that are needed. What comes from the process
 * that reads is checked like the file itself. Tables are never shared by build-id: a file may have
 * another one's, and then its rules would be used for the other.
 */
#include "cuda-trace/symbols/unwind_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/foreign/foreign_job.h"

#define MAX_MS	     3000	   /* for one part, which takes some 10 ms where CPUs are idle */
#define MAX_BYTES    (32ul << 20)  /* of all tables */
#define ANSWER_BYTES (4ul << 20)   /* of an answer: any one part fits */
#define MAX_PARTS    8192	   /* of a file */
#define OVERLAPS     8		   /* parts that may begin in one that has the address */
#define FREE_NS	     5000000000ull /* that reading may take, and later: */
#define WAIT_SHARE   4		   /* this part of the time for which there was no CPU counts */
#define TIME_SHARE   10		   /* this part of the time since the first one */

struct part {
	struct unwind_range range;
	struct unwind_row *rows;
};

/* The tables of a module. */
struct table {
	struct part *parts; /* by address, as far as they have rows */
	uint32_t count, capacity;
	bool failed;
};

struct unwind_tables {
	struct table *list; /* by number of the module */
	uint32_t count;
	size_t bytes;
	uint64_t began, spent; /* ns */
	uint32_t refused;
	unwind_guess next_guess;
	void *guess_context;
};

struct unwind_tables *unwind_tables__new(void)
{
	return calloc(1, sizeof(struct unwind_tables));
}

static void drop_all(struct unwind_tables *tables)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		for (uint32_t j = 0; j < tables->list[i].count; j++)
			free(tables->list[i].parts[j].rows);
		free(tables->list[i].parts);
		tables->list[i].parts = NULL;
		tables->list[i].count = tables->list[i].capacity = 0;
	}
	tables->bytes = 0;
}

/* Who maps a thousand large files must not hold the tool up. */
static bool may_read(struct unwind_tables *tables, uint64_t now)
{
	if (!tables->began)
		tables->began = now;
	if (tables->spent < FREE_NS + (now - tables->began) / TIME_SHARE)
		return true;
	if (!tables->refused++)
		fprintf(stderr, "cuda-trace: reading unwind tables takes too long: some stacks are "
				"found by frame pointers alone\n");
	return false;
}

static bool is_in_order(const struct part *part)
{
	for (uint32_t i = 1; i < part->range.rows; i++)
		if (part->rows[i].start < part->rows[i - 1].start)
			return false;
	return true;
}

/* The next part of an answer, at *at. What was sent may have been made by whoever made the file. */
static bool next_part(struct part *part, const struct foreign_answer *answer, size_t *at)
{
	const struct unwind_range *range = &part->range;
	size_t bytes;

	if (answer->size - *at < sizeof(*range))
		return false;
	memcpy(&part->range, answer->bytes + *at, sizeof(*range));
	bytes = range->rows * sizeof(*part->rows);
	*at += sizeof(*range);
	if (range->rows > UNWIND_ROWS_MAX || bytes > answer->size - *at ||
	    range->start >= range->end)
		return false;
	part->rows = malloc(bytes + 1);
	if (!part->rows)
		return false;
	memcpy(part->rows, answer->bytes + *at, bytes);
	*at += bytes;
	if (is_in_order(part))
		return true;
	free(part->rows);
	return false;
}

/* How many parts begin at or before the address. */
static uint32_t parts_before(const struct table *table, uint64_t address)
{
	return sorted__count_before(table->count, i, table->parts[i].range.start <= address);
}

static size_t part_bytes(const struct part *part)
{
	return sizeof(*part) + part->range.rows * sizeof(*part->rows);
}

static struct part *add_part(struct unwind_tables *tables, struct table *table,
			     const struct part *part)
{
	uint32_t place = parts_before(table, part->range.start);

	if (table->count == MAX_PARTS ||
	    !array_grow__for_one(table->parts, table->capacity, table->count))
		return NULL;
	memmove(table->parts + place + 1, table->parts + place,
		(table->count - place) * sizeof(*part));
	table->parts[place] = *part;
	table->count++;
	tables->bytes += part_bytes(part);
	return &table->parts[place];
}

/* Parts overlap: of those that begin before the address one of the last ones has it. */
static struct part *find_part(struct table *table, uint64_t address)
{
	uint32_t n = parts_before(table, address);

	for (uint32_t i = 0; i < OVERLAPS && i < n; i++)
		if (address < table->parts[n - 1 - i].range.end)
			return &table->parts[n - 1 - i];
	return NULL;
}

/* The address, and those that are likely to be needed next and have no part yet. */
static void gather(struct unwind_tables *tables, struct table *table, uint32_t module,
		   uint64_t address, struct unwind_wanted *wanted)
{
	wanted->count = 1;
	wanted->addresses[0] = address;
	while (wanted->count < UNWIND_WANTED && tables->next_guess &&
	       tables->next_guess(tables->guess_context, module, &address))
		if (!find_part(table, address))
			wanted->addresses[wanted->count++] = address;
}

static void add_parts(struct unwind_tables *tables, struct table *table,
		      const struct foreign_answer *answer)
{
	struct part part;
	size_t at = 0;

	while (next_part(&part, answer, &at)) {
		/* There is space for one more of any size. */
		if (tables->bytes + part_bytes(&part) > MAX_BYTES ||
		    !add_part(tables, table, &part)) {
			free(part.rows);
			return;
		}
	}
}

/* Of all children that have ended. */
static uint64_t children_ns(void)
{
	struct rusage usage = {};

	getrusage(RUSAGE_CHILDREN, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull;
}

/* What the file costs. On a busy machine most of the time is spent waiting for a CPU: little of
 * that is the file's doing, but the ring buffer is not read meanwhile. */
static uint64_t cost_since(uint64_t before, uint64_t children_before)
{
	uint64_t took = monotonic__ns() - before, used = children_ns() - children_before;

	return used < took ? used + (took - used) / WAIT_SHARE : took;
}

/* NULL, too, if the part that is needed did not come. */
static struct part *read_part(struct unwind_tables *tables, const struct modules *modules,
			      uint32_t number, uint64_t address)
{
	struct table *table = &tables->list[number];
	const struct module *module = modules__at(modules, number);
	uint64_t before = monotonic__ns(), children_before = children_ns();
	struct unwind_wanted wanted;
	struct foreign_answer answer;
	struct foreign_file file;
	struct part *found = NULL;

	if (table->failed || !module->is_elf || foreign_file__of(&file, module->fd) ||
	    !may_read(tables, before))
		return NULL;
	if (tables->bytes + ANSWER_BYTES > MAX_BYTES)
		drop_all(tables);
	gather(tables, table, number, address, &wanted);
	if (!foreign_job__run(eh_frame__send_all, &file, &wanted, MAX_MS, ANSWER_BYTES, &answer)) {
		add_parts(tables, table, &answer);
		found = find_part(table, address);
		free(answer.bytes);
	}
	table->failed = !found;
	tables->spent += cost_since(before, children_before);
	return found;
}

static const struct unwind_row *find_row(const struct part *part, uint64_t address)
{
	uint64_t start = address - part->range.first;
	uint32_t low;

	if (address < part->range.first || start > UINT32_MAX)
		return NULL;
	low = sorted__count_before(part->range.rows, i, part->rows[i].start <= start);
	if (!low || part->rows[low - 1].rule == UNWIND_NONE ||
	    part->rows[low - 1].rule >= UNWIND_RULES ||
	    part->rows[low - 1].base >= UNWIND_REGISTERS)
		return NULL;
	return &part->rows[low - 1];
}

static struct table *table_of(struct unwind_tables *tables, uint32_t module)
{
	if (!array_grow__zeroed(tables->list, tables->count, (size_t)module + 1))
		return NULL;
	return &tables->list[module];
}

const struct unwind_row *unwind_tables__row(struct unwind_tables *tables,
					    const struct modules *modules, uint32_t module,
					    uint64_t address)
{
	struct table *table = table_of(tables, module);
	struct part *part;

	if (!table)
		return NULL;
	part = find_part(table, address);
	if (!part)
		part = read_part(tables, modules, module, address);
	return part ? find_row(part, address) : NULL;
}

void unwind_tables__guess(struct unwind_tables *tables, unwind_guess next, void *context)
{
	tables->next_guess = next;
	tables->guess_context = context;
}

uint32_t unwind_tables__refused(const struct unwind_tables *tables)
{
	return tables->refused;
}

void unwind_tables__free(struct unwind_tables *tables)
{
	if (!tables)
		return;
	drop_all(tables);
	free(tables->list);
	free(tables);
}
