#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --counters --replay launches: no kernel runs twice; each launch is counted with one set of metrics
# that one pass takes (eight on the simulated GPU), and a kernel's next launches with the others.

load ../lib/helpers

STORM=$WORKLOADS/launch-storm

setup() {
	requires bpf sim jq
	cd "$BATS_TEST_TMPDIR" || return 1
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/log SIMCUDA_COUNTERS=$BATS_TEST_TMPDIR/counters
	: >counters
}

# by_turns ARGS...: JSON in out.json, PROGRAM's output in program, messages in err.
by_turns() {
	: >log
	sim "$CUDA_TRACE" profile --json -o out.json --replay launches --counters "$@" >program 2>err
	grep -q '^expect ' program || fail "PROGRAM did not end: $(cat program err)"
	! grep -m 3 '^[0-9]* [0-9]* fault' log || fail "a fault"
}

lines() {
	jq -sc "map(select(.event == \"$1\")) | $2" out.json
}

@test "profile --counters --replay launches counts each launch once, and a kernel with all metrics" {
	by_turns overview -- "$STORM" -n 300
	grep -q '6 sets of metrics on GH100, one per launch; no kernel runs twice' err
	assert_equal "$(lines counters 'map(.number) == [range(1; 301)]')" true
	assert_equal "$(lines counters 'map(.metrics | length) | unique')" '[2,8]'
	assert_equal "$(lines counters 'map([.passes, .verdict]) | unique')" '[[1,null]]'
	# The longer it goes on, the longer with each.
	assert_equal "$(lines counters_sum 'map([.kernel, .launches, (.metrics | length), .verdict.is])')" \
		'[["empty",300,42,"launch-bound"]]'
	assert_equal "$(lines counters_sum '.[0].metrics | map(.launches) | [min, max]')" '[21,85]'
	# For another set CUPTI is enabled anew: not for each launch.
	assert_equal "$(grep -c profiler_enable log)" 18
	[ "$(grep -c profiler_start log)" -lt 30 ]
	assert_equal "$(lines counters '[.[].metrics | map(.value)] | flatten | unique')" '[1]'
	assert_equal "$(lines lost '.[0].lost.total')" 0
}

@test "profile --counters --replay launches (two kernels) keeps the values of each apart" {
	printf '%s\n' 'even gpu__time_duration.sum 1111' 'odd gpu__time_duration.sum 2222' \
		'even dram__bytes.sum 33' 'odd dram__bytes.sum 44' >counters
	by_turns overview -- "$WORKLOADS/modules" 40 3
	assert_equal "$(lines counters_sum 'map([.kernel, .launches, (.metrics | length)] +
		(.metrics | [."gpu__time_duration.sum", ."dram__bytes.sum"] | map(.least, .value, .most))) | sort')" \
		'[["even",60,42,1111,1111,1111,33,33,33],["odd",60,42,2222,2222,2222,44,44,44]]'
	timeout 60 "$SIM" "$CUDA_TRACE" profile -o out --replay launches --counters overview -- "$WORKLOADS/modules" 40 3
	assert_equal "$(grep -c '^  grid .* counted 60$' out)" 2
	grep -Eq '^ +2\.22 +2\.22 +2\.22 .* us +gpu__time_duration\.sum$' out || fail "$(cat out)"
}

@test "profile --counters --replay launches --kernels counts so many with each set, and lets the GPU go" {
	by_turns overview --kernels 7 -- "$STORM" -n 400 -p 2000
	assert_equal "$(lines counters_state '.[0] | [.outcome, .counted, .missed]')" '["done",42,0]'
	grep -q '; 42 launches of each process are to be counted' err
	assert_equal "$(lines counters_sum 'map([.launches, (.metrics | map(.launches) | unique)])')" '[[42,[7]]]'
	grep -q profiler_disable log
	# The first seven are of one kernel: of the others none is counted.
	by_turns overview --kernels 7 -- "$WORKLOADS/modules" 20 10
	assert_equal "$(lines counters_sum 'map([.kernel, .launches])')" '[["even",42]]'
}

@test "profile --counters --replay launches (a metric of several passes) leaves it out, and says so" {
	by_turns sim__heavy.sum,gpu__time_duration.sum -- "$STORM" -n 10
	grep -q 'sim__heavy.sum needs several passes in one run and is left out' err
	assert_equal "$(lines counters_sum 'map([.launches, (.metrics | keys)])')" '[[10,["gpu__time_duration.sum"]]]'
}

@test "profile --counters --replay launches (captures, contexts by turns, threads) harms none, and gets all" {
	by_turns overview -- "$STORM" -n 400 -t 4
	assert_equal "$(lines counters_state '.[0] | [.counted, .missed]')" "[$(expect_key program launches),0]"
	assert_equal "$(lines counters_sum '.[0].metrics | length')" 42
	by_turns overview -- "$WORKLOADS/resets" 3 turns
	assert_equal "$(lines counters_state '.[0].counted')" 300
	by_turns overview -- "$WORKLOADS/captures" 2 20 beside
}

# Enabled too often beside graphs CUPTI breaks the program.
@test "profile --counters --replay launches (graphs) ends after three sets, and says why" {
	start program "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$STORM" -s 60 -g 10 -p 2000
	wait_for 20 grep -q ready program.out
	: >log
	timeout -k 5 20 "$SIM" "$CUDA_TRACE" profile --json -o out.json --replay launches --counters overview -d 3 \
		-p "$program_PID" 2>err || true
	assert_equal "$(lines counters_state '.[0] | [.outcome, .result, .counted > 2]')" '["failed",1003,true]'
	# Of half of the metrics no verdict can be right.
	assert_equal "$(lines counters_sum '.[0] | [(.metrics | length), .verdict]')" '[24,null]'
	grep -q 'launches graphs, and CUPTI was switched on in it three times' err
	wait_for 5 eval '[ "$(grep -c profiler_disable log)" = 3 ]'
	assert_equal "$(grep -c profiler_enable log)" 3
	kill "$program_PID"
	# Those that come later end it, too.
	by_turns overview -- "$STORM" -n 400 -t 4 -g 50 || true
	assert_equal "$(lines counters_state '.[0] | [.outcome, .result]')" '["failed",1003]'
}

@test "profile --counters --replay launches (fewer launches than sets) has no verdict, and says why" {
	by_turns overview -- "$STORM" -n 3
	assert_equal "$(lines counters_sum '.[0] | [(.metrics | length), .verdict]')" '[24,null]'
	timeout 60 "$SIM" "$CUDA_TRACE" profile -o out --replay launches --counters overview -- "$STORM" -n 3
	grep -q '^  18 more metrics need further launches of this kernel: no verdict without them$' out
	run ! grep verdict: out
}

@test "profile --counters --replay launches -p looks into a program that runs" {
	start program "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$STORM" -s 60 -p 2000
	wait_for 20 grep -q ready program.out
	for _ in 1 2; do
		timeout -k 5 20 "$SIM" "$CUDA_TRACE" profile --json -o out.json --replay launches --counters overview \
			--kernels 3 -d 9 -p "$program_PID" 2>err
		assert_equal "$(lines counters_sum 'map([.launches, (.metrics | length)])')" '[[18,42]]'
	done
	kill "$program_PID"
}

@test "profile --counters --replay launches (no libcupti here) says that it asks it" {
	CUDA_TRACE_LIBCUPTI=/nowhere run -1 timeout 20 "$CUDA_TRACE" profile --replay launches --counters overview -- "$STORM"
	assert_output --partial "--replay launches needs this machine's libcupti to group metrics"
}

@test "counters (sets that are written as nobody would) count each launch with one that there is" {
	requires root
	export CUDA_INJECTION64_PATH=$AGENT
	CUPTI_USDT_COUNTERS=';;gpu__time_duration.sum,,;,;dram__bytes.sum;' run -0 timeout 60 \
		"$B/tests/agent/listen" -v "$AGENT" counters -- "$SIM" "$WORKLOADS/saxpy"
	assert_line --regexp '^expect launches=10 '
	assert_equal "$(grep -c '^readable probe=counters text=gpu__time_duration.sum' <<<"$output")" 5
	assert_equal "$(grep -c '^readable probe=counters text=dram__bytes.sum' <<<"$output")" 5
}
