#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Each option and mode of each test program, once: what a test passes must be understood.

load ../lib/helpers

setup() {
	requires sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

# runs STATUS WORKLOAD ARGS...: it ends with that status and has printed its last line.
runs() {
	local status=$1; shift
	LIMIT=30 run "-$status" sim "$WORKLOADS/$1" "${@:2}" </dev/null
	assert_output --partial 'expect launches='
}

@test "launch-storm (each option of its --help, long and short) is understood" {
	local letter name value args count=0
	while read -r letter name value; do
		count=$((count + 1))
		case $name in
		seconds | launches) args=() ;;
		report) args=(-s 1 -p 10000) ;;
		*) args=(-n 20) ;;
		esac
		case $name in
		seconds) value=1 ;;
		report) value=100 ;;
		*) value=${value:+2} ;;
		esac
		# shellcheck disable=SC2086
		runs 0 launch-storm "${args[@]}" "--$name" $value
		# shellcheck disable=SC2086
		runs 0 launch-storm "${args[@]}" "-$letter" $value
	done < <(sim "$WORKLOADS/launch-storm" --help | sed -n 's/^  -\(.\), --\([a-z-]*\) \([A-Z]*\) .*/\1 \2 \3/p')
	[ "$count" -ge 9 ]
	run -0 sim "$WORKLOADS/launch-storm" --launches 30
	assert_equal "$(expect_key <(echo "$output") launches)" 30
	run -2 sim "$WORKLOADS/launch-storm" --frobnicate
}

@test "saxpy, stacks (each option) are understood" {
	runs 0 saxpy --size 4096 --repeat 2
	runs 0 saxpy --size 4096 --cooperative
	runs 0 stacks -n 2
	runs 0 stacks -n 2 --jit
	runs 0 stacks -n 2 --hostile
	runs 0 stacks -n 2 --deep 3
	runs 0 stacks -n 2 --linger
}

@test "workloads with numbers and modes (each mode, small numbers) end with their last line" {
	local mode
	for mode in "allocators 2 3" "badcopies 2" "captures 1 100" "captures 1 100 beside" "captures 1 100 nested" "captures 1 100 long" \
		"copies 2 4096" "dlopened 10 1" "failures 2" forks "graphs 2 3" "graphs 2 3 runtime" "memory 2 4096" \
		"modules 2 5" "nvtx 2" "nvtx deep" "nvtx wide" nvtx-payloads "nvtx-payloads schemas 3" "peers 2 4096" "ranges 2" "resets 2" "resets 2 turns" \
		"runtime 4" "streams 10 5 2" "syncs 2 10" "threads 4 2 2" "unified 2 1024"; do
		# shellcheck disable=SC2086
		runs 0 $mode
	done
	runs 0 training -n 4 -m 2 -s 3 -u 5 -e 2 --inner
	runs 0 training --steps 4 --ms 2 --slow 3 --until 5 --error 2 --gate /dev/null --open
	for mode in return unsynced exit _exit exec pthread_exit destroy; do
		runs 0 early-exit $mode 10
	done
	for mode in vfork signals malloc; do
		runs 0 bonds $mode 20
	done
}
