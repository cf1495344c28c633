#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --counters --replay application: PROGRAM runs once for each set of metrics that one pass takes,
# eight on the simulated GPU. Runs that differ, fail, are interrupted.
# shellcheck disable=SC2016,SC2154 # scripts are for sh; tool_PID is made by start

load ../lib/helpers

setup() {
	requires bpf sim jq
	cd "$BATS_TEST_TMPDIR" || return 1
	export SIMCUDA_COUNTERS=$PWD/counters
	: >counters
	: >runs
}

# replayed ARGS...: JSON in out.json, PROGRAM's output in program, messages in err.
replayed() {
	sim "$CUDA_TRACE" profile --json -o out.json --replay application --counters "$@" \
		>program 2>err
}

# nth COMMAND: a PROGRAM that has the number of its run in $n.
nth() {
	echo "echo >>runs; n=\$(wc -l <runs); $1"
}

lines() {
	jq -sc "map(select(.event == \"$1\")) | $2" out.json
}

@test "profile --counters --replay application puts together what the runs counted" {
	cat >counters <<-END
		saxpy gpu__time_duration.sum 125920
		saxpy dram__bytes_write.sum 4711
	END
	replayed quick -- "$WORKLOADS/saxpy"
	assert_equal "$(grep -c '^expect launches=10' program)" 2
	# How often is said before the first one.
	assert_equal "$(sed -n 1p err)" \
		"cuda-trace profile: PROGRAM runs 2 times, once for each set of metrics that GH100 collects in one pass"
	assert_equal "$(lines counters 'map(.number)')" '[1,2,3,4,5,6,7,8,9,10]'
	assert_equal "$(lines counters 'map(.metrics | length) | unique')" '[12]'
	assert_equal "$(lines counters 'map([.metrics["gpu__time_duration.sum"].value,
		.metrics["dram__bytes_write.sum"].value, .passes]) | unique')" '[[125920,4711,2]]'
	assert_equal "$(lines counters_state 'map([.counted, .passes]) | unique')" '[[10,1]]'
	assert_equal "$(lines replay '.[0] | [.runs, .planned, .left_out, .kernels]')" '[2,2,0,[]]'
	assert_equal "$(lines lost '.[0].lost.total')" 0
	timeout 60 "$SIM" "$CUDA_TRACE" profile -o out --replay application --counters quick -- "$WORKLOADS/saxpy"
	assert_equal "$(grep -c '^  grid .* counted 10$' out)" 1
	grep -q 'dram__bytes_write.sum' out
}

@test "profile --counters --replay application (one set of metrics) runs once" {
	replayed gpu__time_duration.sum --kernels 3 -- "$WORKLOADS/saxpy"
	assert_equal "$(grep -c '^expect ' program)" 1
	assert_equal "$(lines counters length)" 3
	assert_equal "$(lines replay '.[0] | [.runs, .planned]')" '[1,1]'
}

@test "profile --counters --replay application (several processes) distinguishes them by their order" {
	printf 'empty gpu__time_duration.sum 7\n' >counters
	replayed quick -- sh -c "$(nth '"$WORKLOADS/launch-storm" -n $((4 - n)); "$WORKLOADS/launch-storm" -n 5
		"$WORKLOADS/saxpy"')"
	assert_equal "$(lines counters 'group_by(.pid) | map([.[0].comm, length]) | sort')" \
		'[["launch-storm",2],["launch-storm",5],["saxpy",10]]'
	assert_equal "$(lines counters 'map(.metrics | length) | unique')" '[12]'
	assert_equal "$(lines replay '.[0].left_out')" 1
}

@test "profile --counters --replay application (runs that launch more, fewer, others) leaves those out, and says so" {
	replayed overview -- sh -c "$(nth '[ $n = 3 ] && l=7 || l=1$n; "$WORKLOADS/launch-storm" -n $l;
		[ $n = 2 ] || "$WORKLOADS/saxpy"')"
	assert_equal "$(lines counters 'map(.kernel) | unique')" '["empty"]'
	assert_equal "$(lines counters length)" 7
	assert_equal "$(lines counters 'map(.metrics | length) | unique')" '[42]'
	assert_equal "$(lines replay '.[0] | [.runs, .left_out, (.kernels | map([.kernel, .launches]))]')" \
		'[6,19,[["empty",[11,12,7,14,15,16]],["saxpy",[10,0,10,10,10,10]]]]'
	: >runs
	timeout 60 "$SIM" "$CUDA_TRACE" profile -o out --replay application --counters overview -- \
		sh -c "$(nth '"$WORKLOADS/launch-storm" -n 1$n')"
	run -0 cat out
	assert_line "5 launches were not in every run, and are left out:"
	assert_line "  empty, grid 1x1x1: 11,12,13,14,15,16 times in the runs"
}

