#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace record --range, --profiler-api, --steps: the recording has what was called in the windows.

load ../lib/helpers

setup() {
	requires root bpf sim sqlite3
	cd "$BATS_TEST_TMPDIR" || return 1
}

count() {
	sqlite3 r.db "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_$1"
}

# recorded MODE OPTIONS...: of the program `windows`, what it made inside, and nothing was lost.
recorded() {
	local mode=$1 kind; shift
	run -0 --separate-stderr ct record -f -q -o r.db "$@" -- "$SIM" "$WORKLOADS/windows" "$mode" 6
	echo "$output" >out
	for kind in KERNEL:kernels MEMCPY:memcpys MEMSET:memsets SYNCHRONIZATION:syncs; do
		assert_equal "$kind $(count "${kind%:*}")" "$kind $(expect_key out "in_${kind#*:}")"
	done
	assert_equal "$(sqlite3 r.db 'SELECT coalesce(sum(count), 0) FROM CUDA_TRACE_LOST')" 0
}

@test "record --range, --profiler-api, --steps records what was called in the windows, whenever it ends" {
	recorded range --range step
	# Launches, and nothing of what was only observed to find the windows.
	assert_equal "$(count RUNTIME)" "$(($(expect_key out in_launches) + $(expect_key out in_graphs)))"
	assert_equal "$(sqlite3 r.db 'SELECT count(*) FROM NVTX_EVENTS')" 0
	recorded profiler --profiler-api
	recorded torch --range 'ProfilerStep#*@' --steps 6
	run -0 ct record -f -q -o r.db --skip-steps 1 --steps 2 -- "$SIM" "$WORKLOADS/windows" torch 6
	# Two steps and the work between them, which is the same.
	assert_equal "$(count KERNEL)" 15
}

@test "record --range (-g, -e nvtx) has stacks and ranges of the windows only" {
	recorded range --range step -g -e kernels,copies,sync,nvtx
	assert_equal "$(sqlite3 r.db "SELECT group_concat(DISTINCT text) FROM (SELECT text FROM NVTX_EVENTS ORDER BY text)")" around,step
	# Each launch has its stack.
	assert_equal "$(sqlite3 r.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE callchainId IS NULL')" 0
	run -0 ct report --by range --json r.db
	assert_output --partial step
}

@test "record --range: report says that shares include the time between windows" {
	recorded range --range step@ --steps 6
	assert_equal "$(sqlite3 r.db "SELECT value FROM META_DATA_CAPTURE WHERE name = 'WINDOWS'")" '--range step@ --steps 6'
	run -0 ct report r.db
	assert_line --partial 'Recorded only with --range step@ --steps 6: shares of time include the time between windows'
	run -0 ct report --json r.db
	jq -e '.collected.options == "--range step@ --steps 6"' <<<"$output"
	run -0 --separate-stderr ct record -f -o r.db --range none -- "$SIM" "$WORKLOADS/windows" range 1
	[[ $stderr == *"nothing was collected: no NVTX range 'none' was opened"* ]]
}
