// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lengths as "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2, chapter 2
 * and appendix A, has them. A wrong length would put a breakpoint inside an instruction of the
 * traced program. So what is not certain is refused (VEX, EVEX, far jumps, opcodes that 64-bit mode
 * lacks), and tests/driver/driver.bats compares all else with objdump.
 */
#include "cuda-trace/driver/x86_length.h"

#include <string.h>

/* What follows an opcode. */
enum {
	M = 1,	  /* a ModRM byte, and what that asks for */
	I1 = 2,	  /* one byte */
	I4 = 4,	  /* four; two after 66 */
	NONE = 8, /* nothing, and it is known */
	BAD = 0,
};

struct reader {
	const uint8_t *code;
	size_t size, at;
};

static int next(struct reader *reader)
{
	return reader->at < reader->size ? reader->code[reader->at++] : -1;
}

/* 00 to 3f: eight operations of eight opcodes each. */
static int after_arithmetic(uint8_t opcode)
{
	switch (opcode & 7) {
	case 0 ... 3:
		return M;
	case 4:
		return I1;
	case 5:
		return I4;
	}
	return BAD;
}

static int after(uint8_t opcode)
{
	switch (opcode) {
	case 0x00 ... 0x3f:
		return after_arithmetic(opcode);
	case 0x63:
	case 0x84 ... 0x8b:
	case 0x8d:
	case 0xd0 ... 0xd3:
	case 0xf6 ... 0xf7: /* some have more: see below */
	case 0xfe ... 0xff:
		return M;
	case 0x6a:
	case 0x70 ... 0x7f:
	case 0xa8:
	case 0xb0 ... 0xb7:
	case 0xeb:
		return I1;
	case 0x68:
	case 0xa9:
	case 0xb8 ... 0xbf:
	case 0xe8 ... 0xe9:
		return I4;
	case 0x69:
	case 0x81:
	case 0xc7:
		return M | I4;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0 ... 0xc1:
	case 0xc6:
		return M | I1;
	case 0x50 ... 0x5f:
	case 0x90 ... 0x99:
	case 0xa4 ... 0xa5:
	case 0xaa ... 0xab:
	case 0xc3:
	case 0xc9:
	case 0xcc:
		return NONE;
	}
	return BAD;
}

static int after_0f(uint8_t opcode)
{
	switch (opcode) {
	case 0x0b:
	case 0x31:
	case 0xa2:
	case 0xc8 ... 0xcf:
		return NONE;
	case 0x80 ... 0x8f:
		return I4;
	case 0x70 ... 0x73:
	case 0xa4:
	case 0xac:
	case 0xba:
	case 0xc2:
	case 0xc4 ... 0xc6:
		return M | I1;
	case 0x10 ... 0x1f:
	case 0x28 ... 0x2f:
	case 0x40 ... 0x6f:
	case 0x74 ... 0x76:
	case 0x7c ... 0x7f:
	case 0x90 ... 0x9f:
	case 0xa3:
	case 0xa5:
	case 0xab:
	case 0xad ... 0xb1:
	case 0xb3:
	case 0xb6 ... 0xb7:
	case 0xbb ... 0xc1:
	case 0xc3:
	case 0xc7:
	case 0xd0 ... 0xfe:
		return M;
	}
	return BAD;
}

/* Bytes behind a ModRM byte: SIB and displacement. */
static size_t address_bytes(const struct reader *reader, uint8_t modrm)
{
	uint8_t mode = modrm >> 6, base = modrm & 7;
	size_t sib = mode != 3 && base == 4;

	if (mode == 3)
		return 0;
	if (sib && reader->at < reader->size)
		base = reader->code[reader->at] & 7;
	if (mode == 1)
		return sib + 1;
	return sib + (mode == 2 || base == 5 ? 4 : 0);
}

/* Prefixes, REX and opcode. */
static bool read_opcode(struct reader *reader, struct x86_instruction *found)
{
	int byte;

	for (;;) {
		byte = next(reader);
		if (byte == 0x66)
			found->operand_16 = true;
		else if (byte != 0x2e && byte != 0x3e && byte != 0x64 && byte != 0x65 &&
			 byte != 0xf0 && byte != 0xf2 && byte != 0xf3)
			break;
	}
	if (byte >= 0x40 && byte <= 0x4f) {
		found->rex = byte;
		byte = next(reader);
	}
	if (byte == 0x0f) {
		found->two_bytes = true;
		byte = next(reader);
	}
	found->opcode = byte;
	return byte >= 0;
}

static size_t immediate_bytes(const struct x86_instruction *found, int what)
{
	bool wide = found->rex & 8;

	if (found->two_bytes)
		return what & I1 ? 1 : what & I4 ? 4 : 0;
	/* test, and not what else shares the opcode. */
	if (found->opcode == 0xf6 && !(found->modrm & 0x30))
		return 1;
	if (found->opcode == 0xf7 && !(found->modrm & 0x30))
		what |= I4;
	if (what & I1)
		return 1;
	if (!(what & I4))
		return 0;
	if (found->opcode >= 0xb8 && found->opcode <= 0xbf && wide)
		return 8;
	return found->operand_16 && !wide ? 2 : 4;
}

static bool is_transfer(const struct x86_instruction *found)
{
	if (found->two_bytes)
		return found->opcode >= 0x80 && found->opcode <= 0x8f;
	return (found->opcode >= 0x70 && found->opcode <= 0x7f) || found->opcode == 0xe8 ||
	       found->opcode == 0xe9 || found->opcode == 0xeb;
}

/* False: what it does is not known. */
static bool find_flow(struct x86_instruction *found)
{
	uint8_t what = found->modrm >> 3 & 7;

	if (is_transfer(found)) {
		found->call = found->opcode == 0xe8 && !found->two_bytes;
		found->flow = found->two_bytes || found->opcode < 0x80 ? X86_BRANCH
			      : found->call			       ? X86_ON
								       : X86_JUMP;
		return !found->operand_16; /* processors differ */
	}
	if (found->two_bytes) {
		found->flow = found->opcode == 0x0b ? X86_AWAY : X86_ON;
		return true;
	}
	if (found->opcode == 0xc3 || found->opcode == 0xcc) {
		found->flow = found->opcode == 0xc3 ? X86_RETURN : X86_AWAY;
		return true;
	}
	if (found->opcode == 0xff) {
		found->call = what == 2;
		found->flow = what == 4 ? X86_AWAY : X86_ON;
		return what != 3 && what != 5 && what != 7;
	}
	if (found->opcode == 0xfe || found->opcode == 0xc6 || found->opcode == 0xc7)
		return what < (found->opcode == 0xfe ? 2 : 1);
	return true;
}

bool x86__decode(const uint8_t *code, size_t size, struct x86_instruction *found)
{
	struct reader reader = {code, size, 0};
	size_t immediate;
	int what;

	memset(found, 0, sizeof(*found));
	if (!read_opcode(&reader, found))
		return false;
	what = found->two_bytes ? after_0f(found->opcode) : after(found->opcode);
	if (what == BAD)
		return false;
	if (what & M) {
		int modrm = next(&reader);

		if (modrm < 0)
			return false;
		found->modrm = modrm;
		reader.at += address_bytes(&reader, modrm);
	}
	immediate = immediate_bytes(found, what);
	reader.at += immediate;
	if (reader.at > size || reader.at > 15 || !find_flow(found))
		return false;
	found->length = reader.at;
	if (is_transfer(found) && immediate == 1)
		found->distance = (int8_t)code[reader.at - 1];
	else if (is_transfer(found))
		memcpy(&found->distance, code + reader.at - 4, 4);
	return true;
}
