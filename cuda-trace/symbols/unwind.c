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
#define SIGNAL_R12  72
#define SIGNAL_RBP  120
#define SIGNAL_RBX  128
#define SIGNAL_RSP  160
#define SIGNAL_RIP  168

#define FROM_LAUNCH UINT32_MAX
#define FROM_TRACE  (UINT32_MAX - 1)

struct walk {
	const struct event_stack_copy *copy;
	uint64_t address;
	uint64_t registers[UNWIND_REGISTERS];
	uint32_t known; /* bits: registers */
	/* Where each value comes from: a place in the copy; FROM_LAUNCH, or FROM_TRACE = it is in
	 * the trace already. */
	uint32_t origins[UNWIND_REGISTERS];
	struct unwind_trace *trace;
	bool is_exact; /* `address` is where the function is, not where a call goes on */
};

static bool read_word(const struct walk *walk, uint64_t from, uint64_t *value)
{
	uint64_t within = from - walk->copy->stack_pointer;

	if (within >= walk->copy->bytes || walk->copy->bytes - within < sizeof(*value))
		return false;
	memcpy(value, walk->copy->stack + within, sizeof(*value));
	return true;
}

/* The result depends on that word, which was read. */
static void depend_on(struct walk *walk, uint32_t offset)
{
	struct unwind_trace *trace = walk->trace;

	if (trace->count == UNWIND_READS_MAX)
		return;
	trace->offsets[trace->count] = offset;
	memcpy(&trace->values[trace->count++], walk->copy->stack + offset, sizeof(uint64_t));
}

/* The same for a word of the copy that decides where the walk goes on. */
static bool follow_word(struct walk *walk, uint64_t from, uint64_t *value)
{
	if (!read_word(walk, from, value))
		return false;
	depend_on(walk, from - walk->copy->stack_pointer);
	return true;
}

/* False: the register's value is not known. Else the result depends on it. */
static bool use(struct walk *walk, unsigned int name)
{
	if (!(walk->known >> name & 1))
		return false;
	if (walk->origins[name] == FROM_LAUNCH)
		walk->trace->used |= 1u << name;
	else if (walk->origins[name] != FROM_TRACE)
		depend_on(walk, walk->origins[name]);
	walk->origins[name] = FROM_TRACE;
	return true;
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

	if (!use(walk, UNWIND_RBP) || at < walk->registers[UNWIND_RSP])
		return UNWIND_END_UNKNOWN;
	if (!read_word(walk, at, &next) || !follow_word(walk, at + 8, &address))
		return UNWIND_END_COPY;
	walk->registers[UNWIND_RBP] = next;
	walk->origins[UNWIND_RBP] = at - walk->copy->stack_pointer;
	return go_to(walk, address, at + 16);
}

