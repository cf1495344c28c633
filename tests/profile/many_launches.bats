#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --counters of what needs no second pass: CUPTI stays started over many launches, and nothing
# of the program may come between its start and its stop that does not survive that.

load ../lib/helpers

STORM=$WORKLOADS/launch-storm
CYCLES=sm__cycles_active.avg

setup() {
	requires bpf sim jq
	cd "$BATS_TEST_TMPDIR" || return 1
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/log SIMCUDA_COUNTERS=$BATS_TEST_TMPDIR/counters
	: >counters
}

counted() {
	: >log
	sim "$CUDA_TRACE" profile --json -o out.json --counters "$@" >program 2>err
	unharmed
}

# unharmed: PROGRAM said its last line, nothing happened that a real CUPTI does not survive, and whatever
# was started was stopped.
unharmed() {
	grep -q '^expect ' program || fail "PROGRAM did not end: $(cat program err)"
	! grep -m 3 '^[0-9]* [0-9]* fault' log || fail "a fault"
	assert_equal "stops $(grep -c profiler_stop log)" "stops $(starts)"
}

starts() {
	grep -c profiler_start log
}

lines() {
	jq -sc "map(select(.event == \"$1\")) | $2" out.json
}

# all_of N: so many launches were counted, each once, and none was missed
all_of() {
	assert_equal "$(lines counters 'map(.number) | sort == [range(1; length + 1)]')" true
	assert_equal "$(lines counters_state '.[0] | [.counted, .missed]')" "[$1,0]"
	assert_equal "$(lines counters length)" "$1"
}

@test "profile --counters (one pass, launches follow each other) starts CUPTI once for 64 of them" {
	counted $CYCLES -- "$STORM" -n 100
	all_of 100
	assert_equal "$(starts)" 2
	# A second pass, or a libcupti that was not seen to do that: one by one.
	counted quick -- "$STORM" -n 20
	all_of 20
	assert_equal "$(starts)" 20
	# Nor if launches do not wait for their kernels, as where there is nothing to count but time.
	counted gpu__time_duration.sum -- "$STORM" -n 20
	assert_equal "$(starts)" 20
	SIMCUDA_RANGES=1 SIMCUDA_CUPTI_VERSION=12.9 counted $CYCLES -- "$STORM" -n 20
	all_of 20
	assert_equal "$(starts)" 20
}

@test "profile --counters (one pass, modules come and go) gives each kernel its own values" {
	printf '%s\n' "even $CYCLES 1111" "odd $CYCLES 2222" >counters
	counted $CYCLES -- "$WORKLOADS/modules" 10 5
	all_of 50
	assert_equal "$(starts)" 1
	assert_equal "$(lines counters "group_by(.kernel) | map([.[0].kernel, length, (map(.metrics[\"$CYCLES\"].value) | unique)])")" \
		'[["even",25,[1111]],["odd",25,[2222]]]'
}

@test "profile --counters (one pass, graphs between the launches) stops before each graph" {
	counted $CYCLES -- "$STORM" -n 300 -g 10
	all_of 270
	# And now and then for what there is: each half a second.
	[ "$(starts)" -ge 30 ] && [ "$(starts)" -lt 100 ]
	counted $CYCLES -- "$STORM" -n 100 -t 4 -g 5
	all_of "$(expect_key program launches)"
}

@test "profile --counters (one pass, captures begin between the launches) breaks none" {
	counted $CYCLES -- "$WORKLOADS/captures" 2 20
	counted $CYCLES -- "$WORKLOADS/captures" 2 20 beside
	[ "$(lines counters length)" -gt 0 ]
}

@test "profile --counters (one pass, -k) stops before launches of others" {
	printf '%s\n' "even $CYCLES 1111" "odd $CYCLES 2222" >counters
	counted $CYCLES -k '^odd' -- "$WORKLOADS/modules" 10 5
	all_of 25
	assert_equal "$(starts)" 5
	assert_equal "$(lines counters "map(.metrics[\"$CYCLES\"].value) | unique")" '[2222]'
}

@test "profile --counters (one pass, the program pauses) reports what there is" {
	start tool "$SIM" "$CUDA_TRACE" profile --json -o out.json --counters $CYCLES -- "$STORM" -n 2 -p 4000000
	wait_for 20 grep -q profiler_start log
	wait_for 3 grep -q '"event":"counters"' out.json
	assert_equal "$(starts)" 1
	finished "$tool_PID"
	cp tool.out program
	unharmed
	all_of 2
	assert_equal "$(starts)" 2
}

@test "profile --counters (one pass, failing launches, contexts that go, the program ends) loses none" {
	local mode
	counted $CYCLES -- "$WORKLOADS/failures"
	assert_equal "$(lines counters length)" 10
	counted $CYCLES -- "$WORKLOADS/resets"
	all_of "$(expect_key program launches)"
	for mode in return unsynced exit _exit pthread_exit destroy; do
		counted $CYCLES -- "$WORKLOADS/early-exit" $mode 10
		all_of 10
	done
}

@test "profile --counters (one pass, the program ends by a signal) says what is lost" {
	run -1 sim "$CUDA_TRACE" profile --json -o out.json --counters $CYCLES -- sh -c '"$0" kill 10 || :' "$WORKLOADS/early-exit"
	assert_output --partial "no kernel was counted: values come after half a second, and a signal ended the program"
	assert_equal "$(lines lost '.[0].lost.killed')" 1
	# Of more than one pass each is reported as it returns.
	run sim "$CUDA_TRACE" profile --json -o out.json --counters quick -- "$WORKLOADS/early-exit" kill 10
	assert_equal "$(lines counters length)" 10
}

@test "profile --counters (contexts that live at the same time) lets each have the counters in turn" {
	counted $CYCLES -- "$WORKLOADS/resets" 3 turns
	all_of 300
	assert_equal "$(starts)" 6
	counted quick -- "$WORKLOADS/resets" 3 turns
	all_of 300
	assert_equal "$(grep -c profiler_disable log)" 6
	# Each GPU has counters of its own.
	SIMCUDA_DEVICES=2 counted quick -- "$WORKLOADS/resets" 3 gpus
	all_of 300
	assert_equal "$(grep -c profiler_disable log)" 2
}

@test "profile --counters --skip --kernels (one pass) counts those, and lets the GPU go" {
	counted $CYCLES --skip 3 --kernels 70 -- "$STORM" -n 200 -p 10000
	all_of 70
	[ "$(starts)" -ge 2 ] && [ "$(starts)" -lt 20 ]
	grep -q profiler_disable log
	assert_equal "$(lines counters_state '.[0].outcome')" '"done"'
}

@test "profile --counters (one pass, the tool is killed between two launches) stops before the next graph" {
	start program "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$STORM" -n 200 -g 100 -p 20000
	wait_for 20 grep -q ready program.out
	start tool "$SIM" "$CUDA_TRACE" profile --json -o out.json --counters $CYCLES -p "$program_PID"
	wait_for 20 grep -q profiler_start log
	kill -KILL "$tool_PID"
	finished "$program_PID"
	cp program.out program
	unharmed
	grep -q profiler_disable log
}

@test "profile --counters -p (a fourth time, in a program that launches graphs) refuses, and harms none" {
	local i
	start program "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$STORM" -s 60 -g 10 -p 2000
	wait_for 20 grep -q ready program.out
	for i in 1 2 3; do
		timeout -k 5 20 "$SIM" "$CUDA_TRACE" profile --json -o out.json --counters quick --kernels 3 -d 9 -p "$program_PID"
		assert_equal "$i $(lines counters_state '.[-1].counted')" "$i 3"
	done
	run -1 timeout -k 5 20 "$SIM" "$CUDA_TRACE" profile -o out.txt --counters quick --kernels 3 -d 9 -p "$program_PID"
	[[ $output = *"launches graphs, and CUPTI was switched on in it three times"* ]]
	assert_equal "$(starts) $(grep -c profiler_disable log)" "9 3"
	kill "$program_PID"
}

@test "profile --counters -p (again and again, no graphs) goes on" {
	local i
	start program "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$STORM" -s 60 -t 3 -p 2000
	wait_for 20 grep -q ready program.out
	for i in 1 2 3 4 5; do
		timeout -k 5 20 "$SIM" "$CUDA_TRACE" profile --json -o out.json --counters quick --kernels 3 -d 9 -p "$program_PID"
		assert_equal "$i $(lines counters_state '.[-1].counted')" "$i 3"
	done
	kill "$program_PID"
}
