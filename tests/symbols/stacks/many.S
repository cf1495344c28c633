# SPDX-License-Identifier: BSD-2-Clause
# A library with as many functions as those of PyTorch have, each with fifteen rules.
	.text
	.globl many
many:
	.rept 150000
	.cfi_startproc
	.rept 14
	push %rbx
	.cfi_adjust_cfa_offset 8
	.endr
	ret
	.cfi_endproc
	.endr
	.globl many_end
many_end:
	.section .note.GNU-stack,"",@progbits