static int step_by_signal(struct walk *walk)
{
	uint64_t at = walk->registers[UNWIND_RSP], address, pointer, values[UNWIND_SAVED];

	if (!follow_word(walk, at + SIGNAL_RIP, &address) ||
	    !follow_word(walk, at + SIGNAL_RSP, &pointer) ||
	    !follow_word(walk, at + SIGNAL_RBX, &values[UNWIND_RBX]) ||
	    !follow_word(walk, at + SIGNAL_RBP, &values[UNWIND_RBP]))
		return UNWIND_END_COPY;
	for (int i = 0; i < 4; i++)
		if (!follow_word(walk, at + SIGNAL_R12 + 8 * i, &values[UNWIND_R12 + i]))
			return UNWIND_END_COPY;
	memcpy(walk->registers, values, sizeof(values));
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		walk->origins[i] = FROM_TRACE;
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
	uint64_t from;
	uint32_t known = walk->known, origins[UNWIND_SAVED];

	if (row->rule == UNWIND_OUTERMOST)
		return UNWIND_END_COMPLETE;
	if (row->rule == UNWIND_SIGNAL)
		return step_by_signal(walk);
	if (!use(walk, row->base))
		return UNWIND_END_UNKNOWN;
	if (row->rule == UNWIND_POINTED && !follow_word(walk, cfa, &cfa))
		return UNWIND_END_COPY;
	from = row->rule == UNWIND_POINTED ? walk->registers[row->base] : cfa;
	memcpy(values, walk->registers, sizeof(values));
	memcpy(origins, walk->origins, sizeof(origins));
	for (int i = 0; i < UNWIND_SAVED; i++) {
		if (row->saved[i] == UNWIND_LOST)
			known &= ~(1u << i);
		if (row->saved[i] == UNWIND_LOST || row->saved[i] == UNWIND_KEPT)
			continue;
		if (!read_word(walk, from + row->saved[i], &values[i]))
			return UNWIND_END_COPY;
		known |= 1u << i;
		origins[i] = from + row->saved[i] - walk->copy->stack_pointer;
	}
	if (!follow_word(walk, cfa + row->return_offset, &address))
		return UNWIND_END_COPY;
	memcpy(walk->registers, values, sizeof(values));
	memcpy(walk->origins, origins, sizeof(origins));
	walk->known = known;
	return go_to(walk, address, cfa);
}

static void begin(struct walk *walk, const struct event_stack_copy *copy,
		  struct unwind_trace *trace)
{
	*walk = (struct walk){.copy = copy, .known = ~0u, .is_exact = true, .trace = trace};
	trace->used = trace->count = 0;
	for (int i = 0; i < UNWIND_SAVED; i++)
		walk->origins[i] = FROM_LAUNCH;
	walk->origins[UNWIND_RSP] = FROM_TRACE;
	walk->address = copy->address;
	memcpy(walk->registers, copy->saved, sizeof(copy->saved));
	walk->registers[UNWIND_RSP] = copy->stack_pointer;
}

/* How many addresses a walk by frame pointers has found when it comes to this frame. */
static uint32_t count_by_pointers(const struct walk *walk)
{
	uint64_t at = walk->copy->saved[UNWIND_RBP], next;
	uint32_t count = 1;

	if (!(walk->known >> UNWIND_RBP & 1))
		return 0;
	while (at != walk->registers[UNWIND_RBP]) {
		if (count == STACK_ADDRESSES || !read_word(walk, at, &next) || next <= at)
			return 0;
		at = next;
		count++;
	}
	return count;
}

struct guess {
	const struct event_stack_copy *copy;
	const struct mappings *mappings;
	uint32_t module, offset;
};

/* Words of the stack that lie in that module: most of them are where its functions' calls go on. */
static bool next_guess(void *context, uint32_t module, uint64_t *address)
{
	struct guess *guess = context;
	uint64_t word;

	if (guess->module != module)
		guess->offset = 0;
	guess->module = module;
	while (guess->copy->bytes - guess->offset >= sizeof(word) &&
	       guess->offset < guess->copy->bytes) {
		memcpy(&word, guess->copy->stack + guess->offset, sizeof(word));
		guess->offset += sizeof(word);
		if (mappings__is_in(guess->mappings, module, word - 1, address))
			return true;
	}
	return false;
}

void unwind__walk(struct unwound *unwound, struct unwind_trace *trace,
		  const struct event_stack_copy *copy, struct unwind_tables *tables,
		  const struct modules *modules, struct mappings *mappings)
{
	struct guess guess = {.copy = copy, .mappings = mappings};
	struct walk walk;
	int end = -1;

	unwind_tables__guess(tables, next_guess, &guess);
	begin(&walk, copy, trace);
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
		row = unwind_tables__row(tables, modules, module, in_module);
		end = row ? step_by_rule(&walk, row) : step_by_pointer(&walk);
	}
	unwind_tables__guess(tables, NULL, NULL);
	unwound->end = end;
	if (end == UNWIND_END_COPY)
		unwound->by_pointers = count_by_pointers(&walk);
}
