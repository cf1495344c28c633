// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions of libcuda's API are wrappers that the compiler generated from one template: they
 * call what does the work, keep its result, and report it if it is neither success nor a code that
 * is no error:
 *
 *	call …; mov %eax,%r12d; test %eax,%eax; je out; cmp $600,%eax   ← here comes what fails
 *	…
 *	mov $4,%r12d; …; ret                                            ← and here, with 4, at exit
 *
 * What can go wrong: a probe that is not where an instruction begins breaks the traced program, and
 * a failure whose path has no probe is reported as a success. So every path through the function is
 * followed, with what is known of its registers: each return value must be zero, or its path must
 * lead through a place that was found. If an instruction is not understood, the function gets no
 * probes.
 */
#include "cuda-trace/driver/driver_failures.h"

#include <stdbool.h>
#include <string.h>
#include "cuda-trace/driver/x86_length.h"

#define MAX_BYTES  1024
#define MAX_STATES 1024
#define NOT_READY  600 /* CUDA_ERROR_NOT_READY */
#define MAX_RESULT 999 /* CUDA_ERROR_UNKNOWN */

enum { RAX = 0, RBX = 3, RSP = 4, RBP = 5, R12 = 12 };

/* What a register holds: a value has the number of the instruction that made it. */
enum { UNKNOWN = 0, ZERO = 1, RESULT = 0x8000, CONSTANT = 0x4000 };

/* What is known when a path has come to an instruction. */
struct state {
	uint16_t at;
	uint16_t registers[16];
	uint16_t tested;  /* by the instruction before: zero or not? */
	uint16_t nonzero; /* is not zero, as was tested */
	uint16_t passed;  /* the value with which the path came by a place; 0 = by none */
};

struct search {
	const uint8_t *code;
	uint32_t size;
	struct driver_failure *found;
	uint32_t count;
	struct state
		states[MAX_STATES]; /* all that were met; the first `done` have been followed */
	uint32_t done, met;
	bool begins[MAX_BYTES]; /* an instruction, when read from the first to the last byte */
};

/* Reads on from one instruction to the next, as a disassembler does, and where they jump. */
static bool find_beginnings(struct search *search)
{
	struct x86_instruction instruction;
	uint32_t at;

	for (at = 0; at < search->size; at += instruction.length) {
		if (!x86__decode(search->code + at, search->size - at, &instruction))
			return false;
		search->begins[at] = true;
	}
	for (at = 0; at < search->size; at += instruction.length) {
		int64_t target;

		x86__decode(search->code + at, search->size - at, &instruction);
		target = (int64_t)at + instruction.length + instruction.distance;
		if ((instruction.flow == X86_BRANCH || instruction.flow == X86_JUMP) &&
		    (target < 0 || target >= search->size || !search->begins[target]))
			return false;
	}
	return true;
}

static bool meet(struct search *search, const struct state *state, int64_t at)
{
	struct state next = *state;

	if (at < 0 || at >= search->size || !search->begins[at])
		return false;
	next.at = at;
	for (uint32_t i = 0; i < search->met; i++)
		if (!memcmp(&search->states[i], &next, sizeof(next)))
			return true;
	if (search->met == MAX_STATES)
		return false;
	search->states[search->met++] = next;
	return true;
}

static bool add_place(struct search *search, uint32_t at, uint16_t result)
{
	for (uint32_t i = 0; i < search->count; i++)
		if (search->found[i].at == at)
			return true;
	if (search->count == DRIVER_FAILURES_MAX)
		return false;
	search->found[search->count++] = (struct driver_failure){at, result};
	return true;
}

static bool is_kept_by_calls(int r)
{
	return r == RBX || r == RSP || r == RBP || r >= R12;
}

static int register_of(const struct x86_instruction *instruction, bool second)
{
	return second ? (instruction->modrm & 7) | (instruction->rex & 1) << 3
		      : (instruction->modrm >> 3 & 7) | (instruction->rex & 4) << 1;
}

static bool is_between_registers(const struct x86_instruction *instruction)
{
	return !instruction->two_bytes && !instruction->operand_16 && instruction->modrm >= 0xc0;
}

