#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --pc with nvdisasm: a stand-in that prints what nvdisasm 12.4 does, one that behaves
# badly, and the real one where it is installed.

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	${CC:-cc} -c -o inlined.o "$TOP/tests/profile/inlined.s"
	cubin inlined.o lines.cubin
	objcopy --rename-section .debug_line=.other_line inlined.o bare.o
	cubin bare.o bare.cubin
	${CC:-cc} -std=gnu11 -O1 -o fatbin "$TOP/tests/profile/fatbin.c" -llz4 -lzstd
	cat >script <<-END
		outer b0 wait 100
		outer 10 long_scoreboard 50
		outer c0 wait 30
		outer 100 wait 20
	END
	export SIMCUDA_PC_SCRIPT=$PWD/script
	sed 's/$/ inlined.cu 3/; s/\(10 .*\)3$/\112/' script >with-lines
	export CUDA_TRACE_NVDISASM=$PWD/nvdisasm
}

# cubin FROM TO: the machine and the architecture of a cubin for sm_90.
cubin() {
	cp "$1" "$2"
	printf '\276\0' | dd of="$2" bs=1 seek=18 conv=notrunc status=none
	printf '\132\005\132\0' | dd of="$2" bs=1 seek=48 conv=notrunc status=none
}

# real_text: as nvdisasm -c prints it; 16 instructions of f0.
real_text() {
	local i
	printf '\t.headerflags\t@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90"\n'
	printf '\t.elftype\t@"ET_EXEC"\n\n\n'
	printf '//--------------------- .text.f0                  --------------------------\n'
	printf '\t.section\t.text.f0,"ax",@progbits\n\t.align\t128\n'
	printf '        .global         f0\n        .type           f0,@function\n'
	printf '        .size           f0,(.L_x_2 - f0)\n        .other          f0,@"STO_CUDA_ENTRY STV_DEFAULT"\n'
	printf 'f0:\n.text.f0:\n'
	for ((i = 0; i < 16; i++)); do
		case $i in
		1) printf '        /*0010*/                   LDG.E R5, desc[UR4][R2.64] ;\n' ;;
		10) printf '.L_x_0:\n        /*00a0*/              @!P0 BRA `(.L_x_1) ;\n' ;;
		11) printf '.L_x_1:\n        /*00b0*/                   FFMA R5, R5, R0, 0.5 ;\n' ;;
		12) printf '        /*00c0*/              @P0  BRA `(.L_x_0) ;\n' ;;
		*) printf '        /*%04x*/                   NOP;\n' $((16 * i)) ;;
		esac
	done
	printf '.L_x_2:\n\n\n//--------------------- SYMBOLS --------------------------\n'
}

# stand_in [LINES]: an nvdisasm that prints what stands in `text` and, before that, does LINES. It
# may start no process, so the shell must have all of it.
stand_in() {
	real_text >text
	{ printf '#!/bin/sh\n%s\n' "${1:-}"; printf "printf '%%s\\\\n' '"; cat text; printf "'\n"; } >nvdisasm
	chmod 755 nvdisasm
}

# of OPTIONS...: profile --pc of ./storm, whose file has the image.
of() {
	local image=$1; shift
	./fatbin images 90:zstd:"$image"
	objcopy --add-section .nv_fatbin=images "$WORKLOADS/launch-storm" storm
	SIMCUDA_PC_CUBIN=$PWD/$image CUDA_TRACE_LIBCUPTI=$B/simcuda/libcupti.so.13 \
		ct profile --pc --bursts 10ms/100ms "$@" -- "$SIM" ./storm -p 1000 -s 1 >out 2>err
}

truth='[[176, "FFMA R5, R5, R0, 0.5"], [16, "LDG.E R5, desc[UR4][R2.64]"], [192, "@P0 BRA 0xa0"], [256, null]]'

@test "profile --pc (no line information) shows instructions where there is an nvdisasm" {
	requires bpf sim objcopy
	stand_in
	of bare.cubin --json -o out.json
	json out.json "[.functions[0].instructions[] | [.offset, .sass]] == $truth"
	[ ! -s err ] || fail "$(cat err)"
	of bare.cubin -o out.txt
	grep -Eq '^  50\.0% .* wait 100% +\+0xb0  FFMA R5, R5, R0, 0\.5$' out.txt
	grep -Eq '^  10\.0% .* wait 100% +\+0x100$' out.txt
	run ! grep -q '^Instructions of' out.txt
	# Lines say more. They are not fetched where they are not needed.
	stand_in 'exit 3'
	SIMCUDA_PC_SCRIPT=$PWD/with-lines of lines.cubin -o out.txt
	grep -Eq ' inlined\.cu:3  \+0xb0  in deepest' out.txt
	[ ! -s err ] || fail "$(cat err)"
}

@test "profile --pc --disassemble (text) has the instructions with samples, and those around them" {
	requires bpf sim objcopy
	stand_in
	SIMCUDA_PC_SCRIPT=$PWD/with-lines of lines.cubin --disassemble -o out.txt
	sed -n '/^Instructions of/,/^$/p' out.txt | sed 's/  *$//' >shown
	cat shown
	grep -Eq '^Instructions of outer: [0-9,]+ samples, 100\.0% of all; shares are of these$' shown
	assert_equal "$(grep -c '^ *\.\.\.$' shown)" 1
	grep -Eq '^  50\.0% +[0-9,]+ wait 100% +\+0xb0 FFMA R5, R5, R0, 0\.5 +inlined\.cu:3$' shown
	grep -Eq '^  25\.0% +[0-9,]+ long_scoreboard 100% +\+0x10 LDG\.E R5, desc\[UR4\]\[R2\.64\] +inlined\.cu:12$' shown
	grep -Eq '^  10\.0% .* \+0x100 \? +inlined\.cu:3$' shown
	assert_equal "$(grep -o '+0x[0-9a-f]*' shown | tr '\n' ' ')" \
		"+0x0 +0x10 +0x20 +0x30 +0x90 +0xa0 +0xb0 +0xc0 +0xd0 +0xe0 +0xf0 +0x100 "
	grep -Eq '^ +\+0xa0 @!P0 BRA 0xb0$' shown
	[ ! -s err ] || fail "$(cat err)"
	# -n: so many with samples.
	SIMCUDA_PC_SCRIPT=$PWD/with-lines of lines.cubin --disassemble -n 1 -o out.txt
	grep -Eq '^ \.\.\. and 3 more with [0-9,]+ samples \(-n 4 shows all\)$' out.txt
}

@test "profile --pc --record, report (instructions) keeps their text, and no image" {
	requires bpf sim objcopy
	stand_in
	of bare.cubin --record r.db -o out.txt
	ct report --stalls --json r.db >stalls.json
	assert_equal "$(jq -cs 'map([.place, .percent])' stalls.json)" \
		'[["+0xb0  FFMA R5, R5, R0, 0.5",50],["+0x10  LDG.E R5, desc[UR4][R2.64]",25],["+0xc0  @P0 BRA 0xa0",15],["+0x100",10]]'
	run ! grep -qa '\.other_line' r.db
}

@test "profile --pc (no nvdisasm) says so only if it was requested" {
	requires bpf sim objcopy
	CUDA_TRACE_NVDISASM=$PWD/none of bare.cubin -o out.txt
	[ ! -s err ] || fail "$(cat err)"
	grep -Eq ' \+0xb0$' out.txt
	CUDA_TRACE_NVDISASM=$PWD/none of bare.cubin --disassemble -o out.txt
	assert_equal "$(grep -c '^cuda-trace profile: no disassembly: .*/none: No such file' err)" 1
	grep -Eq ' \+0xb0$' out.txt
	CUDA_TRACE_NVDISASM=off of bare.cubin --json -o out.json
	json out.json '[.functions[0].instructions[].sass] | unique == [null]'
}

@test "profile --pc --disassemble (nvdisasm crashes, hangs, prints for ever or garbage, complains) is not harmed" {
	requires bpf sim objcopy
	local began
	stand_in 'kill -SEGV $$'
	of bare.cubin --disassemble -o out.txt
	grep -q 'nvdisasm did not disassemble 1 functions$' err
	grep -Eq ' \+0xb0$' out.txt
	stand_in 'while :; do :; done'
	began=$SECONDS
	of bare.cubin --disassemble -o out.txt
	[ $((SECONDS - began)) -lt 40 ]
	grep -q 'nvdisasm did not finish in time and was killed: 1 functions are not disassembled$' err
	stand_in 'while :; do printf "%s\n" aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done'
	of bare.cubin --disassemble -o out.txt
	grep -Eq 'nvdisasm (printed without end|did not finish in time) and was killed: 1 functions are not disassembled$' err
	stand_in 'printf "nvdisasm fatal   : Cannot decode \033[31m architecture\n"; exit 1'
	of bare.cubin --disassemble -o out.txt
	grep -qF 'nvdisasm did not disassemble 1 functions: nvdisasm fatal   : Cannot decode \x1b[31m architecture' err
	# Text that is none, of no function, with control characters.
	stand_in "$(cat <<-'END'
		printf '\t.section\t.text.f99,"ax"\n        /*00b0*/ WRONG ;\n\t.section\t.text.f0,"ax"\n'
		printf '        /*00b0*/ FFMA \033[31m R5 ;\n/*zz*/ X ;\n   /*00b0*/ TWICE;\n/*0010*/ BACK ;\n'
		exit 0
	END
	)"
	of bare.cubin --json -o out.json
	json out.json '[.functions[0].instructions[].sass] == ["FFMA \u001b[31m R5", null, null, null]'
	of bare.cubin --disassemble -o out.txt
	grep -qF 'FFMA \x1b[31m R5' out.txt
	run ! grep -q $'\033' out.txt
}

@test "profile --pc --disassemble (the one who disassembles) has no rights, no terminal, nothing else open" {
	requires bpf sim objcopy
	# It may start no process: all of this is the shell's own.
	cat >nvdisasm <<-'END'
		#!/bin/sh
		said=
		for fd in 5 6 7 8 9 11 12 13 14 15 16 17 18 19 20 21; do [ ! -e /proc/self/fd/$fd ] || said="$said open:$fd"; done
		while read -r name value rest; do case $name in Uid:|CapEff:|NoNewPrivs:) said="$said $name$value" ;; esac; done </proc/self/status
		[ -r /etc/shadow ] && said="$said shadow"
		read -r pid name state parent group session terminal rest </proc/self/stat
		[ "$pid" = "$session" ] || said="$said terminal"
		printf 'nvdisasm %s\n' "$said"
	END
	chmod 755 nvdisasm
	of bare.cubin --disassemble -o out.txt
	cat err
	grep -Eq 'nvdisasm  Uid:65534 CapEff:0+ NoNewPrivs:1$' err
}

@test "code of cubins, and what nvdisasm prints (damaged in 20,000 ways) are read without a fault" {
	${CC:-cc} -std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE -I"$TOP" -o fuzz \
		"$TOP/tests/profile/fuzz_disassembly.c" "$TOP/cuda-trace/profile/code/cubin.c" "$TOP/cuda-trace/profile/pc/disassembly_text.c" \
		$(tool_sources intern array_grow) -lz 2>cc.err || skip "no sanitizers: $(head -n1 cc.err)"
	real_text >text
	run -0 timeout 400 ./fuzz bare.cubin outer text 20000
	run -0 ./fuzz bare.cubin outer text 1
	assert_output "1 16"
}

@test "profile --pc --disassemble (the real nvdisasm, a program of nvcc's) agrees with its own listing" {
	requires bpf sim objcopy
	local nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc nvdisasm=${NVDISASM:-${CUDA_HOME:-/usr/local/cuda}/bin/nvdisasm}
	[ -x "$nvdisasm" ] || nvdisasm=$(command -v nvdisasm) || skip "needs nvdisasm (or NVDISASM=FILE)"
	[ -x "$nvcc" ] || skip "needs nvcc"
	cp "$TOP/tests/profile/inlined.cu" .
	"$nvcc" -arch=sm_90 -cubin inlined.cu -o inlined.cubin || skip "this nvcc has no sm_90"
	"$nvdisasm" -c inlined.cubin >listing
	for ((i = 0; i < 2048; i += 16)); do printf '_Z5outerPfi %x wait 1\n' $i; done >script
	CUDA_TRACE_NVDISASM=$nvdisasm of inlined.cubin --json -o out.json
	cat err
	jq -r '.functions[0].instructions | sort_by(.offset)[] | select(.sass) | .sass' out.json >ours
	sed -n 's|^ */\*[0-9a-f]*\*/ *||p' listing | sed 's/ *; *$//' >theirs
	[ "$(wc -l <ours)" -gt 30 ]
	# But for the names of places.
	assert_equal "$(sed 's/BRA .*/BRA/' ours)" "$(sed 's/BRA .*/BRA/' theirs)"
	grep -q 'BRA 0x' ours
}

@test "profile --pc --disassemble (600 functions) takes the 512 with most samples, and says what it left out" {
	requires bpf sim objcopy
	local i
	for ((i = 0; i < 600; i++)); do
		printf '.section .text.k%d,"ax",@progbits\n.zero 16\n' $i >>many.s
		printf 'k%d 0 wait %d\n' $i $((i + 1)) >>many
	done
	${CC:-cc} -c -o many.o many.s
	cubin many.o many.cubin
	cat >nvdisasm <<-'END'
		#!/bin/sh
		i=0
		while [ $i -lt 64 ]; do
			printf '\t.section\t.text.f%d,"ax",@progbits\n        /*0000*/                   NOP;\n' $i
			i=$((i + 1))
		done
	END
	chmod 755 nvdisasm
	SIMCUDA_PC_SCRIPT=$PWD/many of many.cubin --disassemble --json -o out.json
	json out.json '.functions | length == 600 and ([.[].instructions[0].sass] |
		(.[:512] | all(. == "NOP")) and (.[512:] | all(. == null)))'
	grep -q '88 functions are not disassembled: they have fewer samples than 512 others$' err || fail "$(cat err)"
}

# at_run_time IMAGES OPTIONS...: profile --pc of a program that is in no file with these images.
at_run_time() {
	local images=$1; shift
	SIMCUDA_PC_CUBIN=$images CUDA_TRACE_LIBCUPTI=$B/simcuda/libcupti.so.13 \
		ct profile --pc --bursts 10ms/100ms "$@" -- "$SIM" "$WORKLOADS/launch-storm" -p 1000 -s 1 >out 2>err
}

@test "profile --pc (code that was compiled while the program ran, no line information) shows instructions" {
	requires bpf sim objcopy
	stand_in
	at_run_time bare.cubin --disassemble --json -o out.json
	json out.json "[.functions[0].instructions[] | [.offset, .sass]] == $truth"
	json out.json '.functions[0].lines_from == null and .lost.total == 0'
	[ ! -s err ] || fail "$(cat err)"
	at_run_time bare.cubin -o out.txt
	grep -Eq '^  50\.0% .* wait 100% +\+0xb0  FFMA R5, R5, R0, 0\.5$' out.txt
	[ ! -s err ] || fail "$(cat err)"
	# What was loaded before the tool came is in no file and was not kept.
	SIMCUDA_PC_CUBIN=$PWD/bare.cubin start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 30 -p 500
	wait_for 10 grep -qs libcupti "/proc/$storm_PID/maps"
	ready storm
	ct profile --pc --bursts 10ms/100ms -p "$storm_PID" -d 1 --disassemble --json -o out.json 2>err
	kill "$storm_PID"
	json out.json '.samples.placed > 0 and ([.functions[0].instructions[].sass] | unique) == [null]'
	grep -q 'no machine code of 1 functions: it is in no file and was loaded before the tool attached, is beyond the limit, ' err
}

# What a tracer of the tool's system calls sees of images.
reads() {
	local images=$1; shift
	SIMCUDA_PC_CUBIN=$images strace -f -qq -e trace=process_vm_readv -e signal=none -o calls \
		"$CUDA_TRACE_UNDER_TEST" profile --pc --bursts 10ms/100ms "$@" -- "$SIM" "$WORKLOADS/launch-storm" -p 1000 -s 1 >out 2>err
	grep -c "process_vm_readv.*iov_len=$(stat -c %s "${images##*:}")" calls || true
}

@test "profile --pc (no line information) reads no image where nobody disassembles, and each once where somebody does" {
	requires bpf sim objcopy strace
	stand_in
	assert_equal "$(CUDA_TRACE_NVDISASM=off reads bare.cubin -o out.txt)" 0
	grep -q '+0xb0$' out.txt
	assert_equal "$(reads bare.cubin -o out.txt)" 1
	assert_equal "$(CUDA_TRACE_NVDISASM=off reads lines.cubin -o out.txt)" 1
}

# images FIRST LAST BYTES: cubins of functions kFIRST to kLAST, three digits each, of so much code.
images() {
	local i
	printf '.section .text.k@@@,"ax",@progbits\n.zero %d\n' "$3" >one.s
	${CC:-cc} -c -o one.o one.s
	cubin one.o one.cubin
	for i in $(seq -f %03g "$1" "$2"); do
		LC_ALL=C sed "s/@@@/$i/g" one.cubin >"k$i.cubin"
		printf '%s:' "k$i.cubin"
	done
}

@test "profile --pc (more images without lines than fit) keeps all with lines, and says what it left out" {
	requires bpf sim objcopy
	local images i
	# 20 of these fill 4 MiB but for a little, 108 small ones the places; one is too large, one comes four times.
	images=$(images 1 1 270000; images 101 123 205000; images 201 320 16)lines.cubin
	images=k101.cubin:k101.cubin:k101.cubin:$images
	[ "$(stat -c %s k201.cubin)" -le 704 ]
	for i in 001 101 120 121 201 308 309; do echo "k$i 0 wait 10"; done >script
	sed 's/$/ inlined.cu 3/' >>script <<-END
		outer b0 wait 100
		outer 10 wait 50
	END
	cat >nvdisasm <<-'END'
		#!/bin/sh
		for i in 0 1 2 3 4 5 6 7; do
			printf '\t.section\t.text.f%d,"ax",@progbits\n        /*0000*/                   NOP;\n' $i
		done
	END
	chmod 755 nvdisasm
	at_run_time "$images" --disassemble --json -o out.json
	cat err
	json out.json '[.functions[] | select(.name != "outer") | [.name, .instructions[0].sass]] | sort ==
		[["k001", null], ["k101", "NOP"], ["k120", "NOP"], ["k121", null],
		["k201", "NOP"], ["k308", "NOP"], ["k309", null]]'
	json out.json '.functions[] | select(.name == "outer") | .lines_from == "module" and
		[.instructions[] | [.offset, .line, (.inlined | length)]] == [[176, 3, 2], [16, 3, 0]]'
	grep -q 'no machine code of 3 functions: ' err
}
