// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call frame instructions, see the DWARF 5 standard, section 6.4.2. Each takes at least one byte,
 * so that a program ends; what is not understood becomes "no rule", and never a guess.
 */
#include "cuda-trace/symbols/cfa_program.h"

#include <string.h>

/* Registers as DWARF numbers them; UNWIND_REGISTERS = one that no call preserves. */
static enum unwind_register register_of(uint64_t number)
{
	switch (number) {
	case 3:
		return UNWIND_RBX;
	case 6:
		return UNWIND_RBP;
	case 7:
		return UNWIND_RSP;
	case 12:
	case 13:
	case 14:
	case 15:
		return UNWIND_R12 + (number - 12);
	}
	return UNWIND_REGISTERS;
}

static void set_cfa(struct cfa_state *state, enum unwind_rule rule, uint64_t base, int64_t offset)
{
	enum unwind_register name = register_of(base);

	state->rule.rule = UNWIND_NONE;
	state->rule.base = name < UNWIND_REGISTERS ? name : 0;
	state->rule.cfa_offset = offset;
	if (name < UNWIND_REGISTERS && offset == state->rule.cfa_offset)
		state->rule.rule = rule;
}

/* A register is saved at that distance from the CFA; UNWIND_LOST = where is not known. */
static void set_saved(struct cfa_state *state, uint64_t number, int64_t offset)
{
	enum unwind_register name = register_of(number);
	bool fits = offset > UNWIND_LOST && offset <= INT16_MAX;

	if (number == CFA_RETURN_ADDRESS) {
		state->return_undefined = false;
		state->return_lost = !fits;
		state->rule.return_offset = fits ? offset : 0;
	} else if (name < UNWIND_SAVED) {
		state->rule.saved[name] = fits || offset == UNWIND_KEPT ? offset : UNWIND_LOST;
		state->by_pointer &= ~(1u << name);
	}
}

static void restore(struct cfa_program *program, uint64_t number)
{
	enum unwind_register name = register_of(number);

	if (number == CFA_RETURN_ADDRESS) {
		program->state.return_undefined = program->initial.return_undefined;
		program->state.return_lost = program->initial.return_lost;
		program->state.rule.return_offset = program->initial.rule.return_offset;
	} else if (name < UNWIND_SAVED) {
		program->state.rule.saved[name] = program->initial.rule.saved[name];
		program->state.by_pointer &= ~(1u << name);
		program->state.by_pointer |= program->initial.by_pointer & 1u << name;
	}
}

/* In a row, places are relative to the CFA; where that is pointed to, to the base register. */
static int64_t place_of(const struct cfa_state *state, unsigned int name)
{
	const struct unwind_row *rule = &state->rule;
	int64_t offset = rule->saved[name];

	if (offset == UNWIND_KEPT || offset == UNWIND_LOST)
		return offset;
	if (!(state->by_pointer >> name & 1))
		return rule->rule == UNWIND_POINTED ? UNWIND_LOST : offset;
	if (rule->base != UNWIND_RBP)
		return UNWIND_LOST;
	if (rule->rule != UNWIND_POINTED)
		offset -= rule->cfa_offset;
	return offset > UNWIND_LOST && offset <= INT16_MAX ? offset : UNWIND_LOST;
}

bool cfa_program__put(const struct cfa_program *program)
{
	struct unwind_row rule = program->state.rule;

	for (unsigned int i = 0; i < UNWIND_SAVED; i++)
		rule.saved[i] = place_of(&program->state, i);
	if (program->is_signal)
		rule.rule = UNWIND_SIGNAL;
	else if (program->state.return_undefined)
		rule.rule = UNWIND_OUTERMOST;
	else if (program->state.return_lost)
		rule.rule = UNWIND_NONE;
	return program->put(program->context, &rule, program->address);
}

/* The rule so far holds up to there. A common entry's rules are for no address. */
static bool advance(struct cfa_program *program, uint64_t by)
{
	uint64_t to = program->address + by * program->code_alignment;

	if (!program->put || to < program->address || to > program->end)
		return false;
	if (to > program->address && !cfa_program__put(program))
		return false;
	program->address = to;
	return true;
}