/* The 32 bits at an instruction's end. */
static uint32_t immediate(const struct search *search, const struct state *state,
			  const struct x86_instruction *instruction)
{
	uint32_t value;

	memcpy(&value, search->code + state->at + instruction->length - 4, 4);
	return value;
}

/* A value's last copy may outlive it in a loop: a call makes it anew. */
static void make(struct state *state, int r, uint16_t value)
{
	for (int i = 0; i < 16 && value != ZERO; i++)
		if (state->registers[i] == value)
			state->registers[i] = UNKNOWN;
	if (state->nonzero == value)
		state->nonzero = UNKNOWN;
	state->registers[r] = value;
}

/* What a register gets that somebody might return: then it is reported here. False: not understood.
 */
static bool load_constant(struct search *search, struct state *state, int r, uint32_t value)
{
	if (!value) {
		state->registers[r] = ZERO;
		return true;
	}
	if (state->passed || value > MAX_RESULT || (r != RAX && !is_kept_by_calls(r))) {
		state->registers[r] = UNKNOWN;
		return true;
	}
	make(state, r, CONSTANT | state->at);
	state->passed = CONSTANT | state->at;
	return add_place(search, state->at, value);
}

static bool pass_call(struct state *state)
{
	if (state->passed & CONSTANT)
		return false;
	for (int i = 0; i < 16; i++)
		if (!is_kept_by_calls(i))
			state->registers[i] = UNKNOWN;
	if (state->passed == (RESULT | state->at))
		return false; /* a loop: it was another result that was reported */
	make(state, RAX, RESULT | state->at);
	return true;
}

/* Which operand an instruction of one opcode byte writes. */
enum written { NOTHING, FIRST, SECOND, IN_OPCODE, WHO_KNOWS };

static enum written written_by(const struct x86_instruction *instruction)
{
	uint8_t opcode = instruction->opcode;

	switch (opcode) {
	case 0x38 ... 0x3d: /* cmp */
	case 0x84 ... 0x85: /* test */
	case 0x50 ... 0x57: /* push */
	case 0x68:
	case 0x6a:
	case 0xa8 ... 0xa9:
		return NOTHING;
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a ... 0x8b:
	case 0x8d:
		return FIRST;
	case 0x80 ... 0x83:
	case 0x88 ... 0x89:
	case 0xc0 ... 0xc1:
	case 0xc6 ... 0xc7:
	case 0xd0 ... 0xd3:
	case 0xfe ... 0xff:
		return SECOND;
	case 0x58 ... 0x5f: /* pop */
	case 0xb0 ... 0xbf: /* mov; of a byte, one of two registers */
		return IN_OPCODE;
	case 0xc9: /* leave: see below */
		return NOTHING;
	}
	if (opcode < 0x40 && (opcode & 7) < 4)
		return (opcode & 7) < 2 ? SECOND : FIRST;
	return WHO_KNOWS;
}

/* Without REX 4 to 7 may mean the second byte of 0 to 3. */
static void forget_register(struct state *state, const struct x86_instruction *instruction, int r)
{
	state->registers[r] = UNKNOWN;
	if (!instruction->rex)
		state->registers[r & 3] = UNKNOWN;
}

/* What it writes is not known any more. */
static void forget(struct state *state, const struct x86_instruction *instruction)
{
	static const uint8_t silent[] = {0, 1, 2, 3, 6, 7};
	int first = register_of(instruction, false), second = register_of(instruction, true);
	int in_opcode = (instruction->opcode & 7) | (instruction->rex & 1) << 3;
	enum written written = instruction->two_bytes ? WHO_KNOWS : written_by(instruction);

	if (instruction->two_bytes && (instruction->opcode & 0xfe) == 0x1e)
		return; /* nop */
	if (!instruction->two_bytes && instruction->opcode == 0xc9)
		state->registers[RBP] = UNKNOWN; /* leave */
	if (written == FIRST || written == WHO_KNOWS)
		forget_register(state, instruction, first);
	if ((written == SECOND && instruction->modrm >= 0xc0) || written == WHO_KNOWS)
		forget_register(state, instruction, second);
	if (written == IN_OPCODE || written == WHO_KNOWS)
		forget_register(state, instruction, in_opcode);
	for (size_t i = 0; i < sizeof(silent) && written == WHO_KNOWS; i++)
		state->registers[silent[i]] = UNKNOWN;
}

