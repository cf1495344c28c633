#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Windows of a process (--range, --profiler-api): which records belong to them, in any order of arrival.

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "windows (records in another order, lost beginnings, too many) keep what was launched in them" {
	cc -std=gnu11 -D_GNU_SOURCE -g -fsanitize=address,undefined -I"$TOP" -I"$B" -o unit "$TOP/tests/capture/unit_collection.c" \
		$(tool_sources collection held_bursts process_windows record_queue windows_seen interval_set array_grow record_times text)
	run -0 ./unit
	# 97 to 300 is one window of two threads, 400 to 500 the one whose beginning was lost, 600 to 800 never ended.
	assert_output - <<-'EOF'
		launch 2
		launch 4
		launch 3
		launch 6
		launch 7
		kernel 3
		kernel 9
		kernel 2
		windows 3, ns 505, open 1, placed 2
		late:
		launch 11
		launch 12
		launch 21
		launch 22
		launch 31
		launch 32
		launch 41
		launch 42
		kernel 11
		waited
		windows 4, ns 500, open 0
	EOF
}

@test "stat -p --profiler-api (a program that already runs) has whole windows" {
	requires root bpf sim
	PROGRAM_GATE=gate
	export PROGRAM_GATE
	mkfifo gate
	start windows "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/windows" profiler 200
	start stat "$CUDA_TRACE" stat -p "$windows_PID" --profiler-api --json -o out.json -v
	wait_for 20 grep -q watching stat.err
	: >gate
	finished "$stat_PID"
	finished "$windows_PID"
	# The first ones pass while the library becomes active. A window that it did not see begin is none.
	json out.json '.collected.windows > 50 and .collected.windows <= 200 and .lost.total == 0'
	json out.json '.collected.windows as $n | .totals | .launches == 2 * $n and .kernels == 5 * $n and .memcpys == $n'
}
