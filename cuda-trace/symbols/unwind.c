// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every word of the copy, and every rule, may be a lie of the traced process: what is read lies in
 * the copy, frames go up, and the number of steps is bounded. The worst is a wrong stack of that
 * process.
 */
#include "cuda-trace/symbols/unwind.h"

#include <string.h>

/* struct rt_sigframe, from where the stack pointer is when the handler has returned: offsets of
 * gregs in a ucontext. */
#define SIGNAL_R12 72
#define SIGNAL_RBP 120
#define SIGNAL_RBX 128
#define SIGNAL_RSP 160
#define SIGNAL_RIP 168

struct walk {
	const struct event_stack_copy *copy;
	uint64_t address;
	uint64_t registers[UNWIND_REGISTERS];
	uint32_t known; /* bits: registers */
	bool is_exact;	/* `address` is where the function is, not where a call goes on */
};

static bool read_word(const struct walk *walk, uint64_t from, uint64_t *value)
{
	uint64_t within = from - walk->copy->stack_pointer;

	if (within >= walk->copy->bytes || walk->copy->bytes - within < sizeof(*value))
		return false;
	memcpy(value, walk->copy->stack + within, sizeof(*value));
	return true;
}

static bool is_known(const struct walk *walk, unsigned int name)
{
	return walk->known >> name & 1;
}

/* One step up: the end of the walk, or -1 = there is a caller. */
static int go_to(struct walk *walk, uint64_t address, uint64_t stack_pointer)
{
	if (!address)
		return UNWIND_END_COMPLETE;
	if (stack_pointer <= walk->registers[UNWIND_RSP])
		return UNWIND_END_UNKNOWN;
	walk->address = address;
	walk->registers[UNWIND_RSP] = stack_pointer;
	walk->is_exact = false;
	return -1;
}

/* Code without rules: as compilers with -fno-omit-frame-pointer make it. */
static int step_by_pointer(struct walk *walk)
{
	uint64_t at = walk->registers[UNWIND_RBP], next, address;

	if (!is_known(walk, UNWIND_RBP) || at < walk->registers[UNWIND_RSP])
		return UNWIND_END_UNKNOWN;
	if (!read_word(walk, at, &next) || !read_word(walk, at + 8, &address))
		return UNWIND_END_COPY;
	walk->registers[UNWIND_RBP] = next;
	return go_to(walk, address, at + 16);
}

static int step_by_signal(struct walk *walk)
{
	uint64_t at = walk->registers[UNWIND_RSP], address, pointer, values[UNWIND_SAVED];

	if (!read_word(walk, at + SIGNAL_RIP, &address) ||
	    !read_word(walk, at + SIGNAL_RSP, &pointer) ||
	    !read_word(walk, at + SIGNAL_RBX, &values[UNWIND_RBX]) ||
	    !read_word(walk, at + SIGNAL_RBP, &values[UNWIND_RBP]))
		return UNWIND_END_COPY;
	for (int i = 0; i < 4; i++)
		if (!read_word(walk, at + SIGNAL_R12 + 8 * i, &values[UNWIND_R12 + i]))
			return UNWIND_END_COPY;
	memcpy(walk->registers, values, sizeof(values));
	walk->known = ~0u;
	walk->address = address;
	walk->is_exact = true;
	/* A handler may have a stack of its own, above or below. */
	walk->registers[UNWIND_RSP] = pointer;
	return address ? -1 : UNWIND_END_COMPLETE;
}

static int step_by_rule(struct walk *walk, const struct unwind_row *row)
{
	uint64_t cfa = walk->registers[row->base] + row->cfa_offset, address, values[UNWIND_SAVED];
	uint32_t known = walk->known;

	if (row->rule == UNWIND_OUTERMOST)
		return UNWIND_END_COMPLETE;
	if (row->rule == UNWIND_SIGNAL)
		return step_by_signal(walk);
	if (!is_known(walk, row->base))
		return UNWIND_END_UNKNOWN;
	if (row->rule == UNWIND_POINTED && !read_word(walk, cfa, &cfa))
		return UNWIND_END_COPY;
	memcpy(values, walk->registers, sizeof(values));
	for (int i = 0; i < UNWIND_SAVED; i++) {
		if (row->saved[i] == UNWIND_LOST)
			known &= ~(1u << i);
		else if (row->saved[i] != UNWIND_KEPT &&
			 !read_word(walk, cfa + row->saved[i], &values[i]))
			return UNWIND_END_COPY;
		else if (row->saved[i] != UNWIND_KEPT)
			known |= 1u << i;
	}
	if (!read_word(walk, cfa + row->return_offset, &address))
		return UNWIND_END_COPY;
	memcpy(walk->registers, values, sizeof(values));
	walk->known = known;
	return go_to(walk, address, cfa);
}

static void begin(struct walk *walk, const struct event_stack_copy *copy)
{
	*walk = (struct walk){.copy = copy, .known = ~0u, .is_exact = true};
	walk->address = copy->address;
	memcpy(walk->registers, copy->saved, sizeof(copy->saved));
	walk->registers[UNWIND_RSP] = copy->stack_pointer;
}

/* How many addresses a walk by frame pointers has found when it comes to this frame. */
static uint32_t count_by_pointers(const struct walk *walk)
{
	uint64_t at = walk->copy->saved[UNWIND_RBP], next;
	uint32_t count = 1;

	if (!is_known(walk, UNWIND_RBP))
		return 0;
	while (at != walk->registers[UNWIND_RBP]) {
		if (count == STACK_ADDRESSES || !read_word(walk, at, &next) || next <= at)
			return 0;
		at = next;
		count++;
	}
	return count;
}

void unwind__walk(struct unwound *unwound, const struct event_stack_copy *copy,
		  struct unwind_tables *tables, const struct modules *modules,
		  struct mappings *mappings)
{
	struct walk walk;
	int end = -1;

	begin(&walk, copy);
	unwound->count = unwound->by_pointers = 0;
	while (end < 0) {
		const struct unwind_row *row;
		uint64_t in_module;
		uint32_t module =
			mappings__find(mappings, walk.address - !walk.is_exact, &in_module);

		/* What is no code was never returned to; and of a process that is gone nothing is
		 * known. */
		if (!module) {
			end = UNWIND_END_UNKNOWN;
			break;
		}
		if (unwound->count == UNWIND_FRAMES) {
			end = UNWIND_END_FRAMES;
			break;
		}
		unwound->addresses[unwound->count++] = walk.address;
		row = module ? unwind_tables__row(tables, modules, module, in_module) : NULL;
		end = row ? step_by_rule(&walk, row) : step_by_pointer(&walk);
	}
	unwound->end = end;
	if (end == UNWIND_END_COPY)
		unwound->by_pointers = count_by_pointers(&walk);
}
