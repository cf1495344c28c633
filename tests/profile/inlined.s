# SPDX-License-Identifier: BSD-2-Clause
# A line table as nvcc -lineinfo writes it: `outer`, with middle() in its line 14 and deepest() in line 7 of
# that. Extended opcode 0x90 is NVIDIA's: the row of the call, from 1, and the function's name in .debug_str.
	.section .text.outer,"ax",%progbits
	.globl outer
outer:
	.space 256

	.section .debug_str,"",%progbits
	.asciz "_Z6middlef"
	.asciz "_Z7deepestf"

	.section .debug_line,"",%progbits
	.long end - start
start:
	.2byte 2
	.long program - header
header:
	.byte 1, 1, -5, 14, 10
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1
	.asciz "/src"
	.byte 0
	.asciz "/src/inlined.cu"
	.uleb128 1
	.uleb128 0
	.uleb128 0
	.byte 0
program:
	.byte 0, 9, 2			# address
	.8byte outer
	.byte 3				# row 1: line 12 at 0
	.sleb128 11
	.byte 1
	.byte 2				# row 2: line 14 at 0xb0
	.uleb128 0xb0
	.byte 3
	.sleb128 2
	.byte 1
	.byte 0, 3, 0x90, 2, 0		# row 3: line 7, in middle, called at row 2
	.byte 3
	.sleb128 -7
	.byte 1
	.byte 0, 3, 0x90, 3, 11		# row 4: line 3, in deepest, called at row 3
	.byte 3
	.sleb128 -4
	.byte 1
	.byte 0, 3, 0x90, 0, 0		# row 5: line 15 at 0xc0, outside
	.byte 2
	.uleb128 0x10
	.byte 3
	.sleb128 12
	.byte 1
	.byte 0, 3, 0x90, 9, 11		# row 6: called at a row that is to come: it is not believed
	.byte 2
	.uleb128 0x10
	.byte 1
	.byte 2
	.uleb128 0x30
	.byte 0, 1, 1
end:
