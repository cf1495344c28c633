#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --pc attached to programs whose modules were loaded before: lines of source from the
# images in their files. The simulated CUPTI says only where samples are, not what line that is.

load ../lib/helpers
load ../lib/lines

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	make_images outer
	cat >script <<-END
		outer b0 wait 100
		outer 10 wait 50
		outer c0 wait 30
		outer d0 wait 20
	END
	export SIMCUDA_PC_SCRIPT=$PWD/script SIMCUDA_PC_CUBIN=$PWD/inlined.o
}

# late OPTIONS...: profile --pc of ./storm.
late() {
	attached_late --pc --bursts 10ms/100ms -d 1 "$@"
}

# That of tests/profile/inlined.s.
truth='[[176, "/src/inlined.cu", 3, [
	{"function": "deepest(float)", "file": "inlined.cu", "line": 7},
	{"function": "middle(float)", "file": "inlined.cu", "line": 14}]],
	[16, "/src/inlined.cu", 12, []], [192, "/src/inlined.cu", 15, []], [208, "/src/inlined.cu", 15, []]]'

is_true() {
	json out.json "[.functions[0].instructions[] | [.offset, .file, .line, .inlined]] == $truth"
}

@test "profile --pc -p (modules loaded before: plain, LZ4, Zstandard) finds lines in the program's file" {
	requires bpf sim objcopy
	local packing
	for packing in plain lz4 zstd; do
		program 80:$packing:other.o 90:ptx:script 90:$packing:inlined.o 100:$packing:other.o
		late --json -o out.json
		is_true
		json out.json '.functions[0].lines_from == "file" and .lost.total == 0'
		[ ! -s err ] || fail "$(cat err)"
	done
	late -o out.txt --folded f.txt
	grep -Eq ' inlined\.cu:3  \+0xb0  in deepest\(float\) < middle\(float\)$' out.txt
	grep -q "^source lines of 1 functions were found in the program's files" out.txt
	grep -q ';outer;inlined.cu:14;middle(float);inlined.cu:7;deepest(float);inlined.cu:3;wait ' f.txt
}

@test "profile --pc -p (the file is gone from its folder) reads what is mapped" {
	requires bpf sim objcopy
	program 90:zstd:inlined.o
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" ./storm -s 30 -p 500
	wait_for 10 grep -qs libcupti "/proc/$storm_PID/maps"
	rm storm
	CUDA_TRACE_LIBCUPTI=$B/simcuda/libcupti.so.13 ct profile --pc --bursts 10ms/100ms -p "$storm_PID" -d 1 --json -o out.json
	is_true
}

@test "profile --pc -p (beside a library of a gigabyte of images) finds its own, and reports no end" {
	requires bpf sim objcopy
	local library
	library=$(find "${CUDA_HOME:-/usr/local/cuda}/" -name 'libcublasLt.so.1[0-9]' 2>/dev/null | head -n1)
	[ -n "$library" ] || skip "needs cuBLAS"
	printf '_Z9elsewherev 10 wait 1\n' >>script
	program 90:zstd:inlined.o
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" LD_PRELOAD="$library" ./storm -s 30 -p 500
	wait_for 10 grep -qs libcupti "/proc/$storm_PID/maps"
	grep -q libcublasLt "/proc/$storm_PID/maps"
	CUDA_TRACE_LIBCUPTI=$PWD/none ct profile --pc --bursts 10ms/100ms -p "$storm_PID" -d 1 --json -o out.json 2>err
	is_true
	json out.json '.functions[0].lines_from == "name"'
	[ ! -s err ] || fail "$(cat err)"
}

@test "profile --pc -p (an image of the same function, but another one) takes no line of it" {
	requires bpf sim objcopy
	program 90:lz4:other.o
	late --json -o out.json
	json out.json '.functions[0].lines_from == null and ([.functions[0].instructions[].file] | unique) == [null]'
	# Without a libcupti nobody can tell: then its name counts.
	CHECKER=$PWD/none late --json -o out.json
	json out.json '.functions[0].lines_from == "name"'
	json out.json '[.functions[0].instructions[] | select(.offset == 16).line] == [13]'
	CHECKER=$PWD/none late -o out.txt
	grep -q '^1 of these were matched by name only: there is no libcupti here to compare their code$' out.txt
	# Unless two have it.
	program 80:lz4:inlined.o 90:lz4:other.o
	CHECKER=$PWD/none late --json -o out.json
	json out.json '.functions[0].lines_from == null'
}

@test "profile --pc -p (no line table, no image at all) shows offsets" {
	requires bpf sim objcopy
	objcopy --rename-section .debug_line=.other_line inlined.o bare.o
	export SIMCUDA_PC_CUBIN=$PWD/bare.o
	program 90:plain:bare.o
	late --json -o out.json
	json out.json '.functions[0].lines_from == null'
	cp "$WORKLOADS/launch-storm" storm
	late --json -o out.json
	json out.json '.functions[0].lines_from == null and .samples.placed > 0'
	[ ! -s err ]
}

@test "profile --pc -p (libcupti crashes, hangs on an image) says so, and shows offsets" {
	requires bpf sim objcopy
	local how
	program 90:plain:inlined.o
	for how in crash hang; do
		SIMCUDA_CUBIN_CHECKSUM=$how late --json -o out.json
		json out.json '.functions[0].lines_from == null and .samples.placed > 0'
		grep -q 'the search for source lines ended early, after [0-9]* of [0-9]* files' err
	done
}

# The child that reads images: $child, whose files are listed in `open`. Others read something else for a moment.
reads_images() {
	child=$(pgrep -P "$tool_PID" -u 65534 | tail -n 1)
	[ -n "$child" ] && readlink "/proc/$child/fd/"* >open 2>/dev/null
	grep -qs '/storm$' open
}

@test "profile --pc -p (the one who reads images) has no rights and nothing else open" {
	requires bpf sim objcopy
	local tool child
	program 90:plain:inlined.o
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" ./storm -s 30 -p 500
	wait_for 10 grep -qs libcupti "/proc/$storm_PID/maps"
	ready storm
	start tool env CUDA_TRACE_LIBCUPTI="$B/simcuda/libcupti.so.13" SIMCUDA_CUBIN_CHECKSUM=hang \
		"$CUDA_TRACE_UNDER_TEST" profile --pc --bursts 10ms/100ms -p "$storm_PID" -d 1
	wait_for 20 reads_images
	grep -qE '^NoNewPrivs:\s1$' "/proc/$child/status"
	grep -qE '^CapEff:\s0+$' "/proc/$child/status"
	# The answer's pipe, files that the program has mapped, and /dev/null.
	grep -q '^pipe:' open
	cat open
	assert_equal "$(grep -c '^anon_inode\|^/proc\|^socket\|^/dev/tty\|\.out$\|\.err$' open || true)" 0
	assert_equal "$(grep -c '^pipe:' open)" 1
}

@test "images in programs (damaged in 20,000 ways) are read without a fault" {
	${CC:-cc} -std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE -I"$TOP" \
		-o fuzz "$TOP/tests/profile/fuzz_fatbin.c" "$TOP/cuda-trace/profile/code/fatbin.c" -llz4 -lzstd 2>cc.err ||
		skip "no sanitizers: $(head -n1 cc.err)"
	program 75:plain:inlined.o 80:lz4:inlined.o 90:zstd:inlined.o
	run -0 ./fuzz storm 20000
}

@test "profile --pc -p (programs of this toolkit's nvcc, each way of packing) finds their lines" {
	requires bpf sim objcopy
	local nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc mode
	[ -x "$nvcc" ] || skip "needs nvcc"
	cp "$TOP/tests/profile/inlined.cu" .
	"$nvcc" -lineinfo -arch=sm_90 -cubin inlined.cu -o inlined.cubin || skip "this nvcc has no sm_90"
	export SIMCUDA_PC_CUBIN=$PWD/inlined.cubin
	# An instruction in 16 bytes: one of these is in the loop.
	for ((i = 0; i < 2048; i += 16)); do printf '_Z5outerPfi %x wait 1\n' $i; done >script
	for mode in none size speed balance default; do
		"$nvcc" -lineinfo -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
			-Xfatbin -compress-all -Xfatbin --compress-mode=$mode -c inlined.cu -o $mode.o || {
			# Before CUDA 12.8.
			[ $mode = none ] || continue
		}
		objcopy -O binary --only-section=.nv_fatbin --set-section-flags .nv_fatbin=alloc $mode.o images
		objcopy --add-section .nv_fatbin=images "$WORKLOADS/launch-storm" storm
		late --json -o out.json
		json out.json '.functions[0] | .name == "outer(float*, int)" and .lines_from == "file"'
		json out.json '[.functions[0].instructions[] | select(.inlined != []) |
			[.file[-10:], .line, [.inlined[] | [.function, .line]]]] |
			any(. == ["inlined.cu", 7, [["deepest(float)", 13], ["middle(float)", 20]]])'
		json out.json '[.functions[0].instructions[].line // 20] | all(. >= 4 and . <= 21)'
		mv out.json $mode.json
	done
	for mode in size speed balance default; do
		[ ! -e $mode.json ] || assert_equal "$(jq -c '[.functions[0].instructions[] | [.offset, .file, .line]] | sort' $mode.json)" \
			"$(jq -c '[.functions[0].instructions[] | [.offset, .file, .line]] | sort' none.json)"
	done
}