@test "profile --counters --replay application (a run fails, is killed, is not found) stops there" {
	run -9 replayed overview -- sh -c "$(nth '"$WORKLOADS/saxpy"; [ $n -lt 3 ] || exit 9')"
	grep -q 'no more runs: run 3 of 6 ended with status 9, unlike the first run' err
	assert_equal "$(wc -l <runs)" 3
	# What the runs before it had in common.
	assert_equal "$(lines counters 'map([(.metrics | length), .passes]) | unique')" '[[16,2]]'
	assert_equal "$(lines replay '.[0] | [.runs, .planned, .left_out]')" '[2,6,0]'
	: >runs
	run -143 replayed overview -- sh -c "$(nth '"$WORKLOADS/saxpy"; [ $n -lt 2 ] || kill $$')"
	grep -q 'no more runs: run 2 of 6 ended by signal 15' err
	run -127 replayed overview -- ./not-there
	grep -q 'no more runs: run 1 of 6 did not start' err
}

@test "profile --counters --replay application (each run ends with the same status) goes on, and passes it on" {
	run -3 replayed quick -- sh -c "$(nth '"$WORKLOADS/saxpy"; exit 3')"
	assert_equal "$(wc -l <runs)" 2
	assert_equal "$(lines counters length)" 10
}

@test "profile --counters --replay application (Ctrl-C in the second run) shows the first" {
	start tool "$SIM" "$CUDA_TRACE" profile --json -o out.json --replay application --counters overview -- \
		sh -c "$(nth '"$WORKLOADS/launch-storm" -n 5; [ $n -lt 2 ] || sleep 30')"
	wait_for 20 grep -q 'run 2 of 6' tool.err
	sleep 1
	kill -INT -- "-$tool_PID"
	finished "$tool_PID"
	grep -q 'no more runs: run 2 of 6 was interrupted' tool.err
	assert_equal "$(wc -l <runs)" 2
	assert_equal "$(lines counters length)" 5
	assert_equal "$(lines replay '.[0] | [.runs, .planned]')" '[1,6]'
}

@test "profile --counters --replay application (a metric of several passes) leaves it out, and says so" {
	replayed gpu__time_duration.sum,sim__heavy.sum,dram__bytes.sum -- "$WORKLOADS/saxpy"
	grep -q 'sim__heavy.sum needs several passes in one run and is left out' err
	assert_equal "$(lines counters '.[0].metrics | keys')" '["dram__bytes.sum","gpu__time_duration.sum"]'
	run -1 replayed sim__heavy.sum -- sh -c "$(nth true)"
	grep -q 'no metric is left to collect' err
	assert_equal "$(wc -l <runs)" 0
}

@test "profile --counters --replay (-p, another word, no libcupti) is refused, and starts nothing" {
	run -2 "$CUDA_TRACE" profile --counters quick --replay application -p $$
	assert_output --partial "--replay application needs a PROGRAM, which it runs several times"
	run -2 "$CUDA_TRACE" profile --counters quick --replay range -- touch started
	assert_output --partial "--replay: 'range' is none of kernel, application, launches"
	SIMCUDA_CUPTI_VERSION=12.5 run -1 "$SIM" "$CUDA_TRACE" profile --counters quick --replay application -- \
		touch started
	assert_output --partial "needs this machine's libcupti to group metrics"
	[ ! -e started ]
}

@test "profile --counters --replay application (the tool has raised its priority meanwhile) runs PROGRAM at the usual one" {
	echo 'saxpy gpu__time_duration.sum 125920' >counters
	# shellcheck disable=SC2016
	replayed quick -- sh -c 'nice >>nices; exec "$0"' "$WORKLOADS/saxpy"
	assert_equal "$(xargs <nices)" '0 0'
}
