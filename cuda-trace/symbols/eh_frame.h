/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the unwind tables (.eh_frame, found through .eh_frame_hdr) of an x86-64 ELF file. The file
 * is untrusted: this runs in the process without privileges.
 */
#ifndef CUDA_TRACE_SYMBOLS_EH_FRAME_H
#define CUDA_TRACE_SYMBOLS_EH_FRAME_H

#include <stdint.h>

/* Registers that a call preserves, in this order everywhere. */
enum unwind_register {
	UNWIND_RBX,
	UNWIND_RBP,
	UNWIND_R12,
	UNWIND_R13,
	UNWIND_R14,
	UNWIND_R15,
	UNWIND_SAVED, /* so many of them may be saved by a frame */
	UNWIND_RSP = UNWIND_SAVED,
	UNWIND_REGISTERS
};

/* How to find the frame's canonical frame address (CFA): the stack pointer before the call. */
enum unwind_rule {
	UNWIND_NONE,	/* unknown, or no rule that is understood */
	UNWIND_OFFSET,	/* base + cfa_offset */
	UNWIND_POINTED, /* the word at base + cfa_offset */
	UNWIND_OUTERMOST,
	UNWIND_SIGNAL, /* the frame of a signal handler's return: the registers lie in a ucontext */
	UNWIND_RULES
};

#define UNWIND_KEPT INT16_MIN	    /* in `saved`: the register still has its value */
#define UNWIND_LOST (INT16_MIN + 1) /* it cannot be known */

/* Holds from `start` to the next row's. */
struct unwind_row {
	uint32_t start; /* bytes from struct unwind_range's `first` */
	int32_t cfa_offset;
	uint8_t rule;		     /* enum unwind_rule */
	uint8_t base;		     /* enum unwind_register */
	int16_t return_offset;	     /* the return address lies at CFA + this */
	int16_t saved[UNWIND_SAVED]; /* bytes from the CFA, of UNWIND_POINTED from the base
					register; or UNWIND_KEPT, UNWIND_LOST */
};

#define UNWIND_ROWS_MAX 65536

/* Begins the answer; the rows follow, by start. Addresses are those of the ELF file. */
struct unwind_range {
	uint64_t start, end; /* all rules for addresses in between are here */
	uint64_t first;
	uint32_t rows, unused;
};

struct foreign_output;

/* Addresses of one file, the first of which is needed, and the others may be. */
#define UNWIND_WANTED 64
struct unwind_wanted {
	uint32_t count;
	uint64_t addresses[UNWIND_WANTED];
};

/* `argument` points to a struct unwind_wanted. The answer has a range with its rows for the first,
 * and for each other address that is in no range before, as far as they fit. */
int eh_frame__send_all(int fd, uint64_t size, const void *argument, struct foreign_output *output);
/* `argument` points to the address (uint64_t) around which rules are wanted. 0; -ENOENT: the file
 * has no such tables; or -errno as of foreign_elf.h. */
int eh_frame__send(int fd, uint64_t size, const void *argument, struct foreign_output *output);

#endif