/* base + offset, dereferenced: functions that align their stack. Others are not understood. */
static bool run_expression(struct cfa_program *program, struct dwarf_cursor *cursor)
{
	struct dwarf_cursor inner;
	uint64_t size, base;
	int64_t offset;

	if (!dwarf_cursor__unsigned(cursor, &size) || size > (size_t)(cursor->end - cursor->at))
		return false;
	inner = (struct dwarf_cursor){cursor->at, cursor->at + size, 0};
	cursor->at += size;
	program->state.rule.rule = UNWIND_NONE;
	if (!size || *inner.at < 0x70 || *inner.at > 0x8f) /* DW_OP_breg0 to 31 */
		return true;
	base = *inner.at++ - 0x70;
	if (dwarf_cursor__signed(&inner, &offset) && inner.end - inner.at == 1 && *inner.at == 6)
		set_cfa(&program->state, UNWIND_POINTED, base, offset);
	return true;
}

/* A register's place: rbp + offset, in functions that align their stack. Others are not understood,
 * nor are values instead of places. */
static bool run_saved_expression(struct cfa_program *program, struct dwarf_cursor *cursor,
				 uint64_t number, bool is_place)
{
	enum unwind_register name = register_of(number);
	struct dwarf_cursor inner;
	uint64_t size;
	int64_t offset;

	if (!dwarf_cursor__unsigned(cursor, &size) || size > (size_t)(cursor->end - cursor->at))
		return false;
	inner = (struct dwarf_cursor){cursor->at, cursor->at + size, 0};
	cursor->at += size;
	set_saved(&program->state, number, UNWIND_LOST);
	if (!is_place || name >= UNWIND_SAVED || !size || *inner.at != 0x76) /* DW_OP_breg6 */
		return true;
	inner.at++;
	if (!dwarf_cursor__signed(&inner, &offset) || inner.at != inner.end)
		return true;
	set_saved(&program->state, number, offset);
	program->state.by_pointer |= 1u << name;
	return true;
}

/* Those that say where a register is saved. */
static bool run_register(struct cfa_program *program, struct dwarf_cursor *cursor, uint8_t code)
{
	uint64_t number, plain = 0;
	int64_t offset = 0;

	if (!dwarf_cursor__unsigned(cursor, &number))
		return false;
	switch (code) {
	case 0x05: /* DW_CFA_offset_extended */
	case 0x2f: /* DW_CFA_GNU_negative_offset_extended */
		if (!dwarf_cursor__unsigned(cursor, &plain) || plain > INT16_MAX)
			return false;
		offset = (int64_t)plain * program->data_alignment;
		set_saved(&program->state, number, code == 0x05 ? offset : -offset);
		return true;
	case 0x11: /* DW_CFA_offset_extended_sf */
		if (!dwarf_cursor__signed(cursor, &offset) || offset > INT16_MAX ||
		    offset < INT16_MIN)
			return false;
		set_saved(&program->state, number, offset * program->data_alignment);
		return true;
	case 0x06: /* DW_CFA_restore_extended */
		restore(program, number);
		return true;
	case 0x07: /* DW_CFA_undefined */
		program->state.return_undefined |= number == CFA_RETURN_ADDRESS;
		if (number != CFA_RETURN_ADDRESS)
			set_saved(&program->state, number, UNWIND_LOST);
		return true;
	case 0x08: /* DW_CFA_same_value */
		set_saved(&program->state, number, UNWIND_KEPT);
		return true;
	case 0x09: /* DW_CFA_register */
	case 0x14: /* DW_CFA_val_offset */
		set_saved(&program->state, number, UNWIND_LOST);
		return dwarf_cursor__unsigned(cursor, &plain);
	case 0x15: /* DW_CFA_val_offset_sf */
		set_saved(&program->state, number, UNWIND_LOST);
		return dwarf_cursor__signed(cursor, &offset);
	case 0x10: /* DW_CFA_expression */
	case 0x16: /* DW_CFA_val_expression */
		return run_saved_expression(program, cursor, number, code == 0x10);
	}
	return false;
}

static bool run_cfa(struct cfa_program *program, struct dwarf_cursor *cursor, uint8_t code)
{
	struct cfa_state *state = &program->state;
	static const uint8_t numbers[UNWIND_REGISTERS] = {3, 6, 12, 13, 14, 15, 7};
	uint64_t base = numbers[state->rule.base], plain;
	int64_t offset = state->rule.cfa_offset;
	bool known = state->rule.rule == UNWIND_OFFSET;

	switch (code) {
	case 0x0c: /* DW_CFA_def_cfa */
	case 0x0e: /* DW_CFA_def_cfa_offset */
		if (code == 0x0c && !dwarf_cursor__unsigned(cursor, &base))
			return false;
		if (!dwarf_cursor__unsigned(cursor, &plain))
			return false;
		offset = plain > INT32_MAX ? INT64_MAX : (int64_t)plain;
		break;
	case 0x0d: /* DW_CFA_def_cfa_register */
		if (!dwarf_cursor__unsigned(cursor, &base))
			return false;
		break;
	case 0x12: /* DW_CFA_def_cfa_sf */
	case 0x13: /* DW_CFA_def_cfa_offset_sf */
		if (code == 0x12 && !dwarf_cursor__unsigned(cursor, &base))
			return false;
		if (!dwarf_cursor__signed(cursor, &offset) || offset > INT32_MAX ||
		    offset < INT32_MIN)
			return false;
		offset *= program->data_alignment;
		break;
	default:
		return false;
	}
	/* An offset to a register that was none of ours. */
	if ((code == 0x0e || code == 0x13) && !known)
		return true;
	set_cfa(state, UNWIND_OFFSET, base, offset);
	return true;
}

static bool run_location(struct cfa_program *program, struct dwarf_cursor *cursor, uint8_t code)
{
	size_t size = code == 0x02 ? 1 : code == 0x03 ? 2 : 4; /* DW_CFA_advance_loc1, 2, 4 */
	uint32_t by = 0;

	if ((size_t)(cursor->end - cursor->at) < size)
		return false;
	memcpy(&by, cursor->at, size);
	cursor->at += size;
	return advance(program, by);
}

static bool run_state(struct cfa_program *program, uint8_t code)
{
	if (code == 0x0a) { /* DW_CFA_remember_state */
		if (program->depth == CFA_STATES_MAX)
			return false;
		program->remembered[program->depth++] = program->state;
		return true;
	}
	if (!program->depth)
		return false;
	program->state = program->remembered[--program->depth];
	return true;
}

static bool run_extended(struct cfa_program *program, struct dwarf_cursor *cursor, uint8_t code)
{
	uint64_t unused;

	switch (code) {
	case 0x00: /* DW_CFA_nop */
		return true;
	case 0x02:
	case 0x03:
	case 0x04:
		return run_location(program, cursor, code);
	case 0x0a:
	case 0x0b: /* DW_CFA_restore_state */
		return run_state(program, code);
	case 0x0f: /* DW_CFA_def_cfa_expression */
		return run_expression(program, cursor);
	case 0x2e: /* DW_CFA_GNU_args_size */
		return dwarf_cursor__unsigned(cursor, &unused);
	}
	return code >= 0x0c && code <= 0x13 && code != 0x10 && code != 0x11
		       ? run_cfa(program, cursor, code)
		       : run_register(program, cursor, code);
}

bool cfa_program__run(struct cfa_program *program, struct dwarf_cursor *cursor)
{
	uint64_t factor;

	while (cursor->at < cursor->end) {
		uint8_t code = *cursor->at++, low = code & 0x3f;
		bool fine = true;

		if (code >> 6 == 1) { /* DW_CFA_advance_loc */
			fine = advance(program, low);
		} else if (code >> 6 == 2) { /* DW_CFA_offset */
			fine = dwarf_cursor__unsigned(cursor, &factor) && factor <= INT16_MAX;
			if (fine)
				set_saved(&program->state, low,
					  (int64_t)factor * program->data_alignment);
		} else if (code >> 6 == 3) { /* DW_CFA_restore */
			restore(program, low);
		} else {
			fine = run_extended(program, cursor, code);
		}
		if (!fine)
			return false;
	}
	return true;
}

void cfa_program__begin(struct cfa_program *program)
{
	*program = (struct cfa_program){0};
	for (int i = 0; i < UNWIND_SAVED; i++)
		program->state.rule.saved[i] = UNWIND_KEPT;
	program->state.rule.return_offset = -8;
}