/* False: not understood. */
static bool change(struct search *search, struct state *state,
		   const struct x86_instruction *instruction)
{
	int from = register_of(instruction, false), to = register_of(instruction, true);
	bool plain = !instruction->two_bytes && !instruction->operand_16;
	uint8_t opcode = instruction->opcode;

	if (instruction->call)
		return pass_call(state);
	if (is_between_registers(instruction) && opcode == 0x89) {
		state->registers[to] = state->registers[from];
	} else if (is_between_registers(instruction) && opcode == 0x8b) {
		state->registers[from] = state->registers[to];
	} else if (is_between_registers(instruction) && opcode == 0x31 && from == to) {
		state->registers[to] = ZERO;
	} else if (is_between_registers(instruction) && opcode == 0x85 && from == to &&
		   !(instruction->rex & 8)) {
		state->tested = state->registers[to];
	} else if (plain && (opcode & 0xf8) == 0xb8 && !(instruction->rex & 8)) {
		return load_constant(search, state, (opcode & 7) | (instruction->rex & 1) << 3,
				     immediate(search, state, instruction));
	} else if (plain && opcode == 0x3d && !instruction->rex &&
		   immediate(search, state, instruction) == NOT_READY) {
		if (state->passed || !state->nonzero || state->registers[RAX] != state->nonzero)
			return false;
		state->passed = state->nonzero;
		return add_place(search, state->at, 0);
	} else {
		forget(state, instruction);
	}
	return true;
}

/* Both ways that a branch may take, with what was tested. */
static bool branch(struct search *search, const struct state *state,
		   const struct x86_instruction *instruction, int64_t next, uint16_t tested)
{
	uint8_t condition = instruction->opcode & 0xf;
	bool on_zero = condition == 4, on_other = condition == 5;
	struct state zero = *state, other = *state;

	if (!(tested & RESULT) || !(on_zero || on_other))
		return meet(search, state, next) &&
		       meet(search, state, next + instruction->distance);
	for (int i = 0; i < 16; i++)
		if (zero.registers[i] == tested)
			zero.registers[i] = ZERO;
	other.nonzero = tested;
	/* What was reported to have failed is not zero: no path leads there. */
	if (state->nonzero != tested &&
	    !meet(search, &zero, next + (on_zero ? instruction->distance : 0)))
		return false;
	return meet(search, &other, next + (on_other ? instruction->distance : 0));
}

static bool follow(struct search *search, struct state state)
{
	struct x86_instruction instruction;
	uint16_t tested = state.tested;
	int64_t next;

	x86__decode(search->code + state.at, search->size - state.at, &instruction);
	next = (int64_t)state.at + instruction.length;
	state.tested = UNKNOWN;
	switch (instruction.flow) {
	case X86_RETURN:
		return state.registers[RAX] == (state.passed ? state.passed : ZERO);
	case X86_JUMP:
		return meet(search, &state, next + instruction.distance);
	case X86_BRANCH:
		return branch(search, &state, &instruction, next, tested);
	case X86_ON:
		return change(search, &state, &instruction) && meet(search, &state, next);
	case X86_AWAY:
		break;
	}
	return false;
}

uint32_t driver_failures__find(const uint8_t *code, size_t size,
			       struct driver_failure found[DRIVER_FAILURES_MAX])
{
	static struct search search;

	memset(&search, 0, sizeof(search));
	search.code = code;
	search.size = size;
	search.found = found;
	if (!size || size > MAX_BYTES || !find_beginnings(&search))
		return 0;
	search.met = 1;
	while (search.done < search.met)
		if (!follow(&search, search.states[search.done++]))
			return 0;
	return search.count;
}
