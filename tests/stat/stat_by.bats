#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace stat --by: which operator, module, line or range a kernel belongs to, without a recording by the user.

load ../lib/helpers
load ../symbols/stacks/recorded

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p tmp
	export TMPDIR=$PWD/tmp
}

teardown() {
	exec 9>&-
	stop_started
}

SPOOL='tmp/cuda-trace-stat.*/stat.db.part'

# rows FILE: "TOTAL_NS KERNELS NAME" of each row
rows() {
	json "$1" '.by.rows[] | "\(.total_ns) \(.kernels) \(.name)"'
}

# adds_up FILE: the rows are the time and number of the kernels that stat summed, and nothing is left in $TMPDIR.
adds_up() {
	json "$1" '([.by.rows[].total_ns] | add) == .totals.gpu_ns and ([.by.rows[].kernels] | add) == .totals.kernels'
	run -0 ls tmp
	assert_output ''
}

# stat_step STEPS OPTIONS...: s.json of tests/workloads/operators/train.py, whose lines are in rec.out
stat_step() {
	local steps=$1 python; shift
	find_python
	lingering /workloads/liboperators.so "$SPOOL" stat --json -o s.json "$@" -- \
		"$SIM" "$python" "$TOP/tests/workloads/operators/train.py" "$WORKLOADS/liboperators.so" "$steps" --linger
	adds_up s.json
}

line_of() {
	awk -v name="$1" '$1 == "line" && $2 == name { print $3 }' rec.out
}

@test "stat --by operator -g (functions named as PyTorch's) has the operator that launched each kernel" {
	requires bpf sim python3
	stat_step 3 --by operator -g
	run -0 rows s.json
	assert_line --index 0 "180000 6 aten::addmm"
	assert_line --index 1 "60000 3 custom (train.py)"
	assert_line "30000 3 aten::mm"
	assert_line "30000 3 aten::add_"
	assert_line "30000 3 aten::ones_like"
	assert_line "30000 3 ReluBackward0"
	assert_line --index 6 "15000 3 [no operator]"
	assert_equal "${#lines[@]}" 7
	assert_equal "$(jq -c '.by | [.what, .stack_period, .estimated, .stacks, .unavailable, .ended, .covered_ns]' s.json)" \
		'["operator",1,false,24,null,null,null]'
	assert_equal "$(jq -c '.by.rows[0, 6] | [.name, .file, .found, .share, .total_ns, .kernels, .mean_ns]' s.json)" \
		'["aten::addmm",null,true,0.48,180000,6,30000]
["[no operator]",null,false,0.04,15000,3,5000]'
}

@test "stat -g, stat --by module (text) have the program's line with its file, and the chain of forward()" {
	requires bpf sim python3
	local python
	find_python
	stat_text() {
		lingering /workloads/liboperators.so "$SPOOL" stat -o s.txt "$@" -- \
			"$SIM" "$python" "$TOP/tests/workloads/operators/train.py" "$WORKLOADS/liboperators.so" 2 --linger
		run -0 cat s.txt
	}
	stat_text -g -n 1
	assert_line 'GPU time of kernels, by line'
	assert_line --regexp "^  48\.0% 120\.0 us +4 30\.00 us train.py:$(line_of block) Block.forward  $TOP/tests/workloads/operators/train.py\$"
	assert_line ' ... and 2 more (-n 3 shows all)'
	# What has none is not hidden.
	assert_line --regexp '^   4\.0% 10\.00 us +2 5\.000 us \[no line\]$'
	assert_line --regexp '^ stacks of 16 launches, [0-9]+ different'
	assert_line 'Processes'
	stat_text --by module -g
	assert_line --regexp '^  48\.0% 120\.0 us +4 30\.00 us Model > Block > Linear$'
	assert_line --regexp '^  52\.0% 130\.0 us +12 10\.83 us \[no module\]$'
}

@test "stat --by line -p (a running program, until Ctrl-C) has its lines" {
	requires bpf sim python3
	local python
	find_python
	start program "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$python" "$TOP/tests/workloads/operators/train.py" "$WORKLOADS/liboperators.so" 1000000
	start stat "$CUDA_TRACE" stat --by line -g --json -o s.json -p "$program_PID"
	wait_for 30 spool_has Block.forward "$SPOOL"
	wait_for 30 spool_has custom "$SPOOL"
	kill -INT "$stat_PID"
	finished "$stat_PID" 40
	assert_equal "$status" 0
	adds_up s.json
	run -0 rows s.json
	assert_line --regexp '^[0-9]+ [0-9]+ train.py:[0-9]+ Block.forward$'
	assert_line --regexp '^[0-9]+ [0-9]+ train.py:[0-9]+ custom$'
}

@test "stat --by (no -g) estimates from one launch in 100, and keeps the kernels' total" {
	requires bpf sim
	run -0 --separate-stderr ct stat --by operator --json -o s.json -- "$SIM" "$WORKLOADS/launch-storm" -n 5000 -b 500
	adds_up s.json
	json s.json '.by.estimated and .by.stack_period == 100 and .by.stacks > 0 and .by.stacks < 500'
	assert_equal "$(json s.json '.by.rows[0].name')" '[no operator]'
	ct stat --by operator -o s.txt -- "$SIM" "$WORKLOADS/launch-storm" -n 5000 -b 500 >out
	grep -qx 'GPU time of kernels, by operator, estimated: one launch in 100 has a stack' s.txt
}

@test "stat --by range (nested NVTX ranges) has the innermost that was open at the launch, and needs no stacks" {
	requires bpf sim
	ct stat --by range --json -o s.json -- "$SIM" "$WORKLOADS/nvtx" 4 >out
	adds_up s.json
	run -0 rows s.json
	assert_line --regexp '^[0-9]+ 4 outer$'
	assert_line --regexp '^[0-9]+ 4 inner$'
	assert_line --regexp '^[0-9]+ 4 in a domain$'
	json s.json '.by.stack_period == null and .by.stacks == null and (.by.estimated | not)'
	assert_equal "$(json s.json '.totals.kernels')" "$(expect_key out kernels)"
	# Collected in windows only.
	ct stat --by range --range inner --json -o s.json -- "$SIM" "$WORKLOADS/nvtx" 4 >out
	adds_up s.json
	run -0 rows s.json
	assert_output --regexp '^[0-9]+ 4 inner$'
	# What replays a graph is in a range; its kernels are of that in which they were captured.
	ct stat --by range --json -o s.json -- "$SIM" "$WORKLOADS/graph-origins" -n 4 >out </dev/null
	adds_up s.json
	rows s.json | grep -qx '240000 8 embedding'
}

@test "stat --by line (a graph that was created before) names its kernels, their number and share" {
	requires bpf sim
	mkfifo go
	exec 9<>go
	setsid "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/graph-origins" -n 5 --early --linger <go >p.out 2>p.err 9>&- 3>&- &
	program_PID=$!
	echo $program_PID >>started
	wait_for 30 grep -qx ready p.out
	start stat "$CUDA_TRACE" stat --by line -g --json -o s.json -p "$program_PID"
	active() { "$CUDA_TRACE" list --json 2>/dev/null | jq -se "any(.pid == $program_PID and .state == \"active\")" >/dev/null; }
	wait_for 30 active
	echo >&9
	wait_for 30 grep -q '^expect ' p.out
	kill -INT "$stat_PID"
	finished "$stat_PID" 40
	assert_equal "$status" 0
	adds_up s.json
	rows s.json | grep -qxF "35000 5 [graph's creation not recorded]"
	grep -q '^cuda-trace stat: 5 of 30 kernels (8.0 % of the time) are of 1 graphs whose creation was not recorded' stat.err
}

@test "stat --by kernel (-k, --min-duration) has the kernels that stat sums" {
	requires bpf sim
	ct stat --by kernel --json -o s.json -- "$SIM" "$WORKLOADS/modules" >out
	adds_up s.json
	assert_equal "$(json s.json '[.by.rows[] | [.name, .total_ns, .kernels]] | sort | tojson')" \
		"$(json s.json '[.kernels[] | [.name, .total_ns, .count]] | sort | tojson')"
	json s.json '.by.rows | length == 2'
	ct stat --by kernel -k '^even$' --json -o k.json -- "$SIM" "$WORKLOADS/modules" >out
	adds_up k.json
	assert_equal "$(json k.json '[.by.rows[].name] | tojson')" '["even"]'
	# Kernels of 30, 10 and 5 us.
	ct stat --by kernel --min-duration 20us --json -o m.json -- "$SIM" "$WORKLOADS/graph-origins" -n 4 >out </dev/null
	adds_up m.json
	assert_equal "$(rows m.json)" '240000 8 spin'
}

@test "stat --by (--max-size is reached) says so, and has the rest in a row of its own" {
	requires bpf sim
	run -0 --separate-stderr ct stat --by kernel --max-size 100k --json -o s.json -- "$SIM" "$WORKLOADS/launch-storm" -n 20000 -b 500
	[[ $stderr == *"cuda-trace stat: --by: --max-size is reached after "*"kernels from now on are [not recorded]"* ]] || fail "not said: $stderr"
	adds_up s.json
	json s.json '.by.ended == "max_size" and .by.covered_ns > 0 and .by.rows[-1].name == "[not recorded]" and .by.rows[-1].found == false'
	json s.json '.by.rows[-1].kernels > 15000 and .by.rows[0].kernels > 100'
}

@test "stat --by (a full disk) goes on without it, says so, and fails" {
	requires bpf sim root
	mount -t tmpfs -o size=256k tmpfs tmp || skip "cannot mount a tmpfs"
	run -1 --separate-stderr ct stat --by kernel --json -o s.json -- "$SIM" "$WORKLOADS/launch-storm" -n 20000 -b 500
	left=$(ls tmp)
	umount tmp
	assert_equal "$left" ''
	[[ $stderr == *"--by: cannot write the temporary recording after "*": No space left on device"* ]] || fail "not said: $stderr"
	json s.json '.totals.kernels == 20000 and .by.ended == "write_error"'
}

@test "stat --by (no folder for temporary files) says so before PROGRAM runs" {
	requires bpf sim
	export TMPDIR=$PWD/nowhere
	run -1 ct stat --by line -- "$SIM" "$WORKLOADS/saxpy"
	assert_line --regexp "^cuda-trace stat: --by: cannot create $PWD/nowhere/cuda-trace-stat\..*: No such file or directory \(TMPDIR\)\$"
	refute_output --partial 'expect '
}

@test "stat --by (what does not go with it) is refused" {
	refused() {
		run -2 ct stat "${@:2}" -- true
		assert_output --partial "$1"
	}
	refused "'layer' is none of operator, module, line, range, kernel" --by layer
	refused '--by needs all kernels: not with --sample' --by line --sample 10ms/1s
	refused '--by needs all kernels: not with --sample' --by line --max-overhead 2%
	refused '--by needs GPU times: not with --source driver' --by kernel --source driver
	refused '--by needs kernels among the events (-e)' --by line -e copies
	refused '--by range needs no call stacks: not with -g' --by range -g
	refused '-g takes 1, 10, 100, 1000 or 10000' --by line -g=7
	refused '--max-size wants a size like 500M or 2G' --by line --max-size lots
	refused '--max-size goes with --by' --max-size 1G
	refused '--call-graph goes with --by' --call-graph fp
}
