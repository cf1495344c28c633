#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Programs that forbid themselves system calls (seccomp) after cuInit(): attaching must not kill them.

load ../lib/helpers
load ../lib/cost

setup() {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

# sandboxed HOW TOOL-OPTIONS...: stat of a running one, and that one's end.
sandboxed() {
	CUDA_INJECTION64_PATH=$AGENT start program "$SIM" "$WORKLOADS/sandboxed" "$1" 4000
	wait_for 20 grep -qx ready program.out
	sleep 0.3
	timeout 20 "$CUDA_TRACE" stat --json -o out.json -d 1 "${@:2}" 2>err || fail "$(cat err)"
	finished "$program_PID"
	assert_equal "$1 $status" "$1 0"
	expect_key program.out launches
}

@test "stat -p (a program that has forbidden itself threads, files and mappings) leaves it alive, at libcuda's entry points" {
	local how
	CUDA_INJECTION64_PATH=$AGENT start free "$SIM" "$WORKLOADS/sandboxed" before 9000
	wait_for 20 grep -qx ready free.out
	# shellcheck disable=SC2154 # made by start
	without "$CUDA_TRACE" stat --json -o out.json -d 1 -p "$free_PID"
	for how in kill errno; do
		CUPTI_USDT_START=1 CUDA_INJECTION64_PATH=$AGENT start program "$SIM" "$WORKLOADS/sandboxed" $how 6000
		wait_for 20 grep -qx ready program.out
		sleep 0.3
		attacked "$CUDA_TRACE" stat --json -o out.json -d 1 -p "$program_PID"
		finished "$program_PID"
		assert_equal "$how $status" "$how 0"
		grep -q '^expect ' program.out
		json out.json '.totals.launches > 0 and .processes[0].source == "driver"'
		json out.json '.processes[0].trouble | test("seccomp")'
	done
}

@test "stat -c (all processes are woken but one that has forbidden itself threads) leaves it alive" {
	sandboxed kill -c sandboxed
	grep -q 'its seccomp filter forbids' err
	json out.json '.totals.launches > 0 and .processes[0].source == "driver"'
}

@test "stat -c (a filter that was there before cuInit, as in a container) has its kernels" {
	sandboxed before -c sandboxed
	json out.json '.totals.kernels > 0 and .processes[0].source == "cupti"'
}
