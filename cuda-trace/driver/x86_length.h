/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The length of an x86-64 instruction, and where execution continues: only for instructions that
 * compilers generate for ordinary C. All others are refused.
 */
#ifndef CUDA_TRACE_DRIVER_X86_LENGTH_H
#define CUDA_TRACE_DRIVER_X86_LENGTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_flow {
	X86_ON,	    /* to the next instruction, after a call, too */
	X86_BRANCH, /* to the next one or to the target */
	X86_JUMP,   /* to the target */
	X86_RETURN,
	X86_AWAY, /* to an unknown place: an indirect jump, a trap */
};

struct x86_instruction {
	uint8_t length;
	enum x86_flow flow;
	bool call;
	uint8_t opcode;	  /* its last byte */
	bool two_bytes;	  /* of opcode: after 0f */
	bool operand_16;  /* has the prefix 66 */
	uint8_t rex;	  /* 0 = none */
	uint8_t modrm;	  /* 0 if it has none */
	int32_t distance; /* of the target of a branch, a jump, a direct call, from its end */
};

/* False: not known, or it does not end within `size` bytes. */
bool x86__decode(const uint8_t *code, size_t size, struct x86_instruction *found);

#endif
