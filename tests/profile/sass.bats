#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --sass: what each instruction did, by function and line. The simulated CUPTI plays
# SIMCUDA_SASS_SCRIPT, and its lines of source are those of SIMCUDA_PC_SCRIPT.

load ../lib/helpers
load ../lib/lines

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	# As of a CUPTI that looks into more than one kernel, unless a test says otherwise.
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/log SIMCUDA_SASS_KERNELS=1000
}

# sassed ARGS...: profile --sass on the simulated driver. JSON in out.json, PROGRAM's output in
# program, messages in err.
sassed() {
	sim "$CUDA_TRACE" profile --sass --json -o out.json "$@" >program 2>err
}

unharmed() {
	grep -q '^expect ' program || fail "PROGRAM did not end: $(cat program err)"
	! grep '^[0-9]* [0-9]* fault' log || fail "a fault"
}

# lines EVENT FILTER: jq's answer over the lines of that event, as an array.
lines() {
	jq -scS "map(select(.event == \"$1\")) | $2" out.json
}

@test "profile --sass (ten kernels) sums what each instruction did, with its line" {
	requires bpf sim
	sassed -- "$WORKLOADS/saxpy"
	unharmed
	assert_equal "$(lines counters_state '.[0] | [.outcome, .counted, .missed, .metrics, .passes]')" \
		"[\"on\",$(expect_key program launches),0,10,1]"
	assert_equal "$(lines sass 'map([.function, .launches, .executed, .lines_from])')" '[["saxpy",10,20000,"module"]]'
	assert_equal "$(lines sass '.[0].instructions | map([.offset, .file, .line, .executed,
		.threads_on, .sectors, .sectors_ideal])')" \
		'[[112,"/src/saxpy.cu",12,10000,320000,320000,40000],[144,"/src/saxpy.cu",13,10000,40000,0,0]]'
	assert_equal "$(lines sass '.[0].instructions[0] |
		[.threads_an_instruction, .sectors_a_request, .wavefronts_an_access]')" '[32,32,null]'
	assert_equal "$(lines lost '.[0].lost.total')" 0
	# Nothing is on between kernels, and nothing is left on.
	assert_equal "$(grep -c 'sass enable 0' log)" "$(grep -c 'sass disable 0' log)"
	assert_equal "$(grep -c 'sass config 0' log)" "$(grep -c 'sass unset 0' log)"
}

@test "profile --sass (an uncoalesced line and a divergent one) says where to look" {
	requires bpf sim
	sassed -- "$WORKLOADS/saxpy"
	assert_equal "$(lines sass '.[0].look_at | map([.is, .file, .line, .offset])')" \
		'[["uncoalesced","/src/saxpy.cu",12,112],["divergent","/src/saxpy.cu",13,144]]'
	assert_equal "$(lines sass '.[0].look_at[0].because')" \
		'"32.0 sectors per request where 4.0 would do, 100% of all excess sectors"'
	# The twin: the same kernel, as it should be.
	cat >script <<-END
		saxpy 70 smsp__sass_inst_executed 1000
		saxpy 70 smsp__sass_thread_inst_executed_pred_on 32000
		saxpy 70 smsp__sass_sectors_mem_global 4000
		saxpy 70 smsp__sass_sectors_mem_global_ideal 4000
		saxpy 90 smsp__sass_inst_executed 1000
		saxpy 90 smsp__sass_thread_inst_executed_pred_on 31000
	END
	SIMCUDA_SASS_SCRIPT=script sassed -- "$WORKLOADS/saxpy"
	assert_equal "$(lines sass '.[0].look_at')" '[]'
	assert_equal "$(lines sass '.[0].sectors_a_request')" 4
}

@test "profile --sass (bank conflicts, local memory) says where to look" {
	requires bpf sim
	cat >script <<-END
		saxpy 70 smsp__sass_inst_executed 100
		saxpy 70 smsp__sass_thread_inst_executed_pred_on 3200
		saxpy 70 smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared 3200
		saxpy 70 smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal 100
		saxpy 90 smsp__sass_inst_executed 100
		saxpy 90 smsp__sass_thread_inst_executed_pred_on 3200
		saxpy 90 smsp__sass_sectors_mem_local 400
	END
	SIMCUDA_SASS_SCRIPT=script sassed --kernels 1 -- "$WORKLOADS/saxpy"
	assert_equal "$(lines sass '.[0].look_at | map([.is, .line])')" \
		'[["bank conflicts",12],["local memory",13]]'
}

@test "profile --sass (text) shows functions, lines and what to try" {
	requires bpf sim
	timeout 60 "$SIM" "$CUDA_TRACE" profile --sass --kernels 2 -o out.txt -- "$WORKLOADS/saxpy" >program 2>err
	unharmed
	run -0 cat out.txt
	assert_line --regexp '^process [0-9]+ \(saxpy\): 2 of .*10 metrics in 1 pass on GH100'
	assert_line --regexp '^ +4,000 100.0% +18.0 +32.0 +4.0 +- +- +saxpy$'
	assert_line --regexp '^ +2,000 +50.0% +32.0 +32.0 +4.0 +- +- +saxpy.cu:12  \+0x70$'
	assert_line --partial 'look at saxpy.cu:12  +0x70: uncoalesced: 32.0 sectors per request where 4.0 would do'
	assert_line --partial 'try: let neighbouring threads read and write neighbouring addresses'
	assert_line --partial 'look at saxpy.cu:13  +0x90: divergent: 4.0 of 32 threads are active'
}

@test "profile --sass (modules without line information) shows offsets" {
	requires bpf sim
	echo 'saxpy 70 selected 1' >pcs
	SIMCUDA_PC_SCRIPT=pcs sassed --kernels 1 -- "$WORKLOADS/saxpy"
	assert_equal "$(lines sass '.[0].instructions | map([.offset, .file, .line])')" \
		'[[112,null,null],[144,null,null]]'
	assert_equal "$(lines sass '.[0].look_at | map(.offset)')" '[112,144]'
}

# What two instructions of tests/profile/inlined.s did, as the kernel "empty", to the file script.
count_inlined() {
	cat >script <<-END
		empty 10 smsp__sass_inst_executed 1000
		empty b0 smsp__sass_inst_executed 2000
		empty b0 smsp__sass_sectors_mem_global 64000
		empty b0 smsp__sass_sectors_mem_global_ideal 8000
	END
}

@test "profile --sass (inlined functions) says through which an instruction is reached" {
	requires bpf sim
	local through='[{"file":"inlined.cu","function":"deepest(float)","line":7},{"file":"inlined.cu","function":"middle(float)","line":14}]'
	make_images empty
	count_inlined
	printf 'empty b0 wait 1 inlined.cu 3\nempty 10 wait 1 inlined.cu 12\n' >pcs
	export SIMCUDA_SASS_SCRIPT=$PWD/script SIMCUDA_PC_SCRIPT=$PWD/pcs SIMCUDA_PC_CUBIN=$PWD/inlined.o
	# It lives on: the image is read from its memory.
	sassed --kernels 2 -- "$WORKLOADS/launch-storm" -s 2 -p 500
	unharmed
	assert_equal "$(lines sass 'map([.lines_from, .launches])')" '[["module",2]]'
	assert_equal "$(lines sass '.[0].instructions | map([.offset, .line, .inlined])')" "[[16,12,[]],[176,3,$through]]"
	assert_equal "$(lines sass '.[0].look_at[0] | [.is, .inlined]')" "[\"uncoalesced\",$through]"
	timeout 60 "$SIM" "$CUDA_TRACE" profile --sass --kernels 1 -o out.txt -- "$WORKLOADS/launch-storm" -s 2 -p 500 >program 2>err
	grep -Eq ' inlined\.cu:3  \+0xb0  in deepest\(float\) < middle\(float\)$' out.txt
	grep -Eq ' inlined\.cu:12  \+0x10$' out.txt
	grep -q 'look at inlined.cu:3  +0xb0  in deepest(float) < middle(float): uncoalesced: ' out.txt
	# The name of an inlined function that would colour the terminal.
	sed 's/_Z7deepestf/_Z7d\\033[31mf/' inlined.s >red.s
	${CC:-cc} -c -o red.o red.s
	SIMCUDA_PC_CUBIN=$PWD/red.o timeout 60 "$SIM" "$CUDA_TRACE" profile --sass --kernels 1 -o out.txt -- \
		"$WORKLOADS/launch-storm" -s 2 -p 500 >program 2>err
	grep -q ' inlined.cu:3  +0xb0  in .*31mf' out.txt
	run ! grep -q $'\e' out.txt
}

@test "profile --sass -k, --skip and --kernels choose, and the program runs on" {
	requires bpf sim
	sassed -k 'sax' --skip 3 --kernels 2 -- "$WORKLOADS/saxpy"
	unharmed
	assert_equal "$(lines counters_state '.[0] | [.outcome, .counted]')" '["done",2]'
	assert_equal "$(lines sass '.[0].launches')" 2
	run -1 sassed -k nothing -- "$WORKLOADS/saxpy"
	unharmed
	grep -q 'no kernel was counted' err
}

@test "profile --sass (a GPU without some metrics) says null of those, and finds nothing by them" {
	requires bpf sim
	SIMCUDA_LACKS=smsp__sass_sectors_mem_global_ideal sassed --kernels 1 -- "$WORKLOADS/saxpy"
	unharmed
	assert_equal "$(lines sass '.[0] | [.sectors, .sectors_ideal]')" '[32000,null]'
	assert_equal "$(lines sass '.[0].look_at | map(.is)')" '["divergent"]'
}

@test "profile --sass (libcupti before 12.2) says so, and the program runs" {
	requires bpf sim
	SIMCUDA_CUPTI_VERSION=12.1 run -1 sassed -- "$WORKLOADS/saxpy"
	unharmed
	grep -q 'the one in use is a libcupti before 12.2: no SASS metrics' err
	! grep -q 'error 27' err
}

@test "profile --sass (each call of CUPTI fails) leaves the program unharmed" {
	requires bpf sim
	local call
	for call in GetProperties SetConfig Enable GetDataProperties FlushData Disable; do
		SIMCUDA_PROFILER=cuptiSassMetrics$call:27 run -1 sassed -- "$WORKLOADS/saxpy"
		unharmed
		[ $call = GetProperties ] || grep -q "cuptiSassMetrics$call" err || fail "$call: $(cat err)"
	done
}

@test "profile --sass (CUPTI looks into one kernel only) says so, and the program runs on" {
	requires bpf sim
	SIMCUDA_SASS_KERNELS=1 sassed -- "$WORKLOADS/saxpy"
	unharmed
	assert_equal "$(lines counters_state '.[0] | [.outcome, .counted, .missed, .result]')" '["done",1,0,8]'
	assert_equal "$(lines sass '.[0].launches')" 1
	grep -q 'measures only one kernel per process' err
	SIMCUDA_SASS_KERNELS=1 timeout 60 "$SIM" "$CUDA_TRACE" profile --sass -o out.txt -- "$WORKLOADS/saxpy" >program 2>err
	grep -Eq '^  only the kernel below was measured, not later launches: ' out.txt
	SIMCUDA_SASS_KERNELS=1 timeout 60 "$SIM" "$CUDA_TRACE" profile --sass --kernels 1 -o out.txt -- "$WORKLOADS/saxpy" >program 2>err
	! grep -q 'only the kernel below' out.txt
}

@test "profile --sass (graphs and captures) counts none of them, and breaks no capture" {
	requires bpf sim
	run sassed -- "$WORKLOADS/graphs"
	unharmed
	assert_equal "$(lines counters_state '.[0] | .graphs > 0')" true
	assert_equal "$(expect_key program launch_errors)" 0
}

@test "profile --sass (cooperative kernels) looks into them as into others" {
	requires bpf sim
	sassed -- "$WORKLOADS/saxpy" --cooperative --size 65536
	unharmed
	assert_equal "$(lines sass 'map([.function, .launches, .executed])')" '[["saxpy",10,20000]]'
}

@test "profile --sass -p, -c (kernels launched and modules loaded before) looks into what is launched later, and ends" {
	requires bpf sim jq
	local target
	echo 'empty 70 smsp__sass_inst_executed 1000' >sass
	: >log
	SIMCUDA_SASS_SCRIPT=$PWD/sass start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" \
		"$WORKLOADS/launch-storm" -s 20 -t 4 -g 5 -p 500
	ready storm
	sleep 0.5
	# shellcheck disable=SC2154 # made by start
	for target in "-p $storm_PID" "-c launch-storm"; do
		# shellcheck disable=SC2086 # words
		timeout -k 5 60 "$CUDA_TRACE" profile --sass --kernels 3 --json -o out.json $target 2>err
		cat err
		assert_equal "$(lines counters_state '.[0] | [.outcome, .counted, .missed]')" '["done",3,0]'
		assert_equal "$(lines sass 'map([.function, .launches, .executed])')" '[["empty",3,3000]]'
		assert_equal "$(lines sass '.[0].instructions | map([.offset, .file])')" '[[112,null]]'
		assert_equal "$(lines lost '.[0].lost.total')" 0
		assert_equal "$(grep -c 'sass enable 0' log)" "$(grep -c 'sass disable 0' log)"
	done
	wait_for 20 eval '[ "$(tail -n 1 log | grep -oE "(subscribed|callbacks|kinds)=[^ ]*" | xargs)" = "subscribed=0 callbacks=0 kinds=-" ]'
	finished "$storm_PID"
	assert_equal "$status" 0
	run ! grep '^[0-9]* [0-9]* fault' log
}

# late OPTIONS...: profile --sass of ./storm, whose kernel tests/profile/inlined.s has the lines of.
late() {
	count_inlined
	SIMCUDA_SASS_SCRIPT=$PWD/script SIMCUDA_PC_CUBIN=$PWD/${IMAGE:-inlined.o} attached_late --sass --kernels 1 "$@"
}

@test "profile --sass -p (modules loaded before) finds lines in the program's file" {
	requires bpf sim objcopy
	make_images empty
	program 80:lz4:other.o 90:zstd:inlined.o
	late --json -o out.json
	assert_equal "$(lines sass 'map([.function, .lines_from, .launches, .executed])')" '[["empty","file",1,3000]]'
	assert_equal "$(lines sass '.[0].instructions | map([.offset, .file, .line])')" \
		'[[16,"/src/inlined.cu",12],[176,"/src/inlined.cu",3]]'
	assert_equal "$(lines sass '.[0].look_at[0] | [.is, .line, .offset]')" '["uncoalesced",3,176]'
	run ! grep 'ended early' err
	late -o out.txt
	grep -Eq ' inlined\.cu:3  \+0xb0  in deepest\(float\) < middle\(float\)$' out.txt
	grep -q "^source lines of 1 functions were found in the program's files: they were loaded before tracing began$" out.txt
	# Without a libcupti here by the name of the function, of which there are two.
	CHECKER=$PWD/none late --json -o out.json
	assert_equal "$(lines sass 'map(.lines_from)')" '[null]'
	program 90:zstd:other.o
	CHECKER=$PWD/none late --json -o out.json
	assert_equal "$(lines sass '.[0] | [.lines_from, .instructions[0].line]')" '["name",13]'
}

@test "profile --sass -p (the image is damaged, another one, hostile) changes nothing but the lines" {
	requires bpf sim objcopy
	local counts='map(del(.cubin, .lines_from, .look_at[].file, .look_at[].line, .look_at[].inlined,
		.instructions[].file, .instructions[].line, .instructions[].inlined))'
	local truth how
	make_images empty
	program 90:plain:inlined.o
	late --json -o out.json
	assert_equal "$(lines sass 'map(.lines_from)')" '["file"]'
	truth=$(lines sass "$counts")

	head -c 200 /dev/zero | tr '\0' '\377' >noise
	objcopy --update-section .debug_line=noise inlined.o damaged.o
	program 90:plain:damaged.o
	IMAGE=damaged.o late --json -o out.json
	assert_equal "$(lines sass 'map([.lines_from, .instructions[].line])')" '[[null,null,null]]'
	assert_equal "$(lines sass "$counts")" "$truth"

	program 90:plain:other.o
	late --json -o out.json
	assert_equal "$(lines sass 'map([.lines_from, .instructions[].line])')" '[[null,null,null]]'
	assert_equal "$(lines sass "$counts")" "$truth"

	program 90:plain:inlined.o
	for how in crash hang; do
		SIMCUDA_CUBIN_CHECKSUM=$how late --json -o out.json
		assert_equal "$(lines sass "$counts")" "$truth"
		grep -q 'the search for source lines ended early, after [0-9]* of [0-9]* files' err
	done

	# A name that would colour the terminal.
	sed 's|/src/inlined.cu|/src/in\\033[31m.cu|' inlined.s >red.s
	${CC:-cc} -c -o red.o red.s
	program 90:plain:red.o
	IMAGE=red.o late -o out.txt
	grep -q '+0xb0' out.txt
	grep -q '31m\.cu:3' out.txt
	run ! grep -q $'\e' out.txt
	IMAGE=red.o late --json -o out.json
	assert_equal "$(lines sass '.[0].instructions[0].file')" '"/src/in\u001b[31m.cu"'
	assert_equal "$(lines sass "$counts")" "$truth"
}

@test "profile --sass with another mode, or with nobody to look into, is a misuse" {
	run -2 "$CUDA_TRACE" profile --sass
	assert_output --partial 'nothing to watch'
	run -2 "$CUDA_TRACE" profile --sass --pc -- true
	assert_output --partial 'either --pc or --sass'
}
