# SPDX-License-Identifier: BSD-2-Clause
# Debug information that leads in circles: an inlined function whose origin is itself, two that are each other's, one
# whose origin is outside of all units, and one in 600 blocks. To be linked before a library: its functions are what
# these are said to be in.
	.section .note.GNU-stack,"",@progbits
	.text
library_text:

	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11		# compile_unit
	.byte 1
	.uleb128 0x11, 0x01, 0x12, 0x07, 0, 0	# low_pc, high_pc
	.uleb128 2, 0x2e		# subprogram
	.byte 1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
	.uleb128 3, 0x1d		# inlined_subroutine
	.byte 0
	.uleb128 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x59, 0x0b, 0, 0	# origin, where, call_line
	.uleb128 4, 0x2e		# an abstract function
	.byte 0
	.uleb128 0x31, 0x13, 0, 0
	.uleb128 5, 0x0b		# lexical_block
	.byte 1
	.uleb128 0, 0
	.uleb128 6, 0x2e		# an abstract function with a name
	.byte 0
	.uleb128 0x03, 0x08, 0, 0
	.uleb128 0

	.section .debug_info,"",@progbits
unit:	.long end - begin
begin:	.value 4
	.long .debug_abbrev
	.byte 8
	.uleb128 1
	.quad library_text, 0x10000
first:	.uleb128 4
	.long second - unit
second:	.uleb128 4
	.long first - unit
named:	.uleb128 6
	.asciz "named"
	.uleb128 2
	.asciz "library_inner"
	.quad library_text, 0x10000
.ifdef CIRCLES
itself:	.uleb128 3
	.long itself - unit
	.quad library_text, 0x10000
	.byte 11
	.uleb128 3
	.long first - unit
	.quad library_text, 0x10000
	.byte 12
	.uleb128 3
	.long 0x7fffffff
	.quad library_text, 0x10000
	.byte 13
.endif
.ifdef BLOCKS
	.rept 600
	.uleb128 5
	.endr
.endif
	.uleb128 3
	.long named - unit
	.quad library_text, 0x10000
	.byte 14
.ifdef BLOCKS
	.rept 600
	.byte 0
	.endr
.endif
	.byte 0, 0
end:
