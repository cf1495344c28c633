#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --counters (of kernels, of graphs) and --sass of a kernel that never ends: the agent waits for a minute,
# so all at once.
# shellcheck disable=SC2154 # storm_PID and the like are made by start

load ../lib/helpers

setup() {
	requires bpf sim jq
	cd "$BATS_TEST_TMPDIR" || return 1
}

# state FILE FILTER: jq's answer over what the tool says of the counting at its end.
state() {
	jq -sc "map(select(.event == \"counters_state\")) | .[0] | $2" "$1"
}

sass() {
	SIMCUDA_LOG=$PWD/sass.log SIMCUDA_SASS_KERNELS=1000 timeout -k 5 90 "$SIM" "$CUDA_TRACE" profile --sass -k spin --json \
		-o sass.json -- "$WORKLOADS/early-exit" endless 10
}

@test "profile --counters -p, --graphs, --sass (a kernel that never ends) say so after 60 s, and the program runs on" {
	# Four kernels of 20 s.
	SIMCUDA_LOG=$PWD/graph.log SIMCUDA_KERNEL_NS=20000000000 start graph "$SIM" "$CUDA_TRACE" profile --graphs \
		--counters smsp__inst_executed.sum --json -o graph.json -- "$WORKLOADS/launch-storm" -n 1 -g 1
	export SIMCUDA_LOG=$PWD/log
	# It does later, so that the program is seen to go on.
	SIMCUDA_PASS_MS=80000 start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 5 -p 1000
	ready storm
	start tool "$SIM" "$CUDA_TRACE" profile --counters gpu__time_duration.sum --json -o out.json -p "$storm_PID"
	wait_for 20 grep -q 'has been in one counted kernel for' tool.err

	local before=$SECONDS
	run -1 sass
	[ $((SECONDS - before)) -ge 60 ] && [ $((SECONDS - before)) -lt 75 ]
	assert_line --partial 'the counted kernel did not end within 60 s'
	assert_line --regexp '^expect launches=211 '
	assert_equal "$(state sass.json '[.outcome, .counted, .missed, .result]')" '["failed",0,1,1000]'
	# CUPTI is not touched any more.
	run ! grep -q 'sass disable' sass.log
	run ! grep '^[0-9]* [0-9]* fault' sass.log

	wait_for 20 grep -q 'has not ended within 60 s, and CUPTI waits for it inside the launch call' tool.err
	# Ctrl-C ends the tool, not the program.
	kill -INT "$tool_PID"
	finished "$tool_PID" 5
	assert_equal "$status" 1
	assert_equal "$(state out.json '[.outcome, .counted, .result]')" '["failed",0,1001]'
	kill -0 "$storm_PID"
	finished "$storm_PID" 40
	assert_equal "$status" 0
	grep -q '^expect launches=' storm.out
	run ! grep '^[0-9]* [0-9]* fault' log

	finished "$graph_PID" 40
	grep -q 'has been in one counted graph for' graph.err
	grep -q 'the counted graph did not end within 60 s: its launch has returned' graph.err
	grep -q '^expect launches=0 kernels=4 ' graph.out
	assert_equal "$(state graph.json '[.outcome, .counted, .missed, .result]')" '["failed",0,1,1000]'
	# CUPTI is not touched any more.
	run ! grep -E '^[0-9]* [0-9]* (profiler_stop|profiler_disable|fault)' graph.log
}
