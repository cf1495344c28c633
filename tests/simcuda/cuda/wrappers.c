// SPDX-License-Identifier: BSD-2-Clause
// What an exported function of the real libcuda is like (x86-64, 580.159.04): it asks whether the
// driver is still there, calls what does the work, and looks at a result that is none of success,
// not-ready and two more. Written for its shape only, which the driver source's probes depend on.
#include <stdint.h>
#include "tests/simcuda/cuda/driver.h"

#define ENDED	       0x321cba00
#define TEXT_OF(macro) #macro
#define TEXT(macro)    TEXT_OF(macro)

/* These are used below, by their names. */
extern int32_t wrapper__ended; /* ENDED once the driver is gone */
void wrapper__failed(int result);

int32_t wrapper__ended;

void wrapper__end(void)
{
	wrapper__ended = ENDED;
}

static void __attribute__((destructor)) end(void)
{
	wrapper__end();
}

#if defined(__x86_64__)

/* In the place of what writes into the driver's log. */
void wrapper__failed(int result)
{
	(void)result;
}

/* BEFORE puts arguments onto the stack, AFTER takes them off. */
#define WRAPPER(name, before, after)                                                             \
	__asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"  \
		"\t.cfi_startproc\n"                                                             \
		"\tpush %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset rbp, -16\n"                \
		"\tmov %rsp, %rbp\n\t.cfi_def_cfa_register rbp\n"                                \
		"\tpush %r12\n\tsub $8, %rsp\n\t.cfi_offset r12, -24\n"                          \
		"\tcmpl $" TEXT(ENDED) ", wrapper__ended(%rip)\n\tje 4f\n" before                \
				       "\tcall wrapped_" #name "\n\tmov %eax, %r12d\n" after     \
				       "\ttest %eax, %eax\n\tje 1f\n\tcmp $600, %eax\n\tje 1f\n" \
				       "\tlea -3(%rax), %eax\n\tcmp $1, %eax\n\tja 2f\n"         \
				       "1:\tmov %r12d, %eax\n\tmov -8(%rbp), %r12\n\tleave\n"    \
				       "\t.cfi_remember_state\n\t.cfi_def_cfa rsp, "             \
				       "8\n\tret\n\t.cfi_restore_state\n"                        \
				       "\t.p2align 3\n"                                          \
				       "2:\tmov %r12d, %edi\n\tcall wrapper__failed\n\tjmp 1b\n" \
				       "\t.p2align 3\n"                                          \
				       "4:\tmov $4, %r12d\n\tjmp 1b\n"                           \
				       "\t.cfi_endproc\n\t.size " #name ", .-" #name "\n")

#define FIVE_MORE                                                                    \
	"\tsub $8, %rsp\n\tpush 48(%rbp)\n\tpush 40(%rbp)\n\tpush 32(%rbp)\n\tpush " \
	"24(%rbp)\n\tpush 16(%rbp)\n"
#define FIVE_LESS "\tadd $48, %rsp\n"

WRAPPER(cuLaunchKernel, FIVE_MORE, FIVE_LESS);
WRAPPER(cuLaunchKernel_ptsz, FIVE_MORE, FIVE_LESS);
WRAPPER(cuLaunchKernelEx, "", "");
WRAPPER(cuLaunchKernelEx_ptsz, "", "");
WRAPPER(cuGraphLaunch, "", "");
WRAPPER(cuGraphLaunch_ptsz, "", "");

#endif
